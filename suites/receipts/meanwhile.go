package receipts

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// The moments of what is asked for while an outcome is unresolved, and of the same
// once it is recovered.
const (
	meanwhile  = "meanwhile"
	afterwards = "afterwards"
)

var unresolved = []suites.Test{
	{
		ID: "RC-22/another-mutation", Clauses: []string{"RC-22"},
		Title:   "while an outcome is unknown another mutation is refused and points to the recheck, and the person goes on typing",
		Faults:  []string{"answer-lost"},
		Missing: suites.First(noRole("recheck_update"), suites.NoAction("type")),
		Drive: on(func(s *scene) {
			s.begin()
			s.types("other", before)
			s.look(before)
			lost := s.update()
			s.editor.LosesServerAnswer(lost)
			s.look(struck)
			refused := s.others()
			for _, act := range refused {
				s.editor.Do(act.At(meanwhile))
			}
			s.look(meanwhile)
			s.types("other", typed)
			s.look(typed)
			s.converges(lost)
			for _, act := range refused {
				s.editor.Do(with(act, "revision", s.revision()).At(afterwards))
			}
			s.settled()
			s.look(afterwards)
		}),
		Judge: judge.All(judge.Placed("answer-lost", 1), judge.RefusedWhileUnknown, judge.TypingGoesOn),
	},
}

// others are an update and, where the target has one, a submission.
func (s *scene) others() []world.Act {
	acts := []world.Act{s.update()}
	if _, there := s.Target.Profiles.Receipts.Tools["submit"]; there {
		acts = append(acts, s.submission())
	}
	return acts
}
