package durability

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

var firstStarts = []suites.Test{
	{
		ID: "DU-18/two-first-starts", Clauses: []string{"DU-18"},
		Title:  "two servers that are started at once on a store that does not exist leave it usable, with all that they acknowledged",
		Faults: []string{"race"}, Numbers: reports.Numbers{Rounds: 5},
		Drive: before(func(s *scene) {
			fresh := s.Fresh()
			for i := range s.Numbers().Rounds {
				fresh.Again()
				s.firstRound(fmt.Sprint(i + 1))
			}
		}),
		Judge: judge.Numbered(func(n reports.Numbers) judge.Rule { return judge.FirstStartsLeaveAStore(n.Rounds) }),
	},
}

// firstRound starts two servers at once, lets each that came write, at once where
// both did, and lets a later one read and write.
func (s *scene) firstRound(round string) {
	came := s.FirstStarts(2, round)
	if len(came) > 0 {
		came[0].SetUp()
		acts := s.many(len(came))
		for i := range acts {
			acts[i] = acts[i].With("round", round)
		}
		s.Together(acts, came...)
	}
	s.Quiet()
	if later := s.Later(round); later != nil {
		if len(came) == 0 {
			later.SetUp()
		}
		later.Do(s.writing().With("round", round).At("later"))
		later.Do(world.Act{Role: "read"}.At("final").With("round", round))
	}
}
