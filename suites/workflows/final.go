package workflows

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
)

// settled is the moment at which an operation has come to its end.
const settled = "settled"

var final = []suites.Test{
	endOf("WF-27/completed", "completed", "", (*scene).completed),
	endOf("WF-27/failed", "failed", "outside-refused", (*scene).failed),
	endOf("WF-27/cancelled", "cancelled", "outside-held", (*scene).cancelled, "unabortable"),
	endOf("WF-27/needs-review", "needs_review", "outside-receipt", (*scene).reviewable, "deliver"),
}

// endOf is a spec of one end of an operation, of how it comes there, and of what
// that needs.
func endOf(id, state, fault string, come func(*scene) (string, []step), kinds ...string) suites.Test {
	t := suites.Test{
		ID: id, Clauses: []string{"WF-27"}, Missing: noKind(kinds...),
		Title: "an operation that is " + state + " stays so, whoever resumes and cancels it, and runs no further",
		Drive: on(func(s *scene) {
			s.begin()
			s.showsEffects()
			id, steps := come(s)
			s.lookAt(settled, id, steps...)
			for range 2 {
				s.ask("resume", id, settled)
				s.ask("cancel", id, settled)
				s.server = s.server.Restarted()
			}
			s.ask("status", id, converged)
			s.settle(id)
			s.Quiet()
			s.lookAt(converged, id, steps...)
		}),
		Judge: judge.WhereEffectsShow(judge.FinalIsFinal(state)),
	}
	if fault != "" {
		t.Faults, t.Judge = []string{fault}, judge.All(judge.Placed(fault, 1), t.Judge)
	}
	return t
}

func (s *scene) completed() (string, []step) {
	steps := []step{s.step("write"), s.step("write")}
	id := s.start(steps...)
	s.settle(id)
	return id, steps
}

// failed, cancelled and reviewable are operations of three steps: the first is
// done, the second is what they end with, the third never begins.
func (s *scene) failed() (string, []step) {
	steps := []step{s.step("write"), s.step("write"), s.step("write")}
	refusal := s.RefuseOutside(steps[1].text, 403)
	id := s.start(steps...)
	s.settle(id)
	refusal.Given()
	return id, steps
}

func (s *scene) cancelled() (string, []step) {
	steps := []step{s.step("write"), s.step("unabortable"), s.step("write")}
	hold := s.HoldOutside(steps[1].text)
	id := s.start(steps...)
	hold.Await()
	s.ask("cancel", id, held)
	hold.Release()
	s.settle(id)
	return id, steps
}

func (s *scene) reviewable() (string, []step) {
	steps := []step{s.step("write"), s.step("deliver"), s.step("write")}
	said := s.DeliverOutside(steps[1].text, "partial")
	id := s.start(steps...)
	s.settle(id)
	said.Given()
	return id, steps
}
