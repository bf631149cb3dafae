package durability

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

const (
	// fewBreaches bounds the breaches of one tool where each is one call.
	fewBreaches = 12
	// breachesLookedAt bounds them where each is looked around as well.
	breachesLookedAt = 4
)

// forms are the specs of calls that break the inputSchema of their tool, and of what a
// refusal looks like.
var forms = []suites.Test{
	{
		ID: "DU-08/refused", Clauses: []string{"DU-08/refused"},
		Title: "arguments that break a tool's own inputSchema are refused",
		Drive: on(func(s *scene) {
			s.eachBreach(fewBreaches, s.behindARead)
			s.readIfThere("last")
		}),
		Judge: judge.BreachesRefused,
	},
	{
		ID: "DU-08/no-effect", Clauses: []string{"DU-08/no-effect"},
		Title: "a call that was refused because its arguments break the inputSchema changed nothing",
		Drive: on(func(s *scene) {
			s.around(s.writing())
			s.eachBreach(breachesLookedAt, func(act world.Act) { s.around(act) })
		}),
		Judge: judge.RefusedChangedNothing,
	},
	{
		ID: "DU-08/form", Clauses: []string{"DU-08/form"},
		Title: "a refusal of arguments is a tool error, or up to revision 2025-06-18 a protocol error",
		Drive: on(func(s *scene) {
			s.helper.Agreed()
			s.eachBreach(fewBreaches, func(act world.Act) { s.helper.Do(act) })
		}),
		Judge: judge.RefusalsInForm,
	},
	{
		ID: "DU-19/told-by-structure", Clauses: []string{"DU-19"},
		Title: "a refusal is told by its structure, as a JSON-RPC error or by isError, and not from its wording only",
		Drive: on(func(s *scene) {
			for _, tool := range s.helper.Claiming(world.AnyTool) {
				for _, call := range tool.Calls {
					s.behindARead(s.calling(call))
				}
			}
			for _, act := range s.helper.DeclaredInvalid(s.Word("never-written")) {
				s.behindARead(act)
			}
			s.eachBreach(breachesLookedAt, s.behindARead)
			s.readIfThere("last")
		}),
		Judge: judge.RefusedByStructure,
	},
}

// behindARead makes a call behind a read. The read of the next call is the one behind
// this one.
func (s *scene) behindARead(act world.Act) {
	s.readIfThere("between")
	s.helper.Do(act)
}

// readIfThere reads everything back, of a server that keeps something.
func (s *scene) readIfThere(moment string) {
	if !keepsNothing(s.Target) {
		s.read(s.helper, moment)
	}
}

// eachBreach hands over, of each tool, a valid call and calls that break its
// inputSchema.
func (s *scene) eachBreach(most int, do func(world.Act)) {
	for _, tool := range s.helper.Claiming(world.AnyTool) {
		do(s.calling(tool.Calls[0]))
		acts, why := s.helper.Breaches(tool, s.fresh, most)
		if why != "" {
			s.Mark("no breaches", map[string]any{"tool": tool.Tool, "why": why})
		}
		for _, act := range acts {
			do(act)
		}
	}
}
