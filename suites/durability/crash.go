package durability

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// How many runs at crash points a spec makes, where the target file sets no bound of
// its own. A run takes two starts of the server.
const (
	// mostKills is far above what one write of the usual stores takes, because a
	// promise about any crash point is not shown by some.
	mostKills = 160
	// mostFull is that of a disk without room, mostFullForStdout where only stdout is
	// looked at.
	mostFull          = 96
	mostFullForStdout = 48
)

// atMost is the bound of the target file, or else the usual one.
func (s *scene) atMost(usual int) int {
	if n := s.Target.Profiles.Durability.CrashPoints; n > 0 {
		return n
	}
	return usual
}

var crashPoints = []suites.Test{
	eachCrashPoint("DU-02/every-crash-point-of-a-write", judge.WholeAtEachPoint,
		"killed at any crash point of a write, the write is whole or absent, and the store is readable"),
	eachCrashPoint("DU-03/every-crash-point-of-a-write", judge.StartsAgain,
		"killed at any crash point of a write, the server starts again and earlier writes are there"),
}

func eachCrashPoint(id string, rule judge.Rule, title string) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{id[:5]}, Title: title, Faults: []string{"crash-point"},
		Drive: on(func(s *scene) {
			s.EndCallers()
			s.EachCrashPoint(world.Crash{
				Act: s.writing(), Once: true, Most: s.atMost(mostKills),
				Prepare: func(helper *world.Caller) {
					for range 3 {
						helper.Do(s.writing())
					}
				},
				Look:      func(string) {},
				Restarted: func(run string, helper *world.Caller) { helper.Do(s.reading(run)) },
			})
		}),
		Judge: rule,
	}
}

// reading is the act of reading everything back behind a run.
func (s *scene) reading(run string) world.Act {
	return world.Act{Role: "read"}.At("restarted").With("run", run)
}
