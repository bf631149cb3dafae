package world

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// late is a server over HTTP whose answer is there before its end: that comes when let
// is closed.
type late struct {
	let   chan struct{}
	ended atomic.Bool
}

func (l *late) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(rw, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n")
	_ = http.NewResponseController(rw).Flush()
	select {
	case <-l.let:
	case <-r.Context().Done():
	}
	l.ended.Store(true)
}

// calling is a caller of that server that has heard its answer, and not its end.
func calling(t *testing.T, l *late, limits wait.Limits) (*Caller, *history.Recorder) {
	t.Helper()
	g := NewWithT(t)
	server := httptest.NewServer(l)
	t.Cleanup(server.Close)
	recorder := history.NewRecorder(nil)
	w, err := wire.OpenHTTP(wire.Config{Name: "helper", Callee: server.URL, Recorder: recorder, Limits: limits})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(w.Close()).To(Succeed()) })
	answer, err := http.Post(w.URL()+"/mcp", "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { answer.Body.Close() })
	_, err = io.ReadFull(answer.Body, make([]byte, len("data: ")))
	g.Expect(err).NotTo(HaveOccurred())
	return &Caller{w: &World{ctx: t.Context(), config: Config{Recorder: recorder, Limits: limits}}, name: "helper.1", wire: w, path: "/mcp"}, recorder
}

func leftOpen(t *testing.T, recorder *history.Recorder) []history.Mark {
	t.Helper()
	h, err := recorder.History()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return h.Marks(LeftOpenMark)
}

func TestTheEndOfAnEarlierAnswerIsNotCountedWithTheNextCall(t *testing.T) {
	l := &late{let: make(chan struct{})}
	c, recorder := calling(t, l, wait.Default())
	close(l.let)
	c.answersEnded()
	g := NewWithT(t)
	g.Expect(l.ended.Load()).To(BeTrue(), "the answer had not ended")
	g.Expect(leftOpen(t, recorder)).To(BeEmpty())
}

func TestAHelperThatLeavesItsAnswersOpenIsWaitedForOnce(t *testing.T) {
	g := NewWithT(t)
	l := &late{let: make(chan struct{})}
	limits := wait.Default()
	limits.Answer = 50 * time.Millisecond
	c, recorder := calling(t, l, limits)
	c.answersEnded()
	c.answersEnded()
	marks := leftOpen(t, recorder)
	g.Expect(marks).To(HaveLen(1))
	g.Expect(marks[0].Data).To(HaveKeyWithValue("error", ContainSubstring("the end of what was under way on wire")))
	close(l.let)
}
