package workflows

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
)

// sampledIDs is how many operations are started to see what their IDs are made of.
const sampledIDs = 150

var identity = []suites.Test{
	{
		ID: "WF-02/ids-of-random-bits", Clauses: []string{"WF-02"},
		Title:   "the IDs of many operations begin with wf_, are all different, and vary in so many places that they hold 128 random bits",
		Missing: noKind("read"),
		Drive: on(func(s *scene) {
			s.begin()
			one := s.plain("read")
			for range sampledIDs {
				s.start(one)
			}
			for _, id := range s.operations {
				s.settle(id)
			}
		}),
		Judge: judge.RandomIDs,
	},
}
