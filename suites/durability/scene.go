// Package durability holds the specs of profile DU: what any MCP server owes
// the caller that it has told "done", whatever it was built with. They need one
// write call and one read call of the target and nothing else of it.
package durability

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// scene is the stage of one spec: a world and the caller's first helper.
type scene struct {
	*world.World
	helper *world.Caller
	// further are what other tools are looked through with around a call.
	further []world.Act
	n       int
}

// on makes a spec's drive out of a function over a scene.
func on(play func(*scene)) func(*world.World) {
	return func(w *world.World) {
		s := &scene{World: w}
		s.Launch()
		s.helper = s.NewCaller()
		s.helper.SetUp()
		s.readIfThere("first") // that reads work is what later ones are held to
		play(s)
	}
}

// before makes a spec's drive out of a function over a scene in which no server has
// been started yet, so that there is no store.
func before(play func(*scene)) func(*world.World) {
	return func(w *world.World) { play(&scene{World: w}) }
}

// writing is the act of one write of a fresh distinct value.
func (s *scene) writing() world.Act {
	s.n++
	return s.writingValue(s.Word(fmt.Sprintf("value-%03d", s.n)))
}

func (s *scene) writingValue(value string) world.Act {
	return world.Act{
		Role: "write", Params: map[string]string{"value": value, "n": fmt.Sprint(s.n), "key": "key " + value},
		Proof: world.Proof{
			Probe: "values", Params: map[string]string{"value": value},
			Shows: func(row map[string]any) bool { return row["value"] == value },
		},
	}
}

// write makes one write through the first helper.
func (s *scene) write() history.Operation { return s.helper.Do(s.writing()) }

// read reads everything back through a caller at a moment.
func (s *scene) read(c *world.Caller, moment string) history.Operation {
	return c.Do(world.Act{Role: "read", Params: map[string]string{"moment": moment}})
}

// around makes one call with a read before and a read after it, and gives the call.
func (s *scene) around(act world.Act) history.Operation {
	s.n++
	word := fmt.Sprintf("pair-%d", s.n)
	s.lookFurther(word)
	s.lookFurther(word) // a look that changes by itself what it shows is told by the second
	s.readAround(word, "before")
	op := s.helper.Do(act.With("pair", word))
	s.readAround(word, "after")
	s.lookFurther(word)
	return op
}

// readAround reads everything back, and digests the state where the target file
// says what counts.
func (s *scene) readAround(word, moment string) {
	s.helper.Do(world.Act{Role: "read"}.With("pair", word).With("moment", moment))
	if len(s.Target.State.Include) > 0 {
		s.LookAtState(moment, map[string]string{"pair": word})
	}
}

// proveProbe shows that the probe sees an acknowledged write; whether it does is
// for the judges to say.
func (s *scene) proveProbe(write history.Operation) {
	value := map[string]string{"value": write.Param("value")}
	s.Await("the probe to show an acknowledged write", func() bool {
		return slices.ContainsFunc(s.Peek("values", nil), func(row map[string]any) bool { return row["value"] == value["value"] })
	})
	s.Look("values", "control", value)
}

// readByFresh reads everything back through a helper that was started for it,
// once every store has come to rest and the earlier helpers have ended.
func (s *scene) readByFresh() {
	s.Quiet()
	s.EndCallers()
	s.helper = s.NewCaller()
	s.read(s.helper, "final")
}
