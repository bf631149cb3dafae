package durability

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// full are the specs of a disk without room. EIO stands beside ENOSPC because some
// file systems find out so late that they have none.
var full = []suites.Test{
	fullDisk("DU-10/full-for-one-call-of-a-write", "at one call of a write", false),
	fullDisk("DU-10/full-from-one-call-of-a-write-on", "from one call of a write on", true),
}

func fullDisk(id, when string, stays bool) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{"DU-10"}, Faults: []string{"crash-point"},
		Title: "a disk that is full " + when + " is an error: nothing is acknowledged that is not kept, earlier writes are intact, and with room the server works again",
		Drive: on(func(s *scene) {
			s.EndCallers()
			s.EachCrashPoint(world.Crash{
				Act: s.writing(), Variants: []string{"ENOSPC", "EIO"}, Stays: stays, Most: s.atMost(mostFull),
				Prepare: func(helper *world.Caller) {
					for range 3 {
						helper.Do(s.writing())
					}
				},
				Look: func(string) {},
				Restarted: func(run string, helper *world.Caller) {
					helper.Do(s.reading(run))
					helper.Do(s.writing().With("run", run).With("again", "yes"))
					helper.Do(s.reading(run).At("again"))
				},
			})
		}),
		Judge: judge.FullDiskWrite(stays),
	}
}
