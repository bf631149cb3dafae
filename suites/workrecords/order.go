package workrecords

import (
	"fmt"
	"slices"

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
	heldUp("WR-05/behind-a-note-that-was-turned-away", "WR-05", "notes that come behind one that was turned away are applied behind it", 1, 3, judge.StartFirst),
	kindsAcrossKills,
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

// kindsAcrossKills is the part of WR-05 that is about all kinds of command, and
// about both processes: what is accepted before a login is applied behind it, and
// each time the app is killed when it has just begun to.
var kindsAcrossKills = suites.Test{
	ID: "WR-05/kinds-across-kills-of-both", Clauses: []string{"WR-05"},
	NotFor: suites.First(noTool("status"), noTool("complete")),
	Title:  "notes, statuses and a completion apply in accepted order, although helper and app are killed between them",
	Faults: []string{"login-held", "kill-at-answer", "kill-at-stored"},
	Drive: on(func(s *scene) {
		login := s.beginWithLoginHeld()
		s.ended("complete") // shows the status that a completion asks for
		id := s.start(s.newTask())
		const rounds = 3
		for r := range rounds {
			s.mixed(id, fmt.Sprintf("round %d", r))
			if r == rounds-1 {
				s.helper.Do(s.following("complete", id, ""))
			}
			s.killedMidway(id, login.Release)
			s.LookAtRest("intents", midway, map[string]string{"item_id": id})
			if r < rounds-1 {
				login = s.HoldLogin()
			}
			s.Launch(world.Only("app"))
		}
		s.settle()
		s.lookAtEnd()
	}),
	Judge: judge.All(judge.Placed("login-held", 3), judge.Placed("kill-at-answer", 3), judge.Placed("kill-at-stored", 3),
		judge.AppliedInOrder, judge.StartFirst, judge.NotesOnRecord("WR-05", 3*mixedNotes)),
}

// mixedNotes is how many notes one call of mixed sends.
const mixedNotes = 7

// mixed sends notes and statuses by turns, and the helper is killed as its answer
// to the one in the middle leaves.
func (s *scene) mixed(id, round string) {
	for i := range mixedNotes {
		note := s.noting(id, s.Word(fmt.Sprintf("%s note %d", round, i+1)))
		if i == mixedNotes/2 {
			s.helper.KilledAsAnswerLeaves(note)
			s.helper = s.NewCaller()
		} else {
			s.helper.Do(note)
		}
		s.helper.Do(s.following("status", id, []string{"doing", "waiting"}[i%2]))
	}
}

// midway is the moment at which an app was killed with a queue half applied.
const midway = "midway"

// killedMidway lets the app begin, and kills it once it has applied two intents of
// an item more than before.
func (s *scene) killedMidway(id string, begin func()) {
	applied := func() (n int) {
		for _, row := range s.Peek("intents", map[string]string{"item_id": id}) {
			if row["state"] == "applied" {
				n++
			}
		}
		return n
	}
	before := applied()
	s.KilledOnceShown("app", "two more intents are applied", world.Proof{
		Probe: "intents", Params: map[string]string{"item_id": id},
		Rows: func(rows []map[string]any) bool {
			return len(slices.DeleteFunc(slices.Clone(rows), func(row map[string]any) bool { return row["state"] != "applied" })) >= before+2
		},
	}, begin)
}

// heldUp is a queue whose head a busy library turns away, at least so many times,
// with so many notes that come behind it then. WR-05 is about their order, WR-21
// about the attempts.
func heldUp(id, clause, title string, attempts, behind int, rule judge.Rule) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{clause}, Faults: []string{"store-busy"},
		Title:   title,
		Missing: noStore("library"),
		Drive: on(func(s *scene) {
			s.begin()
			item := s.start(s.newTask())
			s.awaitItem(item)
			s.settle()
			busy := s.Occupy("library")
			s.note(item, s.Word("the note that is turned away"))
			s.awaitAttempts(item, 1)
			s.notes(item, "a note behind it", behind)
			s.Look("intents", held, map[string]string{"item_id": item})
			s.awaitAttempts(item, attempts)
			s.Look("intents", held, map[string]string{"item_id": item})
			busy.Release()
			s.settle()
			s.lookAtEnd()
		}),
		Judge: judge.All(judge.Placed("store-busy", 1), judge.KeptWhileTransient(clause, attempts), rule, judge.NotesOnRecord(clause, behind+1)),
	}
}

// followedUp is the rest of WR-04: every kind of follow-up right after a start,
// with the app stopped, is accepted under the issued ID and applied later.
func followedUp(last string) suites.Test {
	return suites.Test{
		ID: "WR-04/" + last + "-right-after-start", Clauses: []string{"WR-04"},
		NotFor: suites.First(noTool("status"), noTool(last)),
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
