package durability

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

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
				Act: s.writing(),
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
