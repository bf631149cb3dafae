package receipts

import (
	"github.com/holdfast-mcp/holdfast/fixtures/account"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
)

// neighbour is the moment behind what the second editor does.
const neighbour = "neighbour"

var neighbours = []suites.Test{
	{
		ID: "RC-27/two-editors", Clauses: []string{"RC-27"},
		Title:   "the unknown outcome of one editor never shows in another one of the same draft, whose stale write is a conflict",
		Faults:  []string{"answer-lost"},
		Missing: noRole("recheck_update", "read"),
		Drive: on(func(s *scene) {
			s.begin()
			second := &scene{World: s.World, editor: s.NewCaller(), draft: s.draft, commands: 100}
			second.editor.SignsIn(account.First)
			second.editor.Do(s.read(before))
			second.look(before)
			stale := second.update()

			lost := s.update()
			s.editor.LosesServerAnswer(lost)
			s.look(struck)
			second.look(struck)
			second.editor.Do(second.read(struck))
			second.editor.Do(stale.At(neighbour))
			second.settled()
			s.look(neighbour)
			second.look(neighbour)
			s.converges(lost)
			second.look(converged)
		}),
		Judge: judge.All(judge.Placed("answer-lost", 1), judge.NeighbourSeesNothing),
	},
}
