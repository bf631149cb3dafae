package serving

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"
)

// drainLimit is how long the end of the input waits for answers under way.
const drainLimit = time.Second

// drain holds back the end of the caller's input until what was asked before it
// is answered: the session would cancel those calls, and a caller that writes,
// closes and then reads would get nothing.
type drain struct {
	ctx  context.Context
	door Door
	in   *bufio.Reader
	src  io.Closer
	rest []byte
	out  io.WriteCloser

	mu      sync.Mutex
	asked   map[string]bool // IDs of requests without an answer, as they are written in JSON
	settled chan struct{}   // signalled when an answer left
}

func newDrain(ctx context.Context, in io.ReadCloser, out io.WriteCloser, door Door) *drain {
	return &drain{ctx: ctx, door: door, in: bufio.NewReader(in), src: in, out: out, asked: map[string]bool{}, settled: make(chan struct{}, 1)}
}

// frame is what a message says about itself.
type frame struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		RequestID json.RawMessage `json:"requestId"`
	} `json:"params"`
}

// Read hands on whole lines and notes the requests among them. A line that can be no
// message is passed over: the session would end at it, and take along what else its
// caller has asked.
func (d *drain) Read(p []byte) (int, error) {
	for len(d.rest) == 0 {
		line, err := d.in.ReadBytes('\n')
		if len(line) > 0 && !message(line) {
			continue
		}
		d.note(line)
		d.rest = d.door.line(line)
		if len(line) == 0 && errors.Is(err, io.EOF) {
			d.wait()
		}
		if len(line) == 0 && err != nil {
			return 0, err
		}
	}
	n := copy(p, d.rest)
	d.rest = d.rest[n:]
	return n, nil
}

// message says whether a line is JSON of a message's form: an object, or a list of
// some.
func message(line []byte) bool {
	line = bytes.TrimSpace(line)
	if !json.Valid(line) {
		return false
	}
	if line[0] == '[' {
		var batch []json.RawMessage
		return json.Unmarshal(line, &batch) == nil && len(batch) > 0
	}
	return line[0] == '{' && string(line) != "{}"
}

func (d *drain) note(line []byte) {
	var f frame
	if json.Unmarshal(line, &f) != nil {
		return // no message: the session says what it thinks of it
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case f.Method == "notifications/cancelled":
		delete(d.asked, string(f.Params.RequestID)) // it may stay without an answer
	case f.Method != "" && len(f.ID) > 0:
		d.asked[string(f.ID)] = true
	}
}

// Write hands on an answer at once and notes it.
func (d *drain) Write(p []byte) (int, error) {
	n, err := d.out.Write(p)
	for line := range bytes.Lines(p) {
		var f frame
		if json.Unmarshal(line, &f) == nil && f.Method == "" {
			d.mu.Lock()
			delete(d.asked, string(f.ID))
			d.mu.Unlock()
		}
	}
	select {
	case d.settled <- struct{}{}:
	default:
	}
	return n, err
}

func (d *drain) open() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.asked)
}

func (d *drain) wait() {
	limit := time.NewTimer(drainLimit)
	defer limit.Stop()
	for d.open() > 0 {
		select {
		case <-d.settled:
		case <-limit.C:
			return
		case <-d.ctx.Done():
			return
		}
	}
}

// drainIn and drainOut are the two ends that a transport takes.
type drainIn struct{ *drain }

func (d drainIn) Close() error { return d.src.Close() }

type drainOut struct{ *drain }

func (d drainOut) Close() error { return d.out.Close() }
