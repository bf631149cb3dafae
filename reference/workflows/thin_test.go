package workflows

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/fixtures/chat"
	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

func post(text string) arguments { return arguments{"channel": "lobby", "content": text} }

func TestOneStepRunsAndIsDone(t *testing.T) {
	g, w := NewWithT(t), newWorld(t)
	s := w.launch()
	defer s.kill()
	o := s.start(step("publish", s.confirmed("publish", post("one"))))
	g.Expect(o.Operation).To(MatchRegexp(`^wf_[a-z2-7]{26}$`), o.raw)
	g.Expect(s.ends(o.Operation).State).To(Equal("completed"))
	g.Expect(w.effects()).To(Equal([]string{"one"}))
}

func TestAStepInDoubtIsReviewedAndNeverReplayed(t *testing.T) {
	g, w := NewWithT(t), newWorld(t)
	s := w.launch()
	write := s.confirmed("publish", post("one"))
	w.control(chat.HoldPath, chat.Hold{Point: chat.AfterApplied})
	o := s.start(step("publish", write), step("read_messages", arguments{"channel": "lobby"}))
	g.Expect(o.State).To(Equal("running"), "it answers before the step has an answer")
	w.untilHeld()
	s.kill()
	w.control(chat.ReleasePath, struct{}{})

	s = w.launch()
	defer s.kill()
	g.Expect(s.about("status", o.Operation).State).To(Equal("interrupted"), "nothing resumes by itself")
	for range 3 {
		a := s.about("resume", o.Operation)
		g.Expect(a.State).To(Equal("needs_review"), a.raw)
		g.Expect(a.Code).To(Equal(ports.CodeOutcomeUnknown))
		g.Expect(a.Steps).To(HaveKeyWithValue("unknown", 1))
	}
	g.Expect(s.about("cancel", o.Operation).State).To(Equal("needs_review"))
	g.Expect(w.effects()).To(Equal([]string{"one"}))
}
