package workrecords

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
)

var surfaces = []suites.Test{
	{
		ID: "WR-36/note-before-login", Clauses: []string{"WR-36"},
		Title:  "a note sent before the login is on the record after it, the same on answer, sidecar, library and card",
		Faults: []string{"login-held"},
		NotFor: noTool("status"),
		Drive: on(func(s *scene) {
			login := s.beginWithLoginHeld()
			id := s.start(s.newTask())
			s.note(id, s.Word("the note sent before the login"))
			s.helper.Do(s.following("status", id, "doing"))
			s.awaitAttempts(id, 1)
			s.Look("intents", held, map[string]string{"item_id": id})
			login.Release()
			s.settle()
			s.lookAtEnd()
		}),
		Judge: judge.All(judge.Placed("login-held", 1), judge.KeptWhileTransient("WR-36", 1),
			judge.NotesOnRecord("WR-36", 1), judge.SurfacesAgree),
	},
	helperKeepsOut,
	{
		ID: "WR-29/through-the-repository", Clauses: []string{"WR-29"},
		NotFor:  noTool("status"),
		Title:   "every library write, deletes included, leaves one envelope and one refresh event; content is never in clear",
		Missing: noStore("library"),
		Drive: on(func(s *scene) {
			s.begin()
			t := s.newTask()
			id := s.start(t)
			sent, canary := s.Plant("canary", map[string]any{"item_id": id})
			s.note(id, sent)
			s.helper.Do(s.following("status", id, "doing"))
			s.LookAtOpenFiles(s.helper)
			s.settle()
			s.Look("item", converged, map[string]string{"item_id": id})
			s.LookAtOpenFiles(s.helper)
			s.SearchFiles("library", canary)
			s.SearchFiles("sidecar", canary)
			s.delete(id, t)
			s.Look("writes", converged, nil)
		}),
		Judge: judge.All(judge.ThroughRepository, judge.CanarySealed, judge.HelperKeepsOut),
	},
}

// helperKeepsOut is the part of WR-29 that is about the helper: with the app
// stopped nobody else uses the library, so that every opening of its files, however
// short, is the helper's.
var helperKeepsOut = suites.Test{
	ID: "WR-29/helper-keeps-out-of-the-library", Clauses: []string{"WR-29"},
	Title:   "the helper opens no file of the library while it accepts and reads, with the app stopped",
	NotFor:  noTool("status"),
	Missing: noStore("library"),
	Drive: on(func(s *scene) {
		s.begin()
		t := s.newTask()
		id := s.start(t)
		s.awaitItem(id)
		s.settle()
		s.StopProcess("app")
		opened := s.WatchOpenings("library")
		defer opened.Close()
		s.note(id, s.Word("a note"))
		s.helper.Do(s.following("status", id, "doing"))
		s.get(id, early)
		s.start(s.newTask())
		s.start(s.again(t))
		s.helper = s.helper.Restarted()
		s.get(id, early)
		opened.Look(early)
		opened.Control()
		opened.Look("control")
	}),
	Judge: judge.NeverOpened("library"),
}

// delete is the person's deletion of an item whose queue is empty.
func (s *scene) delete(id string, t task) {
	s.Act("delete", map[string]string{"item_id": id})
	s.Mark("deleted", map[string]any{"item_id": id, "task_key": t.key})
	s.awaitDead(id)
}

// deleteWithQueue is the person's deletion of an item while notes are queued on it.
func (s *scene) deleteWithQueue(id string, t task) {
	s.deleteWithQueueBy(id, t, func() { s.Act("delete", map[string]string{"item_id": id}) })
}

// deleteWithQueueBy has the person delete an item in a way of its own while notes
// are queued on it: the library is locked by its user, so that they cannot be
// applied first.
func (s *scene) deleteWithQueueBy(id string, t task, act func()) {
	s.Act("lock", nil)
	s.notes(id, "queued note", 3)
	s.awaitAttempts(id, 1)
	queued := []any{}
	for _, row := range s.Look("intents", "queued", map[string]string{"item_id": id}).Rows {
		if row["state"] != "applied" && row["state"] != "failed" {
			queued = append(queued, row["seq"])
		}
	}
	act()
	s.Mark("deleted", map[string]any{"item_id": id, "task_key": t.key, "queued": queued})
	s.awaitDead(id)
	s.Act("unblock", nil)
	s.noteAbout("dead", id)
	s.settle()
}

// awaitDead waits until the anchor of a deleted item is dead; that it never may
// be is for the judges to say.
func (s *scene) awaitDead(id string) {
	s.Await("a dead anchor", func() bool {
		rows := s.Peek("anchor", map[string]string{"item_id": id})
		return len(rows) > 0 && rows[0]["state"] == "dead"
	})
}
