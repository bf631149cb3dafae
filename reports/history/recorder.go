package history

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// Recorder stamps events and appends them to one history. It is safe for
// concurrent use: the order of its lock is the order of the history.
type Recorder struct {
	mu     sync.Mutex
	seq    int64
	now    func() time.Duration
	redact func([]byte) []byte
	out    io.Writer
	events []Event
	err    error
}

// Option changes a Recorder.
type Option func(*Recorder)

// WithClock replaces the monotonic clock (the self-test's saboteur, and tests).
func WithClock(now func() time.Duration) Option {
	return func(r *Recorder) { r.now = now }
}

// WithRedaction passes every line through redact before it is kept or written,
// so that a secret reaches no artefact. redact must keep the line valid JSON.
func WithRedaction(redact func([]byte) []byte) Option {
	return func(r *Recorder) { r.redact = redact }
}

// NewRecorder starts a history at time zero. out takes one JSON line an event
// and may be nil.
func NewRecorder(out io.Writer, options ...Option) *Recorder {
	start := time.Now()
	r := &Recorder{out: out, now: func() time.Duration { return time.Since(start) }}
	for _, o := range options {
		o(r)
	}
	return r
}

// Record stamps e with the next sequence number and the time, and keeps it. It
// returns the event as it was kept.
func (r *Recorder) Record(e Event) Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seq++
	e.Seq, e.At = r.seq, r.now()
	line, err := json.Marshal(e)
	if err != nil {
		r.failed(fmt.Errorf("writing event %d (%s) of the history: %w", e.Seq, e.Kind, err))
		return e
	}
	if r.redact != nil {
		line = r.redact(line)
	}
	// What is judged is what is written: the kept event is read back from its line.
	var kept Event
	if err := json.Unmarshal(line, &kept); err != nil {
		r.failed(fmt.Errorf("event %d (%s) of the history is no JSON after redaction: %w", e.Seq, e.Kind, err))
		return e
	}
	r.events = append(r.events, kept)
	if r.out != nil {
		if _, err := r.out.Write(append(line, '\n')); err != nil {
			r.failed(fmt.Errorf("writing event %d (%s) of the history: %w", e.Seq, e.Kind, err))
		}
	}
	return kept
}

// failed keeps the first error: the later ones follow from it.
func (r *Recorder) failed(err error) {
	if r.err == nil {
		r.err = err
	}
}

// Mark records the spec's own word.
func (r *Recorder) Mark(name string, data map[string]any) {
	r.Record(Event{Kind: KindMark, Mark: &Mark{Name: name, Data: data}})
}

// History returns what was recorded so far, and the first error of recording.
func (r *Recorder) History() (History, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return History{Events: append([]Event(nil), r.events...)}, r.err
}
