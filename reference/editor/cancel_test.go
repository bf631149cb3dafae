package editor

import (
	"context"
	"net/http"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
)

// revisions are one of each way to cancel a call over HTTP: by a notification, and
// by closing the stream of its answer.
var revisions = []string{"2025-06-18", "2025-11-25", "2026-07-28"}

// each runs a test over stdio and over HTTP at every revision. begin begins a call
// and returns what cancels it.
func each(t *testing.T, test func(g *WithT, w *world, begin func(tool string, a args) (cancel func()))) {
	t.Run("stdio", func(t *testing.T) {
		w := start(t, "stdio")
		test(NewWithT(t), w, func(tool string, a args) func() {
			id, _ := w.calls(tool, a)
			return func() { w.cancel(id) }
		})
	})
	for _, revision := range revisions {
		t.Run("http "+revision, func(t *testing.T) {
			w := start(t, "http")
			session, leave := w.connected(revision)
			defer leave()
			test(NewWithT(t), w, func(tool string, a args) func() {
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					_, _ = session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: a}) // it is cancelled
				}()
				return func() { cancel(); <-ended }
			})
		})
	}
}

// connected is an MCP session at a revision, over HTTP.
func (w *world) connected(revision string) (session *mcp.ClientSession, leave func()) {
	w.t.Helper()
	web := &http.Client{Transport: &http.Transport{}}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(w.t.Context(), &mcp.StreamableClientTransport{Endpoint: w.mcp, HTTPClient: web}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		w.t.Fatal(err)
	}
	return session, func() {
		if err := session.Close(); err != nil {
			w.t.Error(err)
		}
		web.CloseIdleConnections()
	}
}

func (w *world) untilState(want ports.State) {
	w.t.Helper()
	w.until("the label "+string(want), func() bool { return w.sees("trip-1").State == want })
}

// Cancelled while its draft is still read: nothing was sent (RC-08, RC-21).
func TestACancelBeforeTheDispatch(t *testing.T) {
	each(t, func(g *WithT, w *world, begin func(string, args) func()) {
		held, let := w.trips.falls(http.MethodGet, "/trip-1", trouble{before: true})
		defer let()
		cancel := begin(ports.UpdateDraft, update("c-1", 2, args{"destination": "BOS"}))
		<-held
		g.Expect(w.sees("trip-1").State).To(Equal(ports.Saving))
		w.trips.lift()
		cancel()
		w.untilState(ports.Saved)
		g.Expect(w.sees("trip-1")).To(And(HaveField("Unresolved", BeNil()), HaveField("Revision", 2)))
		g.Expect(w.trips.count(http.MethodPatch, "/trip-1")).To(BeZero())
		g.Expect(w.trips.draft("trip-1").Revision).To(Equal(2))
	})
}

// Cancelled once it may have left: unknown, and recheckable (RC-21).
func TestACancelAfterTheDispatch(t *testing.T) {
	each(t, func(g *WithT, w *world, begin func(string, args) func()) {
		g.Expect(w.sees("trip-1").State).To(Equal(ports.Saved))
		held, let := w.trips.falls(http.MethodPatch, "/trip-1", trouble{after: true})
		defer let()
		cancel := begin(ports.UpdateDraft, update("c-1", 2, args{"destination": "BOS"}))
		<-held
		g.Expect(w.sees("trip-1").State).To(Equal(ports.Saving))
		cancel()
		w.untilState(ports.OutcomeUnknown)
		g.Expect(w.sees("trip-1")).To(And(HaveField("Unresolved", Equal(&ports.Attached{CommandID: "c-1", Kind: ports.Update})), HaveField("Revision", 2)))
		begin(ports.RecheckUpdate, about("c-1"))
		w.untilState(ports.Saved)
		g.Expect(w.sees("trip-1").Fields.Destination).To(Equal("BOS"))
		g.Expect(w.trips.count(http.MethodPatch, "/trip-1")).To(Equal(1))
	})
}

// A recheck that is cancelled leaves the outcome unknown, and releases it.
func TestACancelledRecheck(t *testing.T) {
	each(t, func(g *WithT, w *world, begin func(string, args) func()) {
		w.trips.falls(http.MethodPatch, "/trip-1", trouble{status: 502})
		begin(ports.UpdateDraft, update("c-1", 2, args{"destination": "BOS"}))
		w.untilState(ports.OutcomeUnknown)
		w.trips.lift()
		held, let := w.trips.falls(http.MethodGet, "/commands/c-1", trouble{before: true})
		defer let()
		cancel := begin(ports.RecheckUpdate, about("c-1"))
		<-held
		g.Expect(w.sees("trip-1").State).To(Equal(ports.Saving))
		cancel()
		w.untilState(ports.OutcomeUnknown)
		w.trips.lift()
		begin(ports.RecheckUpdate, args{"draftId": "trip-1", "commandId": "c-1", "giveUp": true})
		w.untilState(ports.Saved)
		g.Expect(w.trips.draft("trip-1").Revision).To(Equal(2))
	})
}

// What the editor itself answers to a call that was cancelled, for callers who
// still hear it.
func TestWhatACancelledMutationAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		method, end string
		outcome     ports.Outcome
		rechecks    bool
	}{
		"before the dispatch": {http.MethodGet, "/trip-1", ports.NotSent, false},
		"after the dispatch":  {http.MethodPatch, "/trip-1", ports.Unknown, true},
	} {
		t.Run(name, func(t *testing.T) {
			g, e := NewWithT(t), seated(t)
			held, let := e.trips.falls(c.method, c.end, trouble{before: true})
			defer let()
			ctx, cancel := context.WithCancel(t.Context())
			answer := make(chan ports.Answer, 1)
			go func() {
				answer <- e.Mutate(ctx, ports.Command{Draft: "trip-1", ID: "c-1", Kind: ports.Update, ExpectedRevision: 2, Patch: ports.Patch{ports.Destination: "BOS"}})
			}()
			<-held
			cancel()
			a := <-answer
			g.Expect(a).To(And(HaveField("Outcome", c.outcome), HaveField("Code", ports.CodeCancelled), HaveField("CommandID", "c-1")))
			g.Expect(a.Recheck != nil).To(Equal(c.rechecks))
		})
	}
}
