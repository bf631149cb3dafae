package durability

import (
	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

const (
	// blockingPlaces is at how many places of a write a server is killed, once each, to
	// see whether the next one is blocked.
	blockingPlaces = 6
	// debrisPlaces is at how many places servers are killed while something stands that
	// the write has made.
	debrisPlaces = 2
)

var debris = []suites.Test{
	{
		ID: "DU-23/accepts-writes-behind-kills", Clauses: []string{"DU-23"},
		Title:  "behind a kill in the middle of a write the next server accepts a write within the time of one answer",
		Faults: []string{"crash-point"},
		Drive:  on(func(s *scene) { s.killedInWrites(world.Kills{Places: blockingPlaces, Rounds: 1}) }),
		Judge:  judge.KillsDoNotBlock,
	},
	{
		ID: "DU-23/leftovers-do-not-pile-up", Clauses: []string{"DU-23"},
		Title:  "what kills in the middle of writes leave below {{dir}} does not grow with their number",
		Faults: []string{"crash-point"}, Numbers: reports.Numbers{Rounds: 3},
		// What lies there after that many kills at a place is compared with what lies
		// there after twice as many.
		Drive: on(func(s *scene) {
			s.killedInWrites(world.Kills{Places: debrisPlaces, Rounds: 2 * s.Numbers().Rounds, Made: true})
		}),
		Judge: judge.Numbered(func(n reports.Numbers) judge.Rule {
			return judge.All(judge.KillsDoNotBlock, judge.LeftoversDoNotPileUp(2*n.Rounds))
		}),
	},
}

// killedInWrites kills servers in the middle of writes, behind a few that were not.
func (s *scene) killedInWrites(kills world.Kills) {
	for range 3 {
		s.write()
	}
	s.EndCallers()
	kills.Write = s.writing
	kills.Read = func() world.Act { return world.Act{Role: "read"} }
	s.KillInWrites(kills)
}
