package workrecords

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/fixtures/account"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// otherAccount is the moment at which another account is signed in.
const otherAccount = "other-account"

var accounts = []suites.Test{
	{
		ID: "WR-19/another-account", Clauses: []string{"WR-19"},
		Title:  "another account's session neither applies, shows, claims nor kills a record; it is applied when its owner is back",
		Faults: []string{"another-account"},
		Drive: on(func(s *scene) {
			s.begin()
			t := s.newTask()
			there := s.start(t)
			s.note(there, s.Word("a note of the owner"))
			s.awaitItem(there)
			s.settle()
			s.Look("items", early, nil)
			s.LookIfThere("card", early, map[string]string{"item_id": there})
			s.Look("writes", early, nil)
			s.StopProcess("app")
			waiting := s.start(s.newTask())
			s.note(there, s.Word("a note that waits for the owner"))
			s.lookAtAccepted(early)

			other := s.AnotherAccount()
			s.Launch(world.Only("app"))
			s.awaitTried(waiting, 1)
			s.awaitTried(there, 1)
			s.get(there, otherAccount)
			s.get(waiting, otherAccount)
			s.helper.Do(s.starting(s.again(t)).At(otherAccount))
			s.lookAtAccepted(otherAccount)
			s.Look("items", otherAccount, nil)
			for _, id := range s.items {
				s.LookIfThere("card", otherAccount, map[string]string{"item_id": id})
			}
			s.Look("writes", otherAccount, nil)
			other.Release()
			s.settle()
			s.lookAtEnd()
		}),
		Judge: judge.All(judge.Placed("another-account", 1), judge.OtherAccountKeepsOut, judge.NotesOnRecord("WR-19", 2)),
	},
	{
		ID: "WR-20/revoked-after-acceptance", Clauses: []string{"WR-20"},
		Title:   "what waits when the access of its account is revoked is not written, and ends failed with its reason",
		Missing: suites.NoAction("lock", "unblock", "revoke"),
		Drive: on(func(s *scene) {
			s.begin()
			id := s.start(s.newTask())
			s.note(id, s.Word("a note before"))
			s.awaitItem(id)
			s.settle()
			// The library is locked by its user, so that what is accepted now waits; the
			// session is restored all the while, and only the write itself can ask again.
			s.Act("lock", nil)
			late := s.noting(id, s.Word("a note that waits"))
			s.helper.Do(late)
			waiting := s.start(s.newTask())
			s.awaitTried(id, 1)
			s.awaitTried(waiting, 1)
			s.lookAtAccepted(held)
			s.Look("writes", held, nil)
			s.Act("revoke", map[string]string{"user": account.First})
			s.Act("unblock", nil)
			s.settle()
			s.helper.Do(late.At(converged))
			s.lookAtEnd()
			s.Look("writes", converged, nil)
		}),
		Judge: judge.RevokedNotWritten,
	},
}

// lookAtAccepted looks at all anchors, and at the intents of every known item.
func (s *scene) lookAtAccepted(moment string) {
	s.Look("anchors", moment, nil)
	for _, id := range s.items {
		s.Look("intents", moment, map[string]string{"item_id": id})
	}
}

// awaitTried waits until the first intent that an item waits with was tried n
// times and then turned away by an account that was signed in, or until all of
// them have come to their end, right or wrong.
func (s *scene) awaitTried(id string, n int) {
	s.Await(triedWhat(id, n), func() bool { return tried(s.Peek("intents", map[string]string{"item_id": id}), n) })
}

// watchTried is awaitTried with every look on the way recorded, as one behind the
// shut guard.
func (s *scene) watchTried(id string, n int) {
	s.Watch(triedWhat(id, n), "intents", held, map[string]string{"item_id": id}, func(rows []map[string]any) bool { return tried(rows, n) })
}

func triedWhat(id string, n int) string {
	return fmt.Sprintf("%d attempts at the first waiting intent of item %s, with an account signed in", n, id)
}

func tried(rows []map[string]any, n int) bool {
	for _, row := range rows {
		if row["state"] != "applied" && row["state"] != "failed" {
			return world.Number(row["attempts"]) >= n && row["code"] != "account_unresolved"
		}
	}
	return len(rows) > 0
}
