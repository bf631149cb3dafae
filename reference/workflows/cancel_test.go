package workflows

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/fixtures/chat"
	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// Cancel while a step is held, by what the step does and whether it can be aborted
// (WF-20, WF-21).
func TestCancelOfARunningStep(t *testing.T) {
	for name, c := range map[string]struct {
		first   map[string]any
		honours bool
		hold    chat.Point
		state   string
		code    ports.Code
		effects []string
	}{
		"a write that can be aborted, before its effect": {nudge("one"), true, chat.BeforeApplied, "needs_review", ports.CodeOutcomeUnknown, nil},
		"a write that can be aborted, after its effect":  {nudge("one"), true, chat.AfterApplied, "needs_review", ports.CodeOutcomeUnknown, []string{"one"}},
		"a write that cannot be aborted":                 {nudge("one"), false, chat.AfterApplied, "cancelled", "", []string{"one"}},
		"a read that can be aborted":                     {read(), true, chat.BeforeApplied, "cancelled", "", nil},
		"a read that cannot be aborted":                  {read(), false, chat.BeforeApplied, "cancelled", "", nil},
	} {
		for _, second := range []bool{false, true} {
			kind := " by its own server"
			if second {
				kind = " by another process"
			}
			t.Run(name+kind, func(t *testing.T) {
				g, w := NewWithT(t), newWorld(t)
				for _, tool := range []string{"nudge", "read_messages"} {
					w.tool(tool, func(p *ports.ToolPolicy) { p.HonoursCancel = c.honours })
				}
				w.control(chat.HoldPath, chat.Hold{Point: c.hold})
				s := w.launch()
				defer s.kill()
				canceller := s
				if second {
					canceller = w.launch()
					defer canceller.kill()
				}
				o := s.start(c.first, nudge("after"))
				w.untilHeld()
				a := canceller.about("cancel", o.Operation)
				g.Expect(a.State).To(BeElementOf("running", c.state), a.raw)
				if !c.honours {
					g.Expect(a.State).To(Equal("running"), "its tool goes on")
					w.control(chat.ReleasePath, struct{}{})
				}
				end := s.ends(o.Operation)
				g.Expect(end.State).To(Equal(c.state), end.raw)
				g.Expect(end.Code).To(Equal(c.code))
				g.Expect(end.Steps).To(HaveKeyWithValue("pending", 1), "nothing follows")
				g.Expect(s.about("resume", o.Operation).State).To(Equal(c.state))
				g.Expect(w.effects()).To(ConsistOf(c.effects))
			})
		}
	}
}

// Cancel of an operation that nobody runs: after a kill between two steps, and
// after one with a write in flight.
func TestCancelOfAnInterruptedOperation(t *testing.T) {
	for name, c := range map[string]struct {
		first map[string]any
		both  bool
		state string
	}{
		"with a write in doubt":                    {nudge("one"), false, "needs_review"},
		"with a write in doubt that declares both": {nudge("one"), true, "needs_review"},
		"with a read in doubt":                     {read(), false, "cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			g, w := NewWithT(t), newWorld(t)
			declare(w, c.both, c.both)
			w.control(chat.HoldPath, chat.Hold{Point: chat.BeforeApplied})
			s := w.launch()
			o := s.start(c.first, nudge("after"))
			w.untilHeld()
			s.kill()
			w.untilLeft()
			s = w.launch()
			defer s.kill()
			g.Expect(s.about("cancel", o.Operation).State).To(Equal(c.state))
			g.Expect(s.about("resume", o.Operation).State).To(Equal(c.state))
			g.Expect(w.effects()).To(BeEmpty())
		})
	}
}

// A wish to stop that its holder did not live to hear is heard by the next resume.
func TestACancelOutlivesItsHolder(t *testing.T) {
	g, w := NewWithT(t), newWorld(t)
	w.tool("read_messages", func(p *ports.ToolPolicy) { p.HonoursCancel = false })
	w.control(chat.HoldPath, chat.Hold{Point: chat.BeforeApplied})
	s := w.launch()
	o := s.start(read(), nudge("after"))
	w.untilHeld()
	g.Expect(s.about("cancel", o.Operation).State).To(Equal("running"))
	s.kill()
	w.untilLeft()
	s = w.launch()
	defer s.kill()
	g.Expect(s.about("resume", o.Operation).State).To(Equal("cancelled"))
	g.Expect(w.effects()).To(BeEmpty())
}

func TestOnlyOneRunsAnOperation(t *testing.T) {
	g, w := NewWithT(t), newWorld(t)
	w.control(chat.HoldPath, chat.Hold{Point: chat.BeforeApplied})
	s := w.launch()
	o := s.start(nudge("one"))
	w.untilHeld()
	other := w.launch()
	defer other.kill()
	for _, one := range []*server{s, other} {
		a := one.about("resume", o.Operation)
		g.Expect(a.isError).To(BeTrue())
		g.Expect(a.Code).To(Equal(ports.CodeOperationBusy))
		g.Expect(one.about("status", o.Operation).State).To(Equal("running"))
	}
	s.kill()
	g.Expect(other.about("status", o.Operation).State).To(Equal("interrupted"), "the lock went with its holder")
	g.Expect(other.about("resume", o.Operation).State).To(Equal("needs_review"))
}

// On stdio an operation stops with its server and can be resumed (WF-30).
func TestAnOperationStopsWithItsServer(t *testing.T) {
	for name, c := range map[string]struct {
		both bool
		end  string
	}{"in doubt": {false, "needs_review"}, "retryable": {true, "completed"}} {
		t.Run(name, func(t *testing.T) {
			g, w := NewWithT(t), newWorld(t)
			declare(w, c.both, c.both)
			w.control(chat.HoldPath, chat.Hold{Point: chat.AfterApplied})
			s := w.launch()
			o := s.start(nudge("one"), nudge("two"))
			w.untilHeld()
			s.leave()
			w.control(chat.ReleasePath, struct{}{})
			s = w.launch()
			defer s.kill()
			g.Expect(s.about("status", o.Operation).State).To(Equal("interrupted"))
			s.about("resume", o.Operation)
			g.Expect(s.ends(o.Operation).State).To(Equal(c.end))
		})
	}
}
