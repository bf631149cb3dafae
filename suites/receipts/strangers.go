package receipts

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

var strangers = []suites.Test{
	{
		ID: "RC-12/nothing-unresolved", Clauses: []string{"RC-12"},
		Title:   "while no outcome is unresolved every recheck is refused with no lookup sent, also that of a command that has a receipt",
		Faults:  []string{"answer-lost"},
		Missing: suites.First(noRole("recheck_update"), noDraft("other")),
		Drive: on(func(s *scene) {
			s.begin()
			known := s.update()
			s.editor.Do(known)
			s.asksStrangely(s.recheck(known, strange), s.recheck(with(known, "command_id", s.commandID()), strange), s.elsewhere(known))
			s.recovers(s.update(), s.editor.LosesServerAnswer)
		}),
		Judge: judge.All(judge.Placed("answer-lost", 1), judge.ServesOnlyItsOwn),
	},
	{
		ID: "RC-12/one-unresolved", Clauses: []string{"RC-12"},
		Title:   "while an outcome is unresolved a recheck of another command, of another draft or of the other kind is refused with no lookup sent",
		Faults:  []string{"answer-lost"},
		Missing: suites.First(noRole("recheck_update", "recheck_submit"), noDraft("other")),
		Drive: on(func(s *scene) {
			s.begin()
			known := s.update()
			s.editor.Do(known)
			lost := s.update()
			s.editor.LosesServerAnswer(lost)
			s.asksStrangely(s.recheck(known, strange), s.recheck(with(lost, "command_id", s.commandID()), strange), s.elsewhere(lost), s.otherKind(lost))
			s.converges(lost)
		}),
		Judge: judge.All(judge.Placed("answer-lost", 1), judge.ServesOnlyItsOwn),
	},
	{
		ID: "RC-20/told-apart", Clauses: []string{"RC-20"},
		Title:   "an unknown update and an unknown submission point to rechecks of their own, each of which refuses the other kind, and no recheck submits again",
		Faults:  []string{"answer-lost"},
		Missing: noRole("recheck_update", "submit", "recheck_submit"),
		Drive: on(func(s *scene) {
			s.begin()
			for _, act := range []func() world.Act{s.update, s.submission} {
				lost := act()
				s.editor.LosesServerAnswer(lost)
				s.asksStrangely(s.otherKind(lost))
				s.converges(lost)
			}
		}),
		Judge: judge.All(judge.Placed("answer-lost", 2), judge.KindsToldApart),
	},
}

// asksStrangely asks for rechecks that are not the editor's to make, and counts the
// lookups about every draft that is asked for.
func (s *scene) asksStrangely(acts ...world.Act) {
	drafts := []string{}
	for _, act := range acts {
		drafts = append(drafts, act.Params["draft"])
	}
	for _, draft := range drafts {
		s.LookAtServer(ready, draft)
	}
	for _, act := range acts {
		s.editor.Do(act)
	}
	s.settled()
	for _, draft := range drafts {
		s.LookAtServer(strange, draft)
	}
	s.editor.LookAtEditor(strange, s.draft)
}

// elsewhere is the recheck of a mutation as one of another draft of the same user.
func (s *scene) elsewhere(act world.Act) world.Act {
	return s.recheck(with(act, "draft", s.Draft("other")), strange)
}

// otherKind is the recheck of an update as a submission, and the other way round.
func (s *scene) otherKind(act world.Act) world.Act {
	act.Role = map[string]string{"update": "submit", "submit": "update"}[act.Role]
	return s.recheck(act, strange)
}
