package workrecords

import (
	"slices"

	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// crashed is the moment behind a run at one crash point.
const crashed = "crashed"

var crashPoints = slices.Concat(ofTheHelper, ofTheApp, oneStatus)

var ofTheHelper = []suites.Test{
	{
		ID: "WR-03/every-crash-point-of-a-start", Clauses: []string{"WR-03"},
		Title:  "at no crash point of a start is the anchor there without its start intent, or the other way round",
		Faults: []string{"crash-point"},
		Drive: on(func(s *scene) {
			s.Launch(world.Only("account"))
			s.EachCrashPoint(world.Crash{
				Act:      s.starting(s.newTask()),
				Variants: []string{"", "ENOSPC", "EIO"},
				Prepare: func(helper *world.Caller) {
					s.startBy(helper, s.starting(s.newTask()))
				},
				Look: func(run string) {
					s.LookAtRest("anchors", crashed, map[string]string{"run": run})
					s.LookAtRest("intents", crashed, map[string]string{"run": run})
				},
			})
		}),
		Judge: judge.NeverHalf,
	},
}
