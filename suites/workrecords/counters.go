package workrecords

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

const (
	// counted is k of WR-34.
	counted = 3
	// The moments between which the two numbers move.
	failedThere  = "failed"
	refusedThere = "refused"
)

var counters = []suites.Test{
	{
		ID: "WR-34/two-numbers", Clauses: []string{"WR-34"},
		Title:   "starts before the login raise and lower the retrying number alone; failures and refusals raise the permanent one alone",
		Missing: suites.First(noStaging, noProbe("counters")),
		Faults:  []string{"login-held"},
		Drive: on(func(s *scene) {
			login := s.beginWithLoginHeld()
			s.Look("counters", early, nil)
			for range counted {
				id := s.start(s.newTask())
				s.awaitAttempts(id, 1)
				s.Look("intents", held, map[string]string{"item_id": id})
			}
			s.Look("counters", held, nil)
			login.Release()
			s.settle()
			s.Look("counters", released, nil)

			id, outside := s.items[0], s.OutsideFile()
			for i := range counted {
				s.helper.Do(s.leading(id, "by a link", s.StageLink(fmt.Sprintf("link-%d.txt", i), outside)))
			}
			s.settle()
			s.Look("intents", failedThere, map[string]string{"item_id": id})
			s.Look("counters", failedThere, nil)

			for _, act := range s.refusals(id) {
				s.helper.Do(act)
			}
			s.Look("counters", refusedThere, nil)
		}),
		Judge: judge.All(judge.Placed("login-held", 1), judge.CountedApart(counted)),
	},
}

// refusals are calls that break the inputSchema of the note.
func (s *scene) refusals(id string) []world.Act {
	acts := s.helper.Violations(func() world.Act { return s.noting(id, s.Word("a refused note")) })
	if len(acts) < counted {
		world.Inconclusive("the inputSchema of the note can be broken in %d ways, %d are needed", len(acts), counted)
	}
	return acts[:counted]
}

// noProbe says that a spec needs a probe that the target file leaves out.
func noProbe(name string) func(*target.File) string {
	return func(f *target.File) string {
		if f.Profiles.WorkRecords != nil {
			if _, there := f.Profiles.WorkRecords.Probes[name]; !there {
				return fmt.Sprintf("the target file has no probe %q in profiles.work-records.probes", name)
			}
		}
		return ""
	}
}
