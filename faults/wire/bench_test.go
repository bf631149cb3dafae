package wire_test

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-mcp/holdfast/faults/wire"
)

// median of what each call took.
func median(took []time.Duration) time.Duration {
	slices.Sort(took)
	return took[len(took)/2]
}

// BenchmarkWireCall measures a call through a wire against the same call made
// directly, in turns, and reports the ratio of the medians. "bare" callees do
// nothing; "durable" ones append to a file and sync it before they answer, as
// every callee does whose writes must survive.
func BenchmarkWireCall(b *testing.B) {
	for _, kind := range []string{"bare", "durable"} {
		var work func()
		if kind == "durable" {
			work = syncedAppend(b)
		} else {
			work = func() {}
		}
		b.Run("http/"+kind, func(b *testing.B) { benchHTTP(b, work) })
		b.Run("stdio/"+kind, func(b *testing.B) { benchStdio(b, work) })
	}
}

func syncedAppend(b *testing.B) func() {
	f, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	return func() {
		if _, err := f.Write(make([]byte, 256)); err != nil {
			b.Error(err)
		}
		if err := f.Sync(); err != nil {
			b.Error(err)
		}
	}
}

func benchHTTP(b *testing.B, work func()) {
	callee := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		work()
		rw.Write(resultOf([]byte("1"), "a"))
	}))
	defer callee.Close()
	w := newHTTPWire(b, callee.URL)
	call := func(base string) {
		r, err := w.client.Post(base+"/mcp", "application/json", bytes.NewReader(callOf(1, "write", "a")))
		if err != nil {
			b.Fatal(err)
		}
		io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
	compare(b, func() { call(callee.URL) }, func() { call(w.URL()) })
	w.client.CloseIdleConnections()
}

// benchStdio's callees write one answer for each line.
func benchStdio(b *testing.B, work func()) {
	serve := func(in io.Reader, out io.WriteCloser) {
		defer out.Close()
		lines := bufio.NewScanner(in)
		for lines.Scan() {
			work()
			if _, err := out.Write(append(resultOf([]byte("1"), "a"), '\n')); err != nil {
				return
			}
		}
	}
	pipes := func() (stdin *os.File, in *os.File, out *os.File, stdout *os.File) {
		stdin, in, err := os.Pipe()
		if err != nil {
			b.Fatal(err)
		}
		out, stdout, err = os.Pipe()
		if err != nil {
			b.Fatal(err)
		}
		go func() { defer stdin.Close(); serve(stdin, stdout) }()
		return stdin, in, out, stdout
	}
	_, directIn, directOut, _ := pipes()
	defer directOut.Close()
	defer directIn.Close()
	directLines := bufio.NewReader(directOut)
	_, in, out, _ := pipes()
	w := newStdioWire(b, in, out)
	line := append(callOf(1, "write", "a"), '\n')
	call := func(to io.Writer, from *bufio.Reader) {
		if _, err := to.Write(line); err != nil {
			b.Fatal(err)
		}
		if _, err := from.ReadString('\n'); err != nil {
			b.Fatal(err)
		}
	}
	compare(b, func() { call(directIn, directLines) }, func() { call(w.conn, w.lines) })
}

func compare(b *testing.B, direct, wired func()) {
	direct()
	wired()
	var plain, through []time.Duration
	for b.Loop() {
		began := time.Now()
		direct()
		between := time.Now()
		wired()
		through = append(through, time.Since(between))
		plain = append(plain, between.Sub(began))
	}
	d, t := median(plain), median(through)
	b.ReportMetric(float64(d.Nanoseconds()), "direct-p50-ns")
	b.ReportMetric(float64(t.Nanoseconds()), "wire-p50-ns")
	b.ReportMetric(float64(t)/float64(d), "wire/direct")
	b.ReportMetric(0, "ns/op")
}

var _ wire.Line = (*wire.Wire)(nil)
