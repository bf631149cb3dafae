package workrecords

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
)

var identity = []suites.Test{
	{
		ID: "WR-01/queued-with-stable-id", Clauses: []string{"WR-01"},
		Title:  "a start answers with a stable ID, queued and not materialized, while no item exists",
		Faults: []string{"login-held"},
		Drive: on(func(s *scene) {
			login := s.beginWithLoginHeld()
			t := s.newTask()
			first := s.helper.Do(s.starting(t))
			id := s.know(first)
			s.Look("writes", early, map[string]string{"call": first.Invoked.ID})
			s.start(t)
			s.helper = s.helper.Restarted()
			s.start(t)
			s.awaitAttempts(id, 1)
			login.Release()
			s.settle()
			s.start(t)
			s.lookAtEnd()
		}),
		Judge: judge.All(judge.Placed("login-held", 1), judge.QueuedWithID, judge.StableID),
	},
	{
		ID: "WR-02/killed-as-its-answer-leaves", Clauses: []string{"WR-02"},
		Title:  "anchor and start intent are durable before the answer",
		Faults: []string{"kill-at-answer"},
		Drive: on(func(s *scene) {
			s.begin()
			answer := s.helper.KilledAsAnswerLeaves(s.starting(s.newTask()))
			id := s.know(answer)
			s.helper = s.NewCaller()
			s.Look("anchor", restarted, map[string]string{"item_id": id})
			s.Look("intents", restarted, map[string]string{"item_id": id})
			s.settle()
			s.lookAtEnd()
		}),
		Judge: judge.All(judge.Placed("kill-at-answer", 1), judge.AnchorDurable),
	},
	{
		ID: "WR-09/live-once-created", Clauses: []string{"WR-09"},
		Title: "when the app has created the item the anchor is live and answers say so",
		Drive: on(func(s *scene) {
			s.begin()
			t := s.newTask()
			id := s.start(t)
			s.note(id, s.Word("a note"))
			s.settle()
			s.helper.Do(s.starting(t).At(converged))
			s.lookAtEnd()
		}),
		Judge: judge.BecomesLive,
	},
}
