package editor

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
)

// An editor that is told to leave does not wait for what is in flight: the world
// that it was started in ends with this test, within the test's own time.
func TestLeavingWithSomethingInFlight(t *testing.T) {
	patiently := func(_ *Config, p *Ports) { p.Deadlines = Limits{time.Hour, time.Hour} }
	for _, c := range []struct{ method, end, tool string }{
		{http.MethodPatch, "/trip-1", ports.UpdateDraft}, {http.MethodGet, "/trip-1", ports.GetDraft}, {http.MethodGet, "/trip-1", ports.UpdateDraft},
	} {
		a := update("c-1", 2, args{"destination": "BOS"})
		if c.tool == ports.GetDraft {
			a = args{"draftId": "trip-1"}
		}
		t.Run("stdio "+c.method+" "+c.tool, func(t *testing.T) {
			w := start(t, "stdio", patiently)
			held, _ := w.trips.falls(c.method, c.end, trouble{before: true})
			w.calls(c.tool, a)
			<-held
		})
		t.Run("http "+c.method+" "+c.tool, func(t *testing.T) {
			ended := make(chan struct{})
			t.Cleanup(func() { <-ended }) // behind the editor's own leaving
			w := start(t, "http", patiently)
			held, _ := w.trips.falls(c.method, c.end, trouble{before: true})
			go func() {
				defer close(ended)
				w.posts(c.tool, a) // until the editor leaves
			}()
			<-held
		})
	}
}

// posts sends a call of the revision without sessions, and reads its answer.
func (w *world) posts(tool string, a args) {
	raw, err := json.Marshal(args{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": args{"name": tool, "arguments": a,
		"_meta": args{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": args{"name": "test", "version": "1"}, "io.modelcontextprotocol/clientCapabilities": args{}}}})
	if err != nil {
		w.t.Error(err)
		return
	}
	req, err := http.NewRequest(http.MethodPost, w.mcp, bytes.NewReader(raw))
	if err != nil {
		w.t.Error(err)
		return
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool} {
		req.Header.Set(name, value)
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return // it was cut
	}
	_, _ = io.Copy(io.Discard, resp.Body) // or answered
	_ = resp.Body.Close()
}
