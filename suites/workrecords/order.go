package workrecords

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// manyNotes is the number that the contract names in WR-04.
const manyNotes = 67

var order = []suites.Test{
	{
		ID: "WR-04/67-notes-with-the-app-stopped", Clauses: []string{"WR-04"},
		Title: "67 notes after one start, with the app stopped, are durable and come out once each, in order",
		Drive: on(func(s *scene) {
			s.beginWithoutApp()
			id := s.start(s.newTask())
			s.notes(id, "note", manyNotes)
			s.Look("intents", early, map[string]string{"item_id": id})
			s.Launch(world.Only("app"))
			s.settle()
			s.lookAtEnd()
		}),
		Judge: judge.All(judge.FollowUpsQueued("WR-04", "note"), judge.NotesStored, judge.NotesOnRecord("WR-04", manyNotes)),
	},
	followedUp("complete"),
	followedUp("cancel"),
	behindTurnedAway,
	{
		ID: "WR-05/order-across-kills-of-the-helper", Clauses: []string{"WR-05"},
		Title:  "notes apply in accepted order although the helper is killed between them",
		Faults: []string{"kill-at-answer"},
		Drive: on(func(s *scene) {
			s.begin()
			id := s.start(s.newTask())
			const rounds, each = 3, 4
			for r := range rounds {
				s.notes(id, fmt.Sprintf("round %d note", r), s.Choose(fmt.Sprintf("notes-%d", r), each)+1)
				s.helper.KilledAsAnswerLeaves(s.noting(id, s.Word(fmt.Sprintf("last of round %d", r))))
				s.helper = s.NewCaller()
			}
			s.settle()
			s.lookAtEnd()
		}),
		Judge: judge.All(judge.Placed("kill-at-answer", 3), judge.StartFirst, judge.NotesOnRecord("WR-05", 6)),
	},
	{
		ID: "WR-05/order-across-kills-of-the-app", Clauses: []string{"WR-05"},
		Title:  "notes apply in accepted order although the app is killed while notes are waiting for it",
		Faults: []string{"kill-at-stored"},
		Drive: on(func(s *scene) {
			s.begin()
			id := s.start(s.newTask())
			const rounds, each = 3, 8
			for r := range rounds {
				s.KilledAtStored("app", s.noting(id, s.Word(fmt.Sprintf("first of round %d", r))), s.helper)
				s.notes(id, fmt.Sprintf("round %d note", r), each)
				s.Launch(world.Only("app"))
			}
			s.settle()
			s.lookAtEnd()
		}),
		Judge: judge.All(judge.Placed("kill-at-stored", 3), judge.StartFirst, judge.NotesOnRecord("WR-05", 3*9)),
	},
}

// behindTurnedAway is the part of WR-05 in which the head of a queue has failed
// once for a transient cause when others come behind it.
var behindTurnedAway = suites.Test{
	ID: "WR-05/behind-a-note-that-was-turned-away", Clauses: []string{"WR-05"},
	Title:   "notes that come behind one that was turned away are applied behind it",
	Faults:  []string{"store-busy"},
	Missing: noStore("library"),
	Drive: on(func(s *scene) {
		s.begin()
		id := s.start(s.newTask())
		s.awaitItem(id)
		s.settle()
		busy := s.Occupy("library")
		s.note(id, s.Word("the note that is turned away"))
		s.awaitAttempts(id, 1)
		s.notes(id, "a note behind it", 3)
		s.Look("intents", held, map[string]string{"item_id": id})
		busy.Release()
		s.settle()
		s.lookAtEnd()
	}),
	Judge: judge.All(judge.Placed("store-busy", 1), judge.KeptWhileTransient("WR-05", 1), judge.StartFirst, judge.NotesOnRecord("WR-05", 4)),
}

// followedUp is the rest of WR-04: every kind of follow-up right after a start,
// with the app stopped, is accepted under the issued ID and applied later.
func followedUp(last string) suites.Test {
	return suites.Test{
		ID: "WR-04/" + last + "-right-after-start", Clauses: []string{"WR-04"},
		NotFor: first(noTool("status"), noTool(last)),
		Title:  "note, status and " + last + " right after a start are accepted and queued",
		Drive: on(func(s *scene) {
			s.beginWithoutApp()
			id := s.start(s.newTask())
			s.note(id, s.Word("a note"))
			s.helper.Do(s.following("status", id, "doing"))
			s.helper.Do(s.following(last, id, ""))
			s.Look("intents", early, map[string]string{"item_id": id})
			s.Launch(world.Only("app"))
			s.settle()
			s.lookAtEnd()
		}),
		Judge: judge.All(judge.FollowUpsQueued("WR-04", "note", "status", last), judge.NotesStored, judge.AllApplied("WR-04", 4), judge.NotesOnRecord("WR-04", 1)),
	}
}
