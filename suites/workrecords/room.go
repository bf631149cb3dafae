package workrecords

import (
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// The moments behind a lock on the sidecar, as the judges know them.
const (
	released = "released"
	again    = "again"
)

var noRoom = []suites.Test{
	{
		ID: "WR-32/locked-past-the-time-out", Clauses: []string{"WR-32"},
		Title:   "calls that meet a sidecar which another writer holds locked are refused as transient, or accepted, never half stored",
		Faults:  []string{"store-busy"},
		Missing: noStore("sidecar"),
		Drive: on(func(s *scene) {
			acts, busy := s.beginLocked()
			refused := waitFor(acts, s.helper.GoForwarded(acts...))
			busy.Release()
			s.lookAtStoreAtRest(released)
			s.makeAgain(refused)
		}),
		Judge: judge.All(judge.Placed("store-busy", 1), judge.LockedOut),
	},
	{
		ID: "WR-32/released-in-time", Clauses: []string{"WR-32"},
		Title:   "calls that wait for a locked sidecar are accepted once it is free, and stored once",
		Faults:  []string{"store-busy"},
		Missing: noStore("sidecar"),
		Drive: on(func(s *scene) {
			acts, busy := s.beginLocked()
			flights := s.helper.GoForwarded(acts...)
			busy.Release()
			refused := waitFor(acts, flights)
			s.lookAtStoreAtRest(released)
			s.makeAgain(refused)
		}),
		Judge: judge.All(judge.Placed("store-busy", 1), judge.LockedOut),
	},
	fullDisk("WR-33/full-for-one-call-of-a-start", "once in the middle of a start", false, func(s *scene, _ string) world.Act {
		return s.starting(s.newTask().withNote(s.Word("a first note")))
	}),
	fullDisk("WR-33/full-from-one-call-of-a-start-on", "from the middle of a start on", true, func(s *scene, _ string) world.Act {
		return s.starting(s.newTask().withNote(s.Word("a first note")))
	}),
	fullDisk("WR-33/full-from-one-call-of-a-note-on", "from the middle of a note on", true, func(s *scene, id string) world.Act {
		return s.noting(id, s.Word("the note"))
	}),
}

// beginLocked starts a helper, makes a record, and lets another writer lock the
// sidecar. The acts are the calls that are to meet it.
func (s *scene) beginLocked() ([]world.Act, *world.Trouble) {
	s.beginWithoutApp()
	id := s.start(s.newTask())
	acts := []world.Act{
		s.starting(s.newTask().withNote(s.Word("a first note"))).With("under", "lock"),
		s.noting(id, s.Word("a note")).With("under", "lock"),
	}
	return acts, s.Occupy("sidecar")
}

// waitFor waits for the calls and returns those that were turned away.
func waitFor(acts []world.Act, flights []*world.Flight) (refused []world.Act) {
	for i, f := range flights {
		if f.Wait().Outcome() == history.Refused {
			refused = append(refused, acts[i])
		}
	}
	return refused
}

// makeAgain makes the same calls under the same keys once nothing is in their way.
func (s *scene) makeAgain(acts []world.Act) {
	for _, act := range acts {
		s.helper.Do(act.With("again", "yes"))
	}
	s.lookAtStoreAtRest(again)
}

// fullDisk is WR-33 at every call with which one act needs room.
func fullDisk(id, when string, stays bool, act func(s *scene, item string) world.Act) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{"WR-33"}, Faults: []string{"crash-point"},
		Title: "a disk that is full " + when + " is an error: nothing half stored, the earlier records intact, and the call accepted once there is room",
		Drive: on(func(s *scene) {
			s.Launch(world.Only("account"))
			first := s.NewCaller()
			item := s.startBy(first, s.starting(s.newTask()))
			first.Do(s.noting(item, s.Word("an earlier note")))
			s.EndCallers()
			full := act(s, item)
			look := func(moment, run string) {
				s.LookAtRest("anchors", moment, map[string]string{"run": run})
				s.LookAtRest("intents", moment, map[string]string{"run": run})
			}
			s.EachCrashPoint(world.Crash{
				Act: full, Variants: []string{"ENOSPC"}, Stays: stays,
				Prepare: func(*world.Caller) {},
				Look:    func(run string) { look(crashed, run) },
				Restarted: func(run string, helper *world.Caller) {
					helper.Do(full.With("run", run).With("again", "yes"))
					look(restarted, run)
				},
			})
		}),
		Judge: judge.FullDisk,
	}
}
