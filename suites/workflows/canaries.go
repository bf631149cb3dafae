package workflows

import (
	"encoding/json"
	"fmt"

	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

var canaries = []suites.Test{
	{
		ID: "WF-23/nothing-of-the-content", Clauses: []string{"WF-23"},
		Title:   "answers about operations hold references, states, counts and codes alone, and no content, result, token or word of the outside service is in an answer, a log or the audit log",
		Missing: suites.First(noKind("deliver", "read"), noConfirmation, noProbe("audit"), noOperationFiles),
		Faults:  []string{"outside-refused"},
		Drive: on(func(s *scene) {
			s.begin()
			finished := s.runOf("an argument", "write")
			s.runOf("a payload", "deliver")
			s.rest(s.start(s.plain("read"))) // its result holds what was written before
			refused := s.planted("a refused payload", "write", true, false)
			refusal := s.RefuseOutside(refused.text, 403)
			s.rest(s.start(refused))
			refusal.Given()
			echoed := s.planted("a payload that an error repeats", "write", true, false)
			echo := s.EchoOutside(echoed.text, 400)
			s.rest(s.start(echoed))
			echo.Echoed()
			s.rest(s.start(s.unconfirmedOf("an argument that is denied")))

			s.askInVain(finished)
			if token, known := s.OutsideToken(); known {
				s.planting("a token", token, false, true)
			}
			s.EndCallers()
			s.LookForCanaries(converged, s.birds)
		}),
		Judge: judge.All(judge.Placed("outside-refused", 2), judge.AnswersHoldNoContent, judge.CanariesStayInside),
	},
}

// runOf runs an operation of one step whose text is a canary.
func (s *scene) runOf(name, kind string) string {
	id := s.start(s.planted(name, kind, true, true))
	s.rest(id)
	return id
}

// planted is a step whose text is a canary, with where that may stand: in the private
// store, and at the outside service.
func (s *scene) planted(name, kind string, stored, outside bool) step {
	sent := s.canary(name, stored, outside)
	made := step{kind: kind, text: sent, entry: s.server.Step(kind, s.bound(own, "text", sent))}
	s.steps = append(s.steps, made)
	return made
}

// canary makes a word that is looked for at the end.
func (s *scene) canary(name string, stored, outside bool) string {
	sent, sought := s.Plant(name, map[string]any{"name": name, "store": stored, "outside": outside})
	s.birds = append(s.birds, world.Canary{Name: name, Word: sought})
	return sent
}

// planting looks for a word at the end that somebody else has made.
func (s *scene) planting(name, word string, stored, outside bool) {
	s.Mark("canary", map[string]any{"name": name, "store": stored, "outside": outside})
	s.birds = append(s.birds, world.Canary{Name: name, Word: word})
}

// unconfirmedOf is a write whose text is a canary, and which is denied.
func (s *scene) unconfirmedOf(name string) step {
	sent := s.canary(name, true, false)
	return step{kind: "write", text: sent, entry: s.Unconfirmed("write", s.bound(own, "text", sent))}
}

// askInVain makes calls that are refused, each with a canary in it: definitions that
// are none, references that are none, and a checkpoint that is damaged.
func (s *scene) askInVain(finished string) {
	entry, err := json.Marshal(map[string]string{"no such step": s.canary("a definition that is none", false, false)})
	if err != nil {
		world.Broken("writing a step that is none: %v", err)
	}
	s.server.Do(s.starting(step{entry: entry}))
	tool, err := json.Marshal(map[string]any{"tool": s.canary("a tool that is none", false, false), "arguments": map[string]any{}})
	if err != nil {
		world.Broken("writing a step that is none: %v", err)
	}
	s.server.Do(s.starting(step{entry: tool}))
	for i, form := range []string{"%s", "../%s", "/%s", "%s\x00", "wf_%s"} {
		name := fmt.Sprintf("a reference that is none, form %d", i+1)
		reference := fmt.Sprintf(form, s.canary(name, false, false))
		for _, role := range []string{"status", "resume", "cancel"} {
			s.server.Do(world.Act{Role: role, Params: s.bound(own, "operation_id", reference, "moment", "in vain")})
		}
	}
	if finished == "" {
		return
	}
	s.SpoilCheckpoint(finished, s.canary("a damaged checkpoint", true, false))
	for _, role := range []string{"status", "resume", "cancel"} {
		s.server.Do(world.Act{Role: role, Params: s.bound(own, "operation_id", finished, "moment", "damaged")})
	}
}
