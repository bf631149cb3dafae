package durability

import (
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// keptWrites is how many writes stand in each half of a file that is to be damaged.
const keptWrites = 4

var damaged = []suites.Test{
	hurt("DU-22/cut-in-half", false, "a store of which a file was cut in half is told as damaged, and kept as it is"),
	hurt("DU-22/emptied", true, "a store of which a file was emptied to 0 bytes, as no empty store of the server looks, is told as damaged"),
}

func hurt(id string, emptied bool, title string) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{"DU-22"}, Title: title, Faults: []string{"damaged-store"},
		NotFor: asTheyStand,
		Drive: on(func(s *scene) {
			s.EndCallers()
			s.EachFileHurt(world.Hurting{
				Emptied: emptied,
				Write: func(helper *world.Caller) {
					for range keptWrites {
						helper.Do(s.writing())
					}
				},
				Whole: func(helper *world.Caller) { helper.Do(world.Act{Role: "read"}.At("whole")) },
				Hurt: func(run string, helper *world.Caller) {
					helper.Do(world.Act{Role: "read"}.At("hurt").With("run", run))
					helper.Do(s.writing().With("run", run))
				},
			})
		}),
		Judge: judge.HurtStoreIsTold,
	}
}

// asTheyStand says that no content of a target's files is damage.
func asTheyStand(f *target.File) string {
	if f.Profiles.Durability != nil && f.Profiles.Durability.Verbatim {
		return "the server hands its files out as they stand (profiles.durability.verbatim), so that no content of theirs is damage"
	}
	return ""
}
