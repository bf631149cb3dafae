package workrecords

import (
	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

var keys = []suites.Test{
	startOnce("WR-06/answer-withheld", "its answer never arrived", "answer-lost", loseAnswer(faults.Withheld)),
	startOnce("WR-06/answer-cut", "its connection was cut after the commit", "answer-lost", loseAnswer(faults.Cut)),
	startOnce("WR-06/caller-gone", "its caller went away after the commit", "caller-gone", loseCaller),
	startOnce("WR-06/request-lost", "its request never arrived", "request-lost", loseRequest),
	startOnce("WR-06/racing-on-one-connection", "two racing calls carry its key", "race", raceOnOne),
	startOnce("WR-06/racing-from-two-helpers", "two helpers race with its key", "race", raceOnTwo),
	startOnce("WR-06/after-restart", "its answer was lost and the helper was killed", "kill-at-answer", killed),

	noteOnce("WR-07/answer-withheld", "its answer never arrived", "answer-lost", loseAnswer(faults.Withheld)),
	noteOnce("WR-07/answer-cut", "its connection was cut after the commit", "answer-lost", loseAnswer(faults.Cut)),
	noteOnce("WR-07/caller-gone", "its caller went away after the commit", "caller-gone", loseCaller),
	noteOnce("WR-07/request-lost", "its request never arrived", "request-lost", loseRequest),
	noteOnce("WR-07/racing-on-one-connection", "two racing calls carry its key", "race", raceOnOne),
	noteOnce("WR-07/racing-from-two-helpers", "two helpers race with its key", "race", raceOnTwo),
	noteOnce("WR-07/after-restart", "its answer was lost and the helper was killed", "kill-at-answer", killed),
}

// trouble is what happens to the first attempt of an act.
type trouble func(*scene, world.Act)

func loseAnswer(shape faults.Shape) trouble {
	return func(s *scene, act world.Act) {
		s.helper.LosesAnswer(shape, act)
		s.helper = s.helper.Back()
	}
}

func loseCaller(s *scene, act world.Act) {
	s.helper.GoesAway(act)
	s.helper = s.helper.Back()
}

func loseRequest(s *scene, act world.Act) { s.helper.LosesRequest(act) }

func raceOnOne(s *scene, act world.Act) {
	for _, o := range s.Race(act, s.helper, s.helper) {
		s.know(o)
	}
}

func raceOnTwo(s *scene, act world.Act) {
	for _, o := range s.Race(act, s.helper, s.NewCaller()) {
		s.know(o)
	}
}

func killed(s *scene, act world.Act) {
	s.helper.KilledSilently(act)
	s.helper = s.NewCaller()
}

// startOnce is WR-06: whatever happened to the first attempt, a start under the
// same key names the same item, once, with its first note once.
func startOnce(id, when, fault string, happens trouble) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{"WR-06"}, Faults: []string{fault},
		Title: "a start is one item, also when " + when,
		Drive: on(func(s *scene) {
			s.begin()
			t := s.newTask().withNote(s.Word("first note"))
			happens(s, s.starting(t))
			s.start(t)
			s.settle()
			s.start(t)
			s.lookAtEnd()
			s.lookAtTasks(t)
		}),
		Judge: judge.All(judge.Placed(fault, 1), judge.OneItemPerKey, judge.NotesOnRecord("WR-06", 1)),
	}
}

// noteOnce is WR-07: whatever happened to the first attempt, a note under the
// same key is on the record once.
func noteOnce(id, when, fault string, happens trouble) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{"WR-07"}, Faults: []string{fault},
		Title: "a note is on the record once, also when " + when,
		Drive: on(func(s *scene) {
			s.begin()
			item := s.start(s.newTask())
			note := s.noting(item, s.Word("the note"))
			happens(s, note)
			s.helper.Do(note)
			s.settle()
			s.lookAtEnd()
		}),
		Judge: judge.All(judge.Placed(fault, 1), judge.Repeated("note"), judge.NotesOnRecord("WR-07", 1)),
	}
}
