package editor

import (
	"net/http"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
)

// lost makes an editor whose update c-1 was applied and not answered.
func lost(t *testing.T, change ...func(*Config, *Ports)) *world {
	t.Helper()
	w := start(t, "stdio", change...)
	w.get("trip-1")
	w.trips.falls(http.MethodPatch, "/trip-1", trouble{lose: true})
	r := w.call(ports.UpdateDraft, update("c-1", 2, args{"destination": "BOS"}))
	if r.Outcome != ports.Unknown {
		t.Fatalf("the answer was not lost: %s", r.raw)
	}
	w.trips.lift()
	return w
}

// How a mutation ends, by what came of its request, and that it leaves nothing
// saving (RC-06, RC-07, RC-08, RC-19, RC-29).
func TestHowAMutationEnds(t *testing.T) {
	for name, c := range map[string]struct {
		x        trouble
		revision int
		outcome  ports.Outcome
		code     ports.Code
		state    ports.State
	}{
		"a stale revision":          {trouble{}, 1, ports.Conflict, ports.CodeRevisionConflict, ports.Saved},
		"409 of something else":     {trouble{status: 409, code: "fenced"}, 2, ports.Refused, ports.CodeFenced, ports.Saved},
		"409 of nobody knows what":  {trouble{status: 409}, 2, ports.Refused, ports.CodeRefused, ports.Saved},
		"400":                       {trouble{status: 400, code: "invalid"}, 2, ports.Refused, ports.CodeInvalid, ports.Saved},
		"401":                       {trouble{status: 401, code: "signed_out"}, 2, ports.Refused, ports.CodeSignedOut, ports.Saved},
		"403":                       {trouble{status: 403}, 2, ports.Refused, ports.CodeForbidden, ports.Saved},
		"404":                       {trouble{status: 404}, 2, ports.Refused, ports.CodeNotFound, ports.Saved},
		"422":                       {trouble{status: 422, code: "command_reused"}, 2, ports.Refused, ports.CodeCommandReused, ports.Saved},
		"429":                       {trouble{status: 429}, 2, ports.Refused, ports.CodeRefused, ports.Saved},
		"500":                       {trouble{status: 500}, 2, ports.Unknown, ports.CodeUnavailable, ports.OutcomeUnknown},
		"504":                       {trouble{status: 504}, 2, ports.Unknown, ports.CodeUnavailable, ports.OutcomeUnknown},
		"302":                       {trouble{status: 302}, 2, ports.Unknown, ports.CodeUnavailable, ports.OutcomeUnknown},
		"a receipt of another":      {trouble{raw: `{"commandId":"c-0","kind":"update","fromRevision":2,"toRevision":3,"draft":{"draft":"trip-1","revision":3}}`}, 2, ports.Unknown, ports.CodeUnavailable, ports.OutcomeUnknown},
		"something that is no JSON": {trouble{raw: `<html>`}, 2, ports.Unknown, ports.CodeUnavailable, ports.OutcomeUnknown},
		"a cut":                     {trouble{lose: true}, 2, ports.Unknown, ports.CodeAnswerLost, ports.OutcomeUnknown},
		"no answer in time":         {trouble{after: true}, 2, ports.Unknown, ports.CodeDeadline, ports.OutcomeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			g, limits := NewWithT(t), &clock{}
			w := start(t, "stdio", limits.rules)
			w.get("trip-1")
			held, _ := w.trips.falls(http.MethodPatch, "/trip-1", c.x)
			r := w.callUntil(limits, c.x, held, ports.UpdateDraft, update("c-1", c.revision, args{"destination": "BOS"}))
			g.Expect(r.Outcome).To(Equal(c.outcome), r.raw)
			g.Expect(r.Code).To(Equal(c.code), r.raw)
			g.Expect(r.IsError).To(BeTrue())
			g.Expect(r.Recheck != nil).To(Equal(c.outcome == ports.Unknown))
			g.Expect(r.Reason).To(ContainSubstring(ports.MeaningOf(c.code)))
			g.Expect(w.sees("trip-1")).To(And(HaveField("State", c.state), HaveField("Revision", 2), HaveField("Fields.Destination", "JFK")))
			g.Expect(w.trips.count(http.MethodPatch, "/trip-1")).To(Equal(1))
		})
	}
}

// How a recheck ends that is not answered with the receipt: still unknown, and
// released, so that the next one works (RC-10, RC-17, RC-18, RC-24, RC-29).
func TestHowARecheckEnds(t *testing.T) {
	for name, c := range map[string]struct {
		x    trouble
		code ports.Code
	}{
		"404":                  {trouble{hide: true}, ports.CodeNoReceipt},
		"401":                  {trouble{status: 401, code: "signed_out"}, ports.CodeSignedOut},
		"403":                  {trouble{status: 403}, ports.CodeForbidden},
		"500":                  {trouble{status: 500}, ports.CodeUnavailable},
		"429":                  {trouble{status: 429}, ports.CodeUnavailable},
		"a cut":                {trouble{lose: true}, ports.CodeUnavailable},
		"no answer in time":    {trouble{after: true}, ports.CodeDeadline},
		"a receipt of another": {trouble{raw: `{"commandId":"c-0","kind":"update","fromRevision":2,"toRevision":3,"draft":{"draft":"trip-1","revision":3}}`}, ports.CodeUnavailable},
		"no JSON":              {trouble{raw: `<html>`}, ports.CodeUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			g, limits := NewWithT(t), &clock{}
			w := lost(t, limits.rules)
			w.types("purpose", "mine")
			held, _ := w.trips.falls(http.MethodGet, "/commands/c-1", c.x)
			r := w.callUntil(limits, c.x, held, ports.RecheckUpdate, about("c-1"))
			g.Expect(r.Answer).To(And(HaveField("Outcome", ports.Unknown), HaveField("Code", c.code), HaveField("CommandID", "c-1"), HaveField("Recheck.Tool", ports.RecheckUpdate)), r.raw)
			g.Expect(w.sees("trip-1")).To(And(HaveField("State", ports.OutcomeUnknown), HaveField("Revision", 2), HaveField("Fields.Destination", "JFK"), HaveField("Fields.Purpose", "mine")))
			w.trips.lift()
			g.Expect(w.call(ports.RecheckUpdate, about("c-1")).Outcome).To(Equal(ports.Confirmed))
			g.Expect(w.sees("trip-1")).To(And(HaveField("State", ports.UnsavedChanges), HaveField("Fields.Destination", "BOS"), HaveField("Fields.Purpose", "mine")))
			g.Expect(w.trips.count(http.MethodPatch, "/trip-1")).To(Equal(1), "recovery sends no mutation")
		})
	}
}

// A session that ended meanwhile is begun again by the same user, and the editor
// goes on (RC-18).
func TestASessionThatEndedDuringTheRecheck(t *testing.T) {
	g, w := NewWithT(t), lost(t)
	w.types("purpose", "mine")
	w.trips.signOutAll()
	r := w.call(ports.RecheckUpdate, about("c-1"))
	g.Expect(r.Answer).To(And(HaveField("Outcome", ports.Unknown), HaveField("Code", ports.CodeSignedOut)), r.raw)
	g.Expect(w.sees("trip-1").State).To(Equal(ports.OutcomeUnknown))
	g.Expect(w.signIn("ada").HTTP).To(Equal(http.StatusOK))
	g.Expect(w.call(ports.RecheckUpdate, about("c-1")).Outcome).To(Equal(ports.Confirmed))
	g.Expect(w.sees("trip-1")).To(And(HaveField("Fields.Purpose", "mine"), HaveField("State", ports.UnsavedChanges)))
}

// An answer that comes behind the deadline of its lookup changes nothing, also
// where the request cannot be cut (RC-29).
func TestALateReceiptChangesNothing(t *testing.T) {
	late, limits := make(chan ports.Ending, 1), &clock{}
	g, w := NewWithT(t), lost(t, limits.rules, func(_ *Config, p *Ports) {
		p.Trips, p.Operations = patient{p.Trips}, witness{p.Operations, late}
	})
	held, let := w.trips.falls(http.MethodGet, "/commands/c-1", trouble{after: true})
	_, answer := w.calls(ports.RecheckUpdate, about("c-1"))
	<-held
	limits.pass()
	g.Expect((<-answer).Code).To(Equal(ports.CodeDeadline))
	w.trips.lift()
	before := w.sees("trip-1")
	g.Expect(before.State).To(Equal(ports.OutcomeUnknown))
	let()
	g.Expect((<-late).Outcome).To(Equal(ports.Confirmed), "the receipt came")
	g.Expect(w.sees("trip-1")).To(Equal(before))
	g.Expect(w.call(ports.RecheckUpdate, about("c-1")).Outcome).To(Equal(ports.Confirmed))
	g.Expect(w.trips.count(http.MethodGet, "/commands/c-1")).To(Equal(2))
}

// While an outcome is unknown no other mutation leaves, the person types on, and
// nothing but the attached command is looked up (RC-12, RC-20, RC-22).
func TestWhileAnOutcomeIsUnknown(t *testing.T) {
	g, w := NewWithT(t), lost(t)
	for tool, a := range map[string]args{ports.UpdateDraft: update("c-2", 2, args{"purpose": "x"}), ports.SubmitTrip: submit("c-3", 3)} {
		r := w.call(tool, a)
		g.Expect(r.Answer).To(And(HaveField("Outcome", ports.Refused), HaveField("Code", ports.CodeUnresolved), HaveField("Recheck", Equal(&ports.Pointer{Tool: ports.RecheckUpdate, Draft: "trip-1", Command: "c-1"}))), r.raw)
	}
	for name, ask := range map[string]struct {
		tool string
		a    args
	}{
		"another command": {ports.RecheckUpdate, about("c-0")}, "as a submission": {ports.RecheckSubmission, about("c-1")},
		"of another draft": {ports.RecheckUpdate, args{"draftId": "trip-2", "commandId": "c-1"}},
	} {
		r := w.call(ask.tool, ask.a)
		g.Expect(r.Answer).To(And(HaveField("Outcome", ports.Refused), HaveField("Code", ports.CodeNoSuchOutcome)), name)
	}
	g.Expect(w.trips.count(http.MethodGet, "/commands/c-0")+w.trips.count(http.MethodGet, "/commands/c-1")).To(BeZero(), "no lookup was sent")
	g.Expect(w.trips.count(http.MethodPatch, "")).To(Equal(1))
	g.Expect(w.trips.count(http.MethodPost, "/submit")).To(BeZero())
	g.Expect(w.types("destination", "SFO").Fields.Destination).To(Equal("SFO"))
	r := w.get("trip-1")
	g.Expect(r).To(And(HaveField("Revision", 2), HaveField("Saved.Destination", "JFK"), HaveField("State", ports.OutcomeUnknown), HaveField("Unresolved", Equal(&ports.Attached{CommandID: "c-1", Kind: ports.Update}))), r.raw)
	g.Expect(w.get("trip-2")).To(And(HaveField("State", ports.Saved), HaveField("Unresolved", BeNil())), "another draft knows nothing of it")
	g.Expect(w.call(ports.UpdateDraft, args{"draftId": "trip-2", "expectedRevision": 2, "commandId": "c-4", "patch": args{"purpose": "x"}}).Outcome).To(Equal(ports.Confirmed))
}

func TestAnUnknownSubmissionIsRecheckedOnce(t *testing.T) {
	g, w := NewWithT(t), start(t, "stdio")
	w.trips.falls(http.MethodPost, "/submit", trouble{lose: true})
	r := w.call(ports.SubmitTrip, submit("s-1", 2))
	g.Expect(r.Answer).To(And(HaveField("Outcome", ports.Unknown), HaveField("Recheck.Tool", ports.RecheckSubmission)), r.raw)
	g.Expect(w.sees("trip-1")).To(And(HaveField("Status", "draft"), HaveField("Unresolved", Equal(&ports.Attached{CommandID: "s-1", Kind: ports.Submission}))))
	g.Expect(w.call(ports.RecheckUpdate, about("s-1")).Code).To(Equal(ports.CodeNoSuchOutcome))
	r = w.call(ports.RecheckSubmission, about("s-1"))
	g.Expect(r.Answer).To(And(HaveField("Outcome", ports.Confirmed), HaveField("ToRevision", 3)), r.raw)
	g.Expect(w.sees("trip-1")).To(And(HaveField("Status", "submitted"), HaveField("State", ports.Saved)))
	g.Expect(w.trips.count(http.MethodPost, "/submit")).To(Equal(1))
}

// Who gives up has the command fenced, if there is no receipt (RC-28).
func TestGivingUp(t *testing.T) {
	give := args{"draftId": "trip-1", "commandId": "c-1", "giveUp": true}
	t.Run("not applied", func(t *testing.T) {
		g, limits := NewWithT(t), &clock{}
		w := start(t, "stdio", limits.rules)
		x := trouble{before: true}
		held, let := w.trips.falls(http.MethodPatch, "/trip-1", x)
		defer let()
		g.Expect(w.callUntil(limits, x, held, ports.UpdateDraft, update("c-1", 2, args{"destination": "BOS"})).Outcome).To(Equal(ports.Unknown))
		w.trips.lift()
		g.Expect(w.call(ports.RecheckUpdate, about("c-1")).Code).To(Equal(ports.CodeNoReceipt))
		w.trips.falls(http.MethodPost, "/fence", trouble{status: 503})
		g.Expect(w.call(ports.RecheckUpdate, give).Answer).To(And(HaveField("Outcome", ports.Unknown), HaveField("Code", ports.CodeUnavailable)))
		w.trips.lift()
		r := w.call(ports.RecheckUpdate, give)
		g.Expect(r.Answer).To(Equal(ports.Answer{Outcome: ports.NotApplied, CommandID: "c-1", DraftID: "trip-1"}), r.raw)
		g.Expect(r.IsError).To(BeFalse())
		g.Expect(w.sees("trip-1")).To(And(HaveField("State", ports.Saved), HaveField("Revision", 2)))
		g.Expect(w.call(ports.UpdateDraft, update("c-1", 2, args{"destination": "BOS"})).Code).To(Equal(ports.CodeFenced), "it cannot come late")
		g.Expect(w.call(ports.UpdateDraft, update("c-2", 2, args{"destination": "BOS"})).Outcome).To(Equal(ports.Confirmed))
	})
	t.Run("applied, and its receipt hidden", func(t *testing.T) {
		g, w := NewWithT(t), lost(t)
		w.trips.falls(http.MethodGet, "/commands/c-1", trouble{hide: true})
		g.Expect(w.call(ports.RecheckUpdate, give).Answer).To(And(HaveField("Outcome", ports.Confirmed), HaveField("ToRevision", 3)))
		g.Expect(w.sees("trip-1").Fields.Destination).To(Equal("BOS"))
	})
	t.Run("not for anything but a missing receipt", func(t *testing.T) {
		g, w := NewWithT(t), lost(t)
		w.trips.falls(http.MethodGet, "/commands/c-1", trouble{status: 503})
		g.Expect(w.call(ports.RecheckUpdate, give).Code).To(Equal(ports.CodeUnavailable))
		g.Expect(w.trips.count(http.MethodPost, "/fence")).To(BeZero())
	})
}

// The reference's own deadlines pass by themselves (RC-17).
func TestALookupThatHangsEndsAtItsDeadline(t *testing.T) {
	g, w := NewWithT(t), lost(t, func(_ *Config, p *Ports) { p.Deadlines = Limits{time.Minute, 200 * time.Millisecond} })
	_, let := w.trips.falls(http.MethodGet, "/commands/c-1", trouble{before: true})
	defer let()
	g.Expect(w.call(ports.RecheckUpdate, about("c-1")).Code).To(Equal(ports.CodeDeadline))
	g.Expect(w.sees("trip-1").State).To(Equal(ports.OutcomeUnknown))
}
