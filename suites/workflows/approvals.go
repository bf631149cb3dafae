package workflows

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// What is wrong with a step's confirmation, for the judges.
const (
	missingOne = "the confirmation is missing"
	anothers   = "the confirmation is that of another write"
	partly     = "one part of the confirmation is that of another write"
	altered    = "one character of the confirmation is another"
	usedUp     = "the confirmation was used up by an earlier step"
	expired    = "the confirmation expired between start and step"
)

var approvals = []suites.Test{
	{
		ID: "WF-05/a-start-approves-no-write", Clauses: []string{"WF-05"},
		Title:   "a write without a confirmation of its own fails, although its operation was started and another step of it was confirmed",
		Missing: noConfirmation,
		Drive: on(func(s *scene) {
			s.begin()
			s.denied(missingOne, 0, s.unconfirmed())
			s.denied(missingOne, 1, s.step("write"), s.unconfirmed(), s.step("write"))
			s.rest(s.start(s.step("write"), s.step("write")))
			s.look(converged, s.operations...)
		}),
		Judge: judge.StepDenied("WF-05", "approval_invalid", missingOne),
	},
	{
		ID: "WF-06/a-wrong-or-used-confirmation", Clauses: []string{"WF-06"},
		Title:   "a write whose confirmation is another write's, altered, or used up is not executed and fails with approval_invalid; nothing waits",
		Missing: noConfirmation,
		Drive: on(func(s *scene) {
			s.begin()
			other := s.server.Confirmation("write", s.bound(own, "text", s.Word("previewed and never written")))
			s.denied(anothers, 0, s.confirmedBy(func(map[string]string) map[string]string { return other }))
			for _, name := range slices.Sorted(maps.Keys(other)) {
				s.denied(partly, 0, s.confirmedBy(replaced(name, func(string) string { return other[name] })))
				s.denied(altered, 0, s.confirmedBy(replaced(name, lastAltered)))
			}
			once := s.step("write")
			s.denied(usedUp, 1, once, once)
			s.denied(usedUp, 0, once)
			s.rest(s.start(s.step("write"), s.step("write")))
			s.look(converged, s.operations...)
		}),
		Judge: judge.StepDenied("WF-06", "approval_invalid", anothers, partly, altered, usedUp),
	},
	{
		ID: "WF-06/expired-between-start-and-step", Clauses: []string{"WF-06"},
		Title:   "a confirmation that expires while an earlier step is held is no good when its own step comes",
		Missing: suites.First(noConfirmation, suites.NoAction("deny", "allow")),
		Faults:  []string{"outside-held"},
		Drive: on(func(s *scene) {
			s.begin()
			s.deniedMeanwhile(expired, "confirmation", s.step("write"))
			s.rest(s.start(s.step("write"), s.step("write")))
			s.look(converged, s.operations...)
		}),
		Judge: judge.All(judge.Placed("outside-held", 1), judge.StepDenied("WF-06", "approval_invalid", expired)),
	},
}

// denying is the act that starts an operation one step of which is to be denied.
func (s *scene) denying(how string, at int, steps ...step) world.Act {
	return s.starting(steps...).With("denied", text(at)).With("how", how)
}

// denied starts an operation one step of which is to be denied, and waits for its end.
func (s *scene) denied(how string, at int, steps ...step) {
	s.rest(s.know(s.server.Do(s.denying(how, at, steps...))))
}

// deniedMeanwhile starts a write and another step behind it. While the write is
// held a control begins to deny; the second step runs only then.
func (s *scene) deniedMeanwhile(how, control string, second step) {
	first := s.step("write")
	request := s.HoldOutside(first.text)
	id := s.know(s.server.Do(s.denying(how, 1, first, second)))
	request.Await()
	s.Act("deny", map[string]string{"control": control})
	request.Release()
	s.rest(id)
	s.Act("allow", nil)
}

// rest waits until an operation has come to rest and asks how it stands.
func (s *scene) rest(id string) {
	if id == "" {
		return
	}
	s.settle(id)
	s.ask("status", id, converged)
}

// unconfirmed is a write that carries no confirmation.
func (s *scene) unconfirmed() step {
	return s.made("write", func(params map[string]string) json.RawMessage { return s.Unconfirmed("write", params) })
}

// confirmedBy is a write with what is made of its own confirmation.
func (s *scene) confirmedBy(change func(map[string]string) map[string]string) step {
	return s.made("write", func(params map[string]string) json.RawMessage {
		return s.Confirmed("write", params, change(s.server.Confirmation("write", params)))
	})
}

// made makes a step of a kind in another way than step does.
func (s *scene) made(kind string, entry func(params map[string]string) json.RawMessage) step {
	word := s.Word(kind)
	made := step{kind: kind, text: word, entry: entry(s.bound(own, "text", word))}
	s.steps = append(s.steps, made)
	s.Mark("step", map[string]any{"text": word, "kind": kind})
	return made
}

// replaced changes one part of a confirmation.
func replaced(name string, change func(string) string) func(map[string]string) map[string]string {
	return func(parts map[string]string) map[string]string {
		parts = maps.Clone(parts)
		parts[name] = change(parts[name])
		return parts
	}
}

// lastAltered is a text with another last character of the same kind.
func lastAltered(value string) string {
	if value == "" {
		return "2"
	}
	last := byte('2')
	if value[len(value)-1] == last {
		last = '3'
	}
	return value[:len(value)-1] + string(last)
}
