package editor

import (
	"net/http"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
)

// alone is an editor without its servers, on a trips server of its own.
type alone struct {
	*Editor
	trips *trips
}

func seated(t *testing.T) alone {
	t.Helper()
	f := newTrips(t)
	cfg, err := FromEnv(func(name string) string { return map[string]string{"TRIPS_URL": f.URL, "EDITOR_PORT": "0"}[name] })
	if err != nil {
		t.Fatal(err)
	}
	p, err := DefaultPorts(cfg)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Stderr = &logs{}
	e := New(p, cfg.logger())
	t.Cleanup(e.Close)
	if err := e.SignIn(t.Context(), "ada", "pw-ada"); err != nil {
		t.Fatal(err)
	}
	return alone{e, f}
}

// After a reload the values are new, the outcome can no longer be rechecked, and
// nothing says Saved before a later mutation is confirmed (RC-23).
func TestAReloadWithAnUnknownOutcome(t *testing.T) {
	g, w := NewWithT(t), lost(t)
	w.types("purpose", "mine")
	sees := w.reload()
	g.Expect(sees).To(And(HaveField("Revision", 3), HaveField("Fields.Destination", "BOS"), HaveField("Fields.Purpose", "Workshop"), HaveField("State", ports.OutcomeUnknown)))
	r := w.call(ports.RecheckUpdate, about("c-1"))
	g.Expect(r.Answer).To(And(HaveField("Outcome", ports.Refused), HaveField("Code", ports.CodeStaleGeneration)), r.raw)
	g.Expect(w.trips.count(http.MethodGet, "/commands/c-1")).To(BeZero())
	g.Expect(w.get("trip-1")).To(And(HaveField("State", ports.OutcomeUnknown), HaveField("Revision", 3)))
	g.Expect(w.call(ports.UpdateDraft, update("c-2", 9, args{"purpose": "x"})).Outcome).To(Equal(ports.Conflict))
	g.Expect(w.sees("trip-1").State).To(Equal(ports.OutcomeUnknown))
	g.Expect(w.call(ports.UpdateDraft, update("c-2", 3, args{"purpose": "x"})).Outcome).To(Equal(ports.Confirmed))
	g.Expect(w.sees("trip-1").State).To(Equal(ports.Saved))
}

// A reload while a mutation is in flight ends it in doubt, and one while a lookup
// is in flight ends that.
func TestAReloadWhileSomethingIsInFlight(t *testing.T) {
	g, w := NewWithT(t), start(t, "stdio")
	w.get("trip-1")
	held, let := w.trips.falls(http.MethodPatch, "/trip-1", trouble{after: true})
	_, answer := w.calls(ports.UpdateDraft, update("c-1", 2, args{"destination": "BOS"}))
	<-held
	g.Expect(w.reload().State).To(Equal(ports.OutcomeUnknown))
	r := <-answer
	g.Expect(r.Answer).To(And(HaveField("Outcome", ports.Unknown), HaveField("Code", ports.CodeStaleGeneration), HaveField("Recheck", BeNil())), r.raw)
	let()
	w.trips.lift()

	g.Expect(w.call(ports.UpdateDraft, update("c-2", 3, args{"destination": "LAX"})).Outcome).To(Equal(ports.Confirmed))
	w.trips.falls(http.MethodPatch, "/trip-1", trouble{lose: true})
	g.Expect(w.call(ports.UpdateDraft, update("c-3", 4, args{"destination": "SFO"})).Outcome).To(Equal(ports.Unknown))
	held, let = w.trips.falls(http.MethodGet, "/commands/c-3", trouble{after: true})
	defer let()
	_, answer = w.calls(ports.RecheckUpdate, about("c-3"))
	<-held
	g.Expect(w.reload()).To(And(HaveField("State", ports.OutcomeUnknown), HaveField("Fields.Destination", "SFO")))
	g.Expect((<-answer).Code).To(Equal(ports.CodeStaleGeneration))
}

// A sign-out, or another user, is a new session; the same user again is not.
func TestASessionChange(t *testing.T) {
	g, w := NewWithT(t), lost(t)
	g.Expect(w.asks(http.MethodDelete, "/session", nil)).To(And(HaveField("HTTP", http.StatusOK), HaveField("User", "")))
	g.Expect(w.sees("trip-1")).To(And(HaveField("User", ""), HaveField("State", ports.OutcomeUnknown), HaveField("Fields", ports.Fields{}), HaveField("Code", ports.CodeSignedOut)))
	g.Expect(w.call(ports.UpdateDraft, update("c-2", 2, args{"purpose": "x"})).Answer).To(And(HaveField("Outcome", ports.Refused), HaveField("Code", ports.CodeSignedOut)))
	g.Expect(w.signIn("ada").HTTP).To(Equal(http.StatusOK))
	g.Expect(w.call(ports.RecheckUpdate, about("c-1")).Code).To(Equal(ports.CodeStaleGeneration))
	g.Expect(w.sees("trip-1")).To(And(HaveField("User", "ada"), HaveField("State", ports.OutcomeUnknown), HaveField("Revision", 3)))

	g.Expect(w.signIn("bob").User).To(Equal("bob"))
	g.Expect(w.sees("trip-1").HTTP).To(Equal(http.StatusNotFound), "it is another user's")
	r := w.get("trip-1")
	g.Expect(r).To(And(HaveField("IsError", true), HaveField("Code", ports.CodeNotFound), HaveField("Unresolved", BeNil())), r.raw)
	g.Expect(w.call(ports.RecheckUpdate, about("c-1")).Code).To(Equal(ports.CodeNoSuchOutcome))
	g.Expect(w.sees("trip-b")).To(And(HaveField("User", "bob"), HaveField("State", ports.Saved)))
	g.Expect(w.signIn("ada").HTTP).To(Equal(http.StatusOK))
	g.Expect(w.call(ports.RecheckUpdate, about("c-1")).Code).To(Equal(ports.CodeStaleGeneration))
	g.Expect(w.asks(http.MethodPost, "/session", args{"user": "ada", "password": "wrong"})).To(And(HaveField("HTTP", http.StatusUnauthorized), HaveField("Code", ports.CodeSignInRefused)))
	g.Expect(w.sees("trip-1").User).To(Equal("ada"), "a refused sign-in changes nothing")
}

// A session change while a mutation is in flight releases it.
func TestASignOutWhileSomethingIsInFlight(t *testing.T) {
	for _, c := range []struct {
		method, end string
		outcome     ports.Outcome
	}{{http.MethodGet, "/trip-1", ports.NotSent}, {http.MethodPatch, "/trip-1", ports.Unknown}} {
		t.Run(string(c.outcome), func(t *testing.T) {
			g, w := NewWithT(t), start(t, "stdio")
			held, let := w.trips.falls(c.method, c.end, trouble{before: true})
			defer let()
			_, answer := w.calls(ports.UpdateDraft, update("c-1", 2, args{"destination": "BOS"}))
			<-held
			w.trips.lift()
			w.asks(http.MethodDelete, "/session", nil)
			r := <-answer
			g.Expect(r.Outcome).To(Equal(c.outcome), r.raw)
			w.signIn("ada")
			if c.outcome == ports.NotSent {
				g.Expect(w.sees("trip-1").State).To(Equal(ports.Saved))
			} else {
				g.Expect(w.sees("trip-1").State).To(Equal(ports.OutcomeUnknown))
			}
		})
	}
}

// Two calls at once on one draft: one is served, the other is told so.
func TestTwoMutationsAtOnce(t *testing.T) {
	g, w := NewWithT(t), start(t, "stdio")
	held, let := w.trips.falls(http.MethodPatch, "/trip-1", trouble{before: true})
	_, first := w.calls(ports.UpdateDraft, update("c-1", 2, args{"destination": "BOS"}))
	<-held
	for tool, a := range map[string]args{ports.UpdateDraft: update("c-2", 2, args{"purpose": "x"}), ports.SubmitTrip: submit("c-3", 2)} {
		r := w.call(tool, a)
		g.Expect(r.Answer).To(And(HaveField("Outcome", ports.Refused), HaveField("Code", ports.CodeBusy), HaveField("Recheck", BeNil())), r.raw)
	}
	g.Expect(w.get("trip-1")).To(And(HaveField("State", ports.Saving), HaveField("Revision", 2)))
	g.Expect(w.call(ports.UpdateDraft, args{"draftId": "trip-2", "expectedRevision": 2, "commandId": "c-4", "patch": args{"purpose": "x"}}).Code).To(BeEmpty())
	let()
	g.Expect((<-first).Outcome).To(Equal(ports.Confirmed))
	g.Expect(w.trips.count(http.MethodPatch, "/trip-1")).To(Equal(1))
}

// Two rechecks at once send one lookup each at most, and both are answered.
func TestTwoRechecksAtOnce(t *testing.T) {
	g, w := NewWithT(t), lost(t)
	held, let := w.trips.falls(http.MethodGet, "/commands/c-1", trouble{after: true})
	_, first := w.calls(ports.RecheckUpdate, about("c-1"))
	<-held
	g.Expect(w.call(ports.RecheckUpdate, about("c-1")).Code).To(Equal(ports.CodeBusy))
	g.Expect(w.call(ports.UpdateDraft, update("c-2", 2, args{"purpose": "x"})).Code).To(Equal(ports.CodeUnresolved))
	let()
	g.Expect((<-first).Outcome).To(Equal(ports.Confirmed))
	g.Expect(w.trips.count(http.MethodGet, "/commands/c-1")).To(Equal(1))
}

// Many calls at once leave one story: nothing saving, and as many PATCHes as were
// not refused for being second.
func TestManyMutationsAtOnce(t *testing.T) {
	g, w := NewWithT(t), start(t, "stdio")
	const n = 16
	var answers []<-chan reply
	for range n {
		_, a := w.calls(ports.UpdateDraft, update("c-1", 2, args{"destination": "BOS"}))
		answers = append(answers, a)
	}
	served := 0
	for _, a := range answers {
		r := <-a
		if r.Outcome == ports.Confirmed {
			g.Expect(r).To(And(HaveField("FromRevision", 2), HaveField("ToRevision", 3)))
			served++
			continue
		}
		g.Expect(r.Code).To(Equal(ports.CodeBusy), r.raw)
	}
	g.Expect(served).To(BeNumerically(">=", 1))
	g.Expect(w.trips.count(http.MethodPatch, "/trip-1")).To(Equal(served))
	g.Expect(w.sees("trip-1")).To(And(HaveField("State", ports.Saved), HaveField("Revision", 3)))
}

// A second editor of the draft knows nothing of the first one's outcome, and its
// stale write is a conflict (RC-27); the read that follows brings the new revision.
func TestASecondEditor(t *testing.T) {
	g, w := NewWithT(t), lost(t)
	other := start(t, "stdio", on(t, w.trips.URL))
	g.Expect(other.sees("trip-1")).To(And(HaveField("State", ports.Saved), HaveField("Unresolved", BeNil()), HaveField("Revision", 3)))
	g.Expect(other.call(ports.RecheckUpdate, about("c-1")).Code).To(Equal(ports.CodeNoSuchOutcome))
	w.trips.elsewhere("trip-1", ports.Purpose, "theirs")
	r := other.call(ports.UpdateDraft, update("c-9", 3, args{"destination": "LAX"}))
	g.Expect(r.Answer).To(And(HaveField("Outcome", ports.Conflict), HaveField("Reason", ContainSubstring("revision 4"))), r.raw)
	g.Expect(other.sees("trip-1").Revision).To(Equal(3))
	g.Expect(other.get("trip-1")).To(And(HaveField("Revision", 4), HaveField("Saved.Purpose", "theirs")))
	g.Expect(w.sees("trip-1").State).To(Equal(ports.OutcomeUnknown))
}
