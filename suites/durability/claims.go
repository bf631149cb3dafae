package durability

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// claims are the specs that hold tools to their own annotations: every tool that
// claims something is called, with the target file's arguments or with generated ones.
var claims = []suites.Test{
	{
		ID: "DU-06/called-twice", Clauses: []string{"DU-06"},
		Title: "a tool that claims idempotentHint: true changes what can be read back one time, though it is called twice with the same arguments",
		Drive: on(func(s *scene) {
			s.around(s.writing())
			for _, tool := range s.helper.Claiming(world.Idempotent) {
				for _, call := range tool.Once() {
					s.twice(s.calling(call))
				}
			}
		}),
		Judge: judge.ChangedOnce,
	},
	{
		ID: "DU-07/what-can-be-read-back", Clauses: []string{"DU-07/read-back"},
		Title: "a tool that claims readOnlyHint: true leaves what can be read back as it was",
		Drive: on(func(s *scene) {
			s.around(s.writing())
			each := func() {
				for _, tool := range s.helper.Claiming(world.ReadOnly) {
					for _, call := range tool.Once() {
						s.seenAround(s.calling(call))
					}
				}
			}
			each()
			// Further looks are calls of such tools too, and would do before the first
			// look what is to be seen in it: so they come once each was seen by itself.
			if s.lookThrough(s.write()); len(s.further) > 0 {
				each()
			}
		}),
		Judge: judge.OnlyRead,
	},
	{
		ID: "DU-07/the-store", Clauses: []string{"DU-07/bytes"},
		Title:  "a tool that claims readOnlyHint: true leaves the bytes of the store as they were",
		NotFor: noState,
		Drive: on(func(s *scene) {
			s.around(s.writing())
			for _, tool := range s.helper.Claiming(world.ReadOnly) {
				for _, call := range tool.Once() {
					s.digestedAround(s.calling(call))
				}
			}
		}),
		Judge: judge.StoreOnlyRead,
	},
	{
		ID: "DU-15/what-was-there", Clauses: []string{"DU-15"},
		Title: "a tool that claims destructiveHint: false changes and removes nothing that could be read back before",
		Drive: on(func(s *scene) {
			s.lookThrough(s.write())
			s.around(s.writing())
			for _, tool := range s.helper.Claiming(world.NotDestructive) {
				for range additions {
					for _, call := range tool.Calls {
						s.seenAround(s.calling(call))
					}
				}
			}
		}),
		Judge: judge.NothingDestroyed,
	},
}

// additions is how often a tool that claims to destroy nothing is called in DU-15:
// the first time may make what the others would destroy.
const additions = 3

// noState says that nothing tells which files are the store.
func noState(f *target.File) string {
	if f.Profiles.Durability != nil && len(f.State.Include) == 0 {
		return "the target file does not say in state.include which files are the store and nothing else, so that its bytes cannot be told from logs and journals"
	}
	return ""
}

// fresh are values of the templates that were never used before.
func (s *scene) fresh() map[string]string {
	s.n++
	value := s.Word(fmt.Sprintf("value-%03d", s.n))
	return map[string]string{"value": value, "n": fmt.Sprint(s.n), "key": "key " + value}
}

// calling is the act of a call that is made because of a claim.
func (s *scene) calling(call world.Call) world.Act { return call.Act(s.fresh()) }

// pair is a word that ties a call to the looks around it.
func (s *scene) pair() string {
	s.n++
	return fmt.Sprintf("pair-%d", s.n)
}

// lookThrough lets every look around a call go through other tools as well that claim to
// be read-only, with what was written there in their arguments.
func (s *scene) lookThrough(written history.Operation) {
	s.further = s.helper.FurtherLooks(written.Invoked.Params)
}

// lookFurther looks through the other tools.
func (s *scene) lookFurther(pair string) {
	for _, act := range s.further {
		s.helper.Do(act.With("pair", pair))
	}
}

// see looks at what can be read back, once the store has come to rest.
func (s *scene) see(pair string) {
	if len(s.Target.State.Include) > 0 {
		s.Quiet()
	}
	s.helper.Do(world.Act{Role: "read"}.With("pair", pair))
	s.LookIfThere("values", "around", map[string]string{"pair": pair})
}

// seenAround makes one call with a look at what can be read back before and after it.
func (s *scene) seenAround(act world.Act) history.Operation {
	pair := s.pair()
	s.lookFurther(pair)
	s.see(pair)
	op := s.helper.Do(act.With("pair", pair))
	s.see(pair)
	s.lookFurther(pair)
	return op
}

// twice makes one call, and the same one again if it was accepted, with a look before,
// between and after.
func (s *scene) twice(act world.Act) {
	pair := s.pair()
	s.see(pair)
	first := s.helper.Do(act.With("pair", pair).With("turn", "1"))
	s.see(pair)
	if first.Outcome() == history.Done {
		s.helper.Do(act.With("pair", pair).With("turn", "2"))
		s.see(pair)
	}
}

// digestedAround makes one call with a digest of the store before and after it.
func (s *scene) digestedAround(act world.Act) {
	pair := map[string]string{"pair": s.pair()}
	s.LookAtState("before", pair)
	s.helper.Do(act.With("pair", pair["pair"]))
	s.LookAtState("after", pair)
}
