package wire_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// A caller that would use its connection again is made to open one for each request.
func TestAFreshWireHasOneConnectionARequest(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "answer") }))
	defer server.Close()
	for _, fresh := range []bool{true, false} {
		g := NewWithT(t)
		w, err := wire.OpenHTTP(wire.Config{Name: "web", Callee: server.URL, Recorder: history.NewRecorder(nil), Fresh: fresh})
		g.Expect(err).NotTo(HaveOccurred())
		transport := &http.Transport{}
		reused := false
		for range 3 {
			trace := &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { reused = reused || c.Reused }}
			ask, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), http.MethodPost, w.URL()+"/", nil)
			g.Expect(err).NotTo(HaveOccurred())
			answer, err := transport.RoundTrip(ask)
			g.Expect(err).NotTo(HaveOccurred())
			body, err := io.ReadAll(answer.Body)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(answer.Body.Close()).To(Succeed())
			g.Expect(string(body)).To(Equal("answer"))
		}
		g.Expect(reused).To(Equal(!fresh))
		transport.CloseIdleConnections()
		g.Expect(w.Close()).To(Succeed())
	}
}
