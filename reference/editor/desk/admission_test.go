package desk

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
)

func TestWhatMayBegin(t *testing.T) {
	for position, want := range map[Position]ports.Code{
		Idle: "", Preparing: ports.CodeBusy, Sent: ports.CodeBusy, Doubtful: ports.CodeUnresolved, Rechecking: ports.CodeUnresolved,
		Stale: "", StalePreparing: ports.CodeBusy, StaleSent: ports.CodeBusy,
	} {
		t.Run(string(position), func(t *testing.T) {
			for _, kind := range ports.Kinds() {
				g, s := NewWithT(t), newStage()
				for _, e := range ways[position] {
					g.Expect(s.befalls(e)).To(BeTrue())
				}
				second := bos("c-2")
				second.Kind = kind
				g.Expect(s.begins(second)).To(Equal(want))
				a := s.Refused("c-2", want)
				if want == ports.CodeUnresolved {
					g.Expect(a).To(And(HaveField("Outcome", ports.Refused), HaveField("CommandID", "c-2"), HaveField("Recheck", Equal(&ports.Pointer{Tool: ports.RecheckUpdate, Draft: "trip-1", Command: "c-1"}))))
				} else {
					g.Expect(a.Recheck).To(BeNil())
				}
			}
		})
	}
}

// Only the attached command is rechecked, by its own kind, draft and generation
// (RC-12, RC-20, RC-23).
func TestWhatMayBeRechecked(t *testing.T) {
	right := ports.Recheck{Kind: ports.Update, Draft: "trip-1", Command: "c-1"}
	for name, c := range map[string]struct {
		at   Position
		ask  ports.Recheck
		want ports.Code
	}{
		"the attached one":              {Doubtful, right, ""},
		"another command":               {Doubtful, ports.Recheck{Kind: ports.Update, Draft: "trip-1", Command: "c-0"}, ports.CodeNoSuchOutcome},
		"as a submission":               {Doubtful, ports.Recheck{Kind: ports.Submission, Draft: "trip-1", Command: "c-1"}, ports.CodeNoSuchOutcome},
		"of another draft":              {Doubtful, ports.Recheck{Kind: ports.Update, Draft: "trip-2", Command: "c-1"}, ports.CodeNoSuchOutcome},
		"nothing attached":              {Idle, right, ports.CodeNoSuchOutcome},
		"a mutation in flight":          {Sent, right, ports.CodeNoSuchOutcome},
		"while it is rechecked":         {Rechecking, right, ports.CodeBusy},
		"of an earlier editor":          {Stale, right, ports.CodeStaleGeneration},
		"of an earlier editor, busy":    {StaleSent, right, ports.CodeStaleGeneration},
		"another, of an earlier editor": {Stale, ports.Recheck{Kind: ports.Update, Draft: "trip-1", Command: "c-0"}, ports.CodeNoSuchOutcome},
	} {
		t.Run(name, func(t *testing.T) {
			g, s := NewWithT(t), newStage()
			for _, e := range ways[c.at] {
				g.Expect(s.befalls(e)).To(BeTrue())
			}
			g.Expect(s.rechecks(c.ask)).To(Equal(c.want))
		})
	}
}

// A new session makes an outcome as stale as a new editor does, and what was in
// flight is over.
func TestWhatANewGenerationEnds(t *testing.T) {
	for position, want := range map[Position]ports.Outcome{
		Idle: "", Preparing: ports.NotSent, Sent: ports.Unknown, Doubtful: "", Rechecking: ports.Unknown, Stale: "", StalePreparing: ports.NotSent, StaleSent: ports.Unknown,
	} {
		for _, next := range []ports.Generations{{Session: 1, Editor: 9}, {Session: 2, Editor: 1}} {
			t.Run(string(position), func(t *testing.T) {
				g, s := NewWithT(t), newStage()
				for _, e := range ways[position] {
					g.Expect(s.befalls(e)).To(BeTrue())
				}
				s.Type(ports.Purpose, "mine")
				inFlight := s.op
				op, a, was := s.Renew(next)
				g.Expect(was).To(Equal(want != ""))
				g.Expect(a.Outcome).To(Equal(want))
				g.Expect(a.Recheck).To(BeNil(), "it would be refused")
				if was {
					g.Expect(op).To(Equal(inFlight))
				}
				g.Expect(s.Loaded()).To(BeFalse(), "values are read anew")
				g.Expect(s.View().Fields).To(Equal(ports.Fields{}))
				g.Expect(s.Dispatch(inFlight)).To(BeFalse(), "its request must not leave any more")
				_, ended := s.Settle(inFlight, ports.Ending{Outcome: ports.Confirmed, Receipt: receiptOf(bos("c-1"))})
				g.Expect(ended).To(BeFalse())
			})
		}
	}
}

// After a reload nothing says Saved until a later mutation is confirmed (RC-23).
func TestAStaleOutcomeIsShownUntilAMutationIsConfirmed(t *testing.T) {
	g, s := NewWithT(t), newStage()
	for _, e := range ways[Stale] {
		g.Expect(s.befalls(e)).To(BeTrue())
	}
	s.Load(s.Read(), ports.Draft{ID: "trip-1", Revision: 3, Status: "draft", Fields: first.With(ports.Destination, "BOS")})
	g.Expect(s.View()).To(And(HaveField("State", ports.OutcomeUnknown), HaveField("Revision", 3), HaveField("Unresolved", Equal(&ports.Attached{CommandID: "c-1", Kind: ports.Update}))))
	later := bos("c-2")
	g.Expect(s.begins(later)).To(BeEmpty())
	g.Expect(s.befalls(Dispatched) && s.befalls(NotDone)).To(BeTrue())
	g.Expect(s.View().State).To(Equal(ports.OutcomeUnknown), "a refusal says nothing of it")
	g.Expect(s.begins(later)).To(BeEmpty())
	g.Expect(s.befalls(Dispatched)).To(BeTrue())
	r := receiptOf(later)
	r.FromRevision, r.ToRevision, r.Draft.Revision = 3, 4, 4
	g.Expect(s.ends(ports.Ending{Outcome: ports.Confirmed, Receipt: r})).To(BeTrue())
	g.Expect(s.View()).To(And(HaveField("State", ports.Saved), HaveField("Unresolved", BeNil())))
}

func TestAnUnknownAnswerSaysHowToRecheck(t *testing.T) {
	for kind, tool := range map[ports.Kind]string{ports.Update: ports.RecheckUpdate, ports.Submission: ports.RecheckSubmission} {
		g, s := NewWithT(t), newStage()
		c := bos("c-1")
		c.Kind = kind
		g.Expect(s.begins(c)).To(BeEmpty())
		g.Expect(s.befalls(Dispatched) && s.befalls(AnswerLost)).To(BeTrue())
		g.Expect(s.last.Recheck).To(Equal(&ports.Pointer{Tool: tool, Draft: "trip-1", Command: "c-1"}))
		g.Expect(s.last.Reason).To(ContainSubstring("call " + tool))
	}
}

func TestLabelsInTheirOrder(t *testing.T) {
	g := NewWithT(t)
	u := &ports.Unresolved{}
	op := &ports.Operation{}
	typed := ports.Fields{Purpose: "mine"}
	for want, s := range map[ports.State]ports.Standing{
		ports.Saving: {InFlight: op, Unresolved: u, Visible: typed}, ports.OutcomeUnknown: {Unresolved: u, Visible: typed},
		ports.UnsavedChanges: {Visible: typed}, ports.Saved: {},
	} {
		g.Expect(Showing{}.Show(s).State).To(Equal(want))
	}
	g.Expect(ports.States()).To(HaveLen(4))
}
