package desk

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
)

// What is visible after a confirmation, by who wrote what and when (RC-14, RC-16).
func TestWhatIsVisibleAfterAConfirmation(t *testing.T) {
	type typing struct {
		field ports.Field
		text  string
	}
	for name, c := range map[string]struct {
		before, after        []typing
		destination, purpose string
		state                ports.State
	}{
		"nothing typed":                              {nil, nil, "BOS", "Workshop (theirs)", ports.Saved},
		"another field, before":                      {[]typing{{ports.Purpose, "mine"}}, nil, "BOS", "mine", ports.UnsavedChanges},
		"another field, after":                       {nil, []typing{{ports.Purpose, "mine"}}, "BOS", "mine", ports.UnsavedChanges},
		"the changed field, before":                  {[]typing{{ports.Destination, "SFO"}}, nil, "BOS", "Workshop (theirs)", ports.Saved},
		"the changed field, after":                   {nil, []typing{{ports.Destination, "SFO"}}, "SFO", "Workshop (theirs)", ports.UnsavedChanges},
		"the changed field, before and after":        {[]typing{{ports.Destination, "SFO"}}, []typing{{ports.Destination, "LAX"}}, "LAX", "Workshop (theirs)", ports.UnsavedChanges},
		"after, the text that was there":             {nil, []typing{{ports.Destination, "JFK"}}, "JFK", "Workshop (theirs)", ports.UnsavedChanges},
		"after, the text that came":                  {nil, []typing{{ports.Destination, "BOS"}}, "BOS", "Workshop (theirs)", ports.Saved},
		"another field, before, back to what it was": {[]typing{{ports.Purpose, "mine"}, {ports.Purpose, "Workshop"}}, nil, "BOS", "Workshop (theirs)", ports.Saved},
	} {
		for _, late := range []bool{false, true} {
			way := " by the answer"
			if late {
				way = " by a recheck"
			}
			t.Run(name+way, func(t *testing.T) {
				g, s := NewWithT(t), newStage()
				for _, x := range c.before {
					g.Expect(s.Type(x.field, x.text)).To(BeEmpty())
				}
				g.Expect(s.befalls(MutationBegins) && s.befalls(Dispatched)).To(BeTrue())
				shown := s.View()
				if late {
					g.Expect(s.befalls(AnswerLost)).To(BeTrue())
				}
				g.Expect(s.View().Fields).To(Equal(shown.Fields), "a patch is not shown before it is confirmed")
				g.Expect(s.View()).To(And(HaveField("Revision", 2), HaveField("Saved.Destination", "JFK")))
				for _, x := range c.after {
					g.Expect(s.Type(x.field, x.text)).To(BeEmpty())
				}
				if late {
					g.Expect(s.befalls(RecheckBegins)).To(BeTrue())
				}
				r := receiptOf(bos("c-1"))
				r.Draft.Fields = r.Draft.With(ports.Purpose, "Workshop (theirs)") // saved by somebody else before
				g.Expect(s.ends(ports.Ending{Outcome: ports.Confirmed, Receipt: r})).To(BeTrue())
				v := s.View()
				g.Expect(v.Fields.Destination).To(Equal(c.destination))
				g.Expect(v.Fields.Purpose).To(Equal(c.purpose))
				g.Expect(v.Saved).To(Equal(r.Draft.Fields))
				g.Expect(v.Revision).To(Equal(3))
				g.Expect(v.State).To(Equal(c.state))
				g.Expect(v.HasUnsavedChanges).To(Equal(c.state == ports.UnsavedChanges))
				g.Expect(v.Unresolved).To(BeNil())
			})
		}
	}
}

func TestWhatIsNotConfirmedChangesNoValue(t *testing.T) {
	for _, how := range []ports.Ending{
		{Outcome: ports.Conflict, Code: ports.CodeRevisionConflict}, {Outcome: ports.Refused, Code: ports.CodeSignedOut},
		{Outcome: ports.NotSent, Code: ports.CodeCancelled}, {Outcome: ports.Unknown, Code: ports.CodeDeadline},
	} {
		t.Run(string(how.Outcome), func(t *testing.T) {
			g, s := NewWithT(t), newStage()
			s.Type(ports.Purpose, "mine")
			g.Expect(s.befalls(MutationBegins) && s.befalls(Dispatched)).To(BeTrue())
			g.Expect(s.ends(how)).To(BeTrue())
			g.Expect(s.View()).To(And(HaveField("Revision", 2), HaveField("Saved", first), HaveField("Fields", first.With(ports.Purpose, "mine"))))
		})
	}
}

// A command that is sent again after others gets its old receipt.
func TestAnOlderReceiptTakesNothingBack(t *testing.T) {
	g, s := NewWithT(t), newStage()
	s.Load(s.Read(), ports.Draft{ID: "trip-1", Revision: 5, Status: "draft", Fields: first.With(ports.Destination, "LAX")})
	g.Expect(s.befalls(MutationBegins) && s.befalls(Dispatched) && s.befalls(Confirmed)).To(BeTrue())
	g.Expect(s.last).To(And(HaveField("FromRevision", 2), HaveField("ToRevision", 3)))
	g.Expect(s.View()).To(And(HaveField("Revision", 5), HaveField("Fields.Destination", "LAX")))
}

// A read takes what the person did not type, and nothing while an outcome is open.
func TestAReadLeavesAloneWhatItMust(t *testing.T) {
	newer := ports.Draft{ID: "trip-1", Revision: 7, Status: "draft", Fields: first.With(ports.Destination, "LAX").With(ports.Purpose, "theirs")}
	for name, c := range map[string]struct {
		before   []Event // before the read began
		between  []Event // and its answer
		revision int
	}{
		"nothing else":             {nil, nil, 7},
		"while sent":               {[]Event{MutationBegins, Dispatched}, nil, 2},
		"while unknown":            {[]Event{MutationBegins, Dispatched, AnswerLost}, nil, 2},
		"a mutation began":         {nil, []Event{MutationBegins}, 2},
		"a mutation was refused":   {nil, []Event{MutationBegins, NotDone}, 2},
		"a mutation was confirmed": {nil, []Event{MutationBegins, Dispatched, Confirmed}, 3},
		"a reload":                 {nil, []Event{NewGeneration}, 0},
		"after a reload":           {[]Event{MutationBegins, Dispatched, AnswerLost, NewGeneration}, nil, 7},
	} {
		t.Run(name, func(t *testing.T) {
			g, s := NewWithT(t), newStage()
			for _, e := range c.before {
				g.Expect(s.befalls(e)).To(BeTrue())
			}
			read := s.Read()
			for _, e := range c.between {
				g.Expect(s.befalls(e)).To(BeTrue())
			}
			s.Load(read, newer)
			g.Expect(s.View().Revision).To(Equal(c.revision))
		})
	}
	g, s := NewWithT(t), newStage()
	s.Type(ports.Purpose, "mine")
	s.Load(s.Read(), newer)
	g.Expect(s.View()).To(And(HaveField("Fields.Destination", "LAX"), HaveField("Fields.Purpose", "mine"), HaveField("Saved.Purpose", "theirs"), HaveField("State", ports.UnsavedChanges)))
}

// Who types before the first values are there keeps the text.
func TestTypingBeforeTheFirstValues(t *testing.T) {
	g := NewWithT(t)
	d := New(at, begun, rules())
	g.Expect(d.Type(ports.Purpose, "mine")).To(BeEmpty())
	d.Load(d.Read(), ports.Draft{ID: "trip-1", Revision: 2, Fields: first})
	g.Expect(d.View()).To(And(HaveField("Fields", first.With(ports.Purpose, "mine")), HaveField("State", ports.UnsavedChanges)))
}

func TestTypingIsTakenAtEveryPosition(t *testing.T) {
	for position, way := range ways {
		t.Run(string(position), func(t *testing.T) {
			g, s := NewWithT(t), newStage()
			for _, e := range way {
				g.Expect(s.befalls(e)).To(BeTrue())
			}
			g.Expect(s.Type(ports.Purpose, "mine")).To(BeEmpty())
			g.Expect(s.View()).To(And(HaveField("Fields.Purpose", "mine"), HaveField("State", Or(Equal(LabelOf(position)), Equal(ports.UnsavedChanges)))))
			g.Expect(s.Type("colour", "red")).To(Equal(ports.CodeInvalid))
		})
	}
}
