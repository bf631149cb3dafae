package workrecords

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

var provisional = []suites.Test{
	{
		ID: "WR-10/waits-for-the-login", Clauses: []string{"WR-10"},
		Title:  "25 and more attempts before the login are no failure; after it the start is applied with no further call",
		Faults: []string{"login-held"},
		Drive: on(func(s *scene) {
			login := s.beginWithLoginHeld()
			id := s.start(s.newTask())
			s.watchWaiting(id, manyAttempts)
			login.Release()
			s.settle()
			s.lookAtEnd()
		}),
		Judge: judge.All(judge.Placed("login-held", 1), judge.KeptWhileTransient("WR-10", manyAttempts), judge.ProvisionalIsNoFailure(0)),
	},
	{
		ID: "WR-10/waits-across-a-restart", Clauses: []string{"WR-10"},
		Title:  "an app that starts again before the login finds nothing failed and applies the start after it",
		Faults: []string{"login-held"},
		Drive: on(func(s *scene) {
			login := s.beginWithLoginHeld()
			id := s.start(s.newTask())
			s.watchWaiting(id, manyAttempts)
			s.StopProcess("app")
			tried := s.attempts(id)
			s.Launch(world.Only("app"))
			s.watchWaiting(id, tried+2)
			login.Release()
			s.settle()
			s.lookAtEnd()
		}),
		Judge: judge.All(judge.Placed("login-held", 1), judge.KeptWhileTransient("WR-10", manyAttempts+2), judge.ProvisionalIsNoFailure(1)),
	},
}

// watchWaiting watches the intents of an item until its first one was tried n
// times, or is no more to be tried, and then looks at what is said of it.
func (s *scene) watchWaiting(id string, n int) {
	one := map[string]string{"item_id": id}
	s.Watch(fmt.Sprintf("%d attempts at the start of item %s", n, id), "intents", held, one, func(rows []map[string]any) bool {
		return len(rows) > 0 && (rows[0]["state"] == "applied" || rows[0]["state"] == "failed" || world.Number(rows[0]["attempts"]) >= n)
	})
	s.Look("anchor", held, one)
	s.get(id, held)
	s.Look("intents", held, one)
}
