package desk

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
)

var (
	first = ports.Fields{Destination: "JFK", Purpose: "Workshop", Starts: "2027-01-04", Ends: "2027-01-06"}
	at    = ports.Place{User: "ada", Draft: "trip-1"}
	begun = ports.Generations{Session: 1, Editor: 1}
)

func rules() Rules { return Rules{Admission{}, Merging{}, Showing{}, NewSlots()} }

// stage is a desk with the operation that is in flight there.
type stage struct {
	*Desk
	op   ports.Operation
	next int64
	last ports.Answer
}

func newStage() *stage {
	s := &stage{Desk: New(at, begun, rules())}
	s.Load(s.Read(), ports.Draft{ID: "trip-1", Revision: 2, Status: "draft", Fields: first})
	return s
}

// bos is the command that all tests send.
func bos(id string) ports.Command {
	return ports.Command{Draft: "trip-1", ID: id, Kind: ports.Update, ExpectedRevision: 2, Patch: ports.Patch{ports.Destination: "BOS"}}
}

func receiptOf(c ports.Command) *ports.Receipt {
	r := ports.Receipt{CommandID: c.ID, Kind: c.Kind, FromRevision: 2, ToRevision: 3, Draft: ports.Draft{ID: c.Draft, Revision: 3, Status: "draft", Fields: first.With(ports.Destination, "BOS")}}
	if c.Kind == ports.Submission {
		r.Draft.Fields, r.Draft.Status = first, "submitted"
	}
	return &r
}

// begins a mutation.
func (s *stage) begins(c ports.Command) ports.Code {
	s.next++
	op := ports.Operation{ID: s.next, Command: c}
	code := s.Begin(op)
	if code == "" {
		s.op = op
	}
	return code
}

func (s *stage) rechecks(ask ports.Recheck) ports.Code {
	s.next++
	op, code := s.Recheck(s.next, ask)
	if code == "" {
		s.op = op
	}
	return code
}

func (s *stage) ends(how ports.Ending) bool {
	a, ended := s.Settle(s.op, how)
	if ended {
		s.last = a
	}
	return ended
}

// befalls lets an event come; false where it cannot.
func (s *stage) befalls(e Event) bool {
	mutating, rechecking := s.op.ID != 0 && !s.op.Recheck, s.op.Recheck
	switch e {
	case MutationBegins:
		return s.begins(bos("c-1")) == ""
	case RecheckBegins:
		return s.rechecks(ports.Recheck{Kind: ports.Update, Draft: "trip-1", Command: "c-1"}) == ""
	case Dispatched:
		return mutating && !s.Dispatched() && s.Dispatch(s.op)
	case Confirmed:
		return (rechecking || s.Dispatched()) && s.ends(ports.Ending{Outcome: ports.Confirmed, Receipt: receiptOf(s.op.Command)})
	case NotDone:
		return mutating && s.ends(ports.Ending{Outcome: ports.Refused, Code: ports.CodeSignedOut})
	case NotSent:
		return mutating && s.ends(ports.Ending{Outcome: ports.NotSent, Code: ports.CodeUnreachable})
	case AnswerLost:
		return s.Dispatched() && s.ends(ports.Ending{Outcome: ports.Unknown, Code: ports.CodeAnswerLost})
	case StillUnknown:
		return rechecking && s.ends(ports.Ending{Outcome: ports.Unknown, Code: ports.CodeNoReceipt})
	case NotApplied:
		return rechecking && s.ends(ports.Ending{Outcome: ports.NotApplied})
	}
	s.Renew(ports.Generations{Session: 1, Editor: s.generations.Editor + 1})
	return true
}

// ways lead to each position.
var ways = map[Position][]Event{
	Idle:           {},
	Preparing:      {MutationBegins},
	Sent:           {MutationBegins, Dispatched},
	Doubtful:       {MutationBegins, Dispatched, AnswerLost},
	Rechecking:     {MutationBegins, Dispatched, AnswerLost, RecheckBegins},
	Stale:          {MutationBegins, Dispatched, AnswerLost, NewGeneration},
	StalePreparing: {MutationBegins, Dispatched, AnswerLost, NewGeneration, MutationBegins},
	StaleSent:      {MutationBegins, Dispatched, AnswerLost, NewGeneration, MutationBegins, Dispatched},
}

// The desk does what the table says at every position with every event, and
// nothing else: what is not in the table changes nothing.
func TestTheDeskKeepsTheTable(t *testing.T) {
	for _, from := range Positions() {
		for _, e := range Events() {
			t.Run(string(from)+"/"+string(e), func(t *testing.T) {
				g, s := NewWithT(t), newStage()
				for _, step := range ways[from] {
					g.Expect(s.befalls(step)).To(BeTrue())
				}
				g.Expect(s.Position()).To(Equal(from))
				g.Expect(s.View().State).To(Equal(LabelOf(from)))
				to, there := from, false
				for _, cell := range Steps() {
					if cell.From == from && cell.Event == e {
						to, there = cell.To, true
					}
				}
				g.Expect(s.befalls(e)).To(Equal(there), "an event that is in the table comes, another does not")
				g.Expect(s.Position()).To(Equal(to))
				g.Expect(s.View().State).To(Equal(LabelOf(to)))
			})
		}
	}
}

func TestEveryEventHasARule(t *testing.T) {
	g := NewWithT(t)
	var all []Event
	for _, r := range EventRules() {
		all = append(all, r.Event)
	}
	g.Expect(all).To(ConsistOf(Events()))
}

// An operation ends once, and ends nothing but itself (RC-29).
func TestAnEndingEndsItsOwnOperationOnly(t *testing.T) {
	endings := map[string]ports.Ending{
		"confirmed": {Outcome: ports.Confirmed, Receipt: receiptOf(bos("c-1"))}, "conflict": {Outcome: ports.Conflict, Code: ports.CodeRevisionConflict},
		"refused": {Outcome: ports.Refused, Code: ports.CodeSignedOut}, "not sent": {Outcome: ports.NotSent}, "unknown": {Outcome: ports.Unknown, Code: ports.CodeDeadline},
		"not applied": {Outcome: ports.NotApplied},
	}
	for name, late := range endings {
		t.Run(name, func(t *testing.T) {
			g, s := NewWithT(t), newStage()
			g.Expect(s.befalls(MutationBegins) && s.befalls(Dispatched) && s.befalls(AnswerLost) && s.befalls(RecheckBegins)).To(BeTrue())
			over := s.op
			g.Expect(s.ends(ports.Ending{Outcome: ports.Unknown, Code: ports.CodeDeadline})).To(BeTrue())
			before := s.Standing()
			_, ended := s.Settle(over, late)
			g.Expect(ended).To(BeFalse())
			g.Expect(s.Standing()).To(Equal(before), "an answer behind the deadline changes nothing")
			g.Expect(s.befalls(RecheckBegins)).To(BeTrue())
			before = s.Standing()
			_, ended = s.Settle(over, late)
			g.Expect(ended).To(BeFalse())
			g.Expect(s.Standing()).To(Equal(before), "and ends no operation of another")
		})
	}
}
