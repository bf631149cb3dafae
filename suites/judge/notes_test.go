package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// threeNotes is an item with a first note and three more, one after the other,
// the third of which was retried because its answer was lost.
func threeNotes() history.History {
	s := newStory()
	start := params("task_key", "t1", "title", "Title", "key", "start", "text", "first")
	s.call("start", start, done("item_id", "i1", "state", "queued")) // c1
	note := func(text string) map[string]string { return params("item_id", "i1", "text", text, "key", "note "+text) }
	s.call("note", note("one"), done("state", "queued"))   // c2
	s.call("note", note("two"), unknown())                 // c3
	s.call("note", note("two"), done("state", "queued"))   // c4
	s.call("note", note("three"), done("state", "queued")) // c5
	s.look("item", "converged", item("i1"), row("item_id", "i1", "notes", list("first", "one", "two", "three")))
	return s.told()
}

func recordShows(notes ...string) edit { return cell("item", "converged", 0, "notes", list(notes...)) }

func TestNotesOnRecord(t *testing.T) {
	const clause = "WR-05"
	missing := func(n, text string) []reports.Finding {
		return finds(broken(clause, n+" acknowledged notes are not on the record", "item i1", "missing: "+text))
	}
	swapped := func(earlier, later, shown string) []reports.Finding {
		return finds(broken(clause, "the notes are not in the order in which they were accepted", "item i1",
			`"`+earlier+`" was accepted before "`+later+`" was sent, and stands behind it`, "on the record: "+shown))
	}
	strange := func(shown string) []reports.Finding {
		return finds(broken(clause, "the record shows notes that nobody was told were accepted, or one of them twice", "item i1", "shown: "+shown))
	}
	rules(t, NotesOnRecord(clause, 4), threeNotes(),
		variant{"a lost note", edits(recordShows("first", "one", "three")), missing("1 of 4", `"two"`), nil},
		variant{"the first note is lost", edits(recordShows("one", "two", "three")), missing("1 of 4", `"first"`), nil},
		variant{"all notes are lost", edits(recordShows()), missing("4 of 4", `"first", "one", "two", "three"`), nil},
		variant{"a record without a list of notes shows none", edits(noColumn("item", "converged", "notes")), missing("4 of 4", `"first", "one", "two", "three"`), nil},
		variant{"half a note", edits(recordShows("first", "one", "tw", "three")),
			append(missing("1 of 4", `"two"`), strange(`"tw"`)...), nil},
		variant{"a repeated note", edits(recordShows("first", "one", "two", "three", "one")),
			finds(broken(clause, "1 of 4 acknowledged notes are on the record more than once", "item i1", `repeated: "one"`)), nil},
		variant{"the retried note stands twice", edits(recordShows("first", "one", "two", "two", "three")),
			finds(broken(clause, "1 of 4 acknowledged notes are on the record more than once", "item i1", `repeated: "two"`)), nil},
		variant{"two notes swapped", edits(recordShows("first", "two", "one", "three")), swapped("one", "two", `"first", "two", "one", "three"`), nil},
		variant{"the retried note is swapped with a later one", edits(recordShows("first", "one", "three", "two")),
			swapped("two", "three", `"first", "one", "three", "two"`), nil},
		variant{"the first note comes behind another", edits(recordShows("one", "first", "two", "three")),
			swapped("first", "one", `"one", "first", "two", "three"`), nil},
		variant{"a note that nobody sent", edits(recordShows("first", "one", "two", "three", "phantom")), strange(`"phantom"`), nil},
		variant{"no record", edits(shows("item", "converged")),
			finds(broken(clause, "notes were acknowledged and there is no record", "4 notes on item i1 were acknowledged")), nil},
		variant{"two records under one ID", edits(rowsLater("item", "converged", row("item_id", "i1", "notes", list()))),
			finds(broken(clause, "one item ID has several records", "item i1: 2 records")), nil},
		variant{"the record was never looked at", edits(noLook("item", "converged")), nil,
			[]string{"the record of item i1 was not seen at the end", "4 acknowledged notes were needed for a judgement, 0 were there"}},
		variant{"the look at the record failed", edits(lookFails("item", "converged")), nil,
			[]string{"the record of item i1 was not seen at the end", "4 acknowledged notes were needed for a judgement, 0 were there"}},
		variant{"the notes are no list", edits(cell("item", "converged", 0, "notes", "first, one")), nil,
			[]string{"the notes of item i1 are no list: first, one", "4 acknowledged notes were needed for a judgement, 0 were there"}},
		variant{"the notes come as JSON in a text", edits(cell("item", "converged", 0, "notes", `["first","one","two","three"]`)), nil, nil},
		variant{"the notes are objects", edits(cell("item", "converged", 0, "notes",
			[]any{row("text", "first"), row("text", "one"), row("text", "two"), row("text", "three")})), nil, nil},
		variant{"too few were acknowledged", edits(noCall("c5"), recordShows("first", "one", "two")), nil,
			[]string{"4 acknowledged notes were needed for a judgement, 3 were there"}},
		variant{"a refused note is on the record", edits(ends("c5", refused("permanent", "no"))),
			strange(`"three"`), nil},
		variant{"a note of unknown outcome came after all", edits(ends("c5", unknown())), nil,
			[]string{"4 acknowledged notes were needed for a judgement, 3 were there"}},
		variant{"a note of unknown outcome came before what was acknowledged then", edits(ends("c5", unknown()), recordShows("first", "three", "one", "two")),
			swapped("one", "three", `"first", "three", "one", "two"`), nil},
		variant{"a note of unknown outcome stands twice", edits(ends("c5", unknown()), recordShows("first", "one", "two", "three", "three")),
			strange(`"three", "three"`), nil},
		variant{"the start was never answered, so that its item is not known", edits(neverReturned("c1"), recordShows("one", "two", "three")), nil,
			[]string{"4 acknowledged notes were needed for a judgement, 3 were there"}},
	)
}

func TestNotesThatMayStandEitherWay(t *testing.T) {
	note := func(text string) map[string]string { return params("item_id", "i1", "text", text, "key", text) }
	tests := []struct {
		name string
		tell func(*story)
		// both orders of the notes a and b are right, or only a before b
		both bool
	}{
		{"one after the other", func(s *story) {
			s.call("note", note("a"), done())
			s.call("note", note("b"), done())
		}, false},
		{"concurrent", func(s *story) {
			a := s.invoke("note", note("a"))
			b := s.invoke("note", note("b"))
			s.end(b, done())
			s.end(a, done())
		}, true},
		{"a was retried before b was sent", func(s *story) {
			s.call("note", note("a"), unknown())
			s.call("note", note("a"), done())
			s.call("note", note("b"), done())
		}, false},
		{"a was retried after b was accepted", func(s *story) {
			s.call("note", note("a"), unknown())
			s.call("note", note("b"), done())
			s.call("note", note("a"), done())
		}, true},
		{"b was refused for a while before a was sent", func(s *story) {
			s.call("note", note("b"), refused("transient", "busy"))
			s.call("note", note("a"), done())
			s.call("note", note("b"), done())
		}, false},
		{"b was first sent before a was accepted", func(s *story) {
			s.call("note", note("b"), unknown())
			s.call("note", note("a"), done())
			s.call("note", note("b"), done())
		}, true},
		{"a was acknowledged twice, the second time after b", func(s *story) {
			s.call("note", note("a"), done())
			s.call("note", note("b"), done())
			s.call("note", note("a"), done("replayed", true))
		}, false},
		{"b never came back, sent when a had been accepted", func(s *story) {
			s.call("note", note("a"), done())
			s.invoke("note", note("b"))
		}, false},
		{"a never came back", func(s *story) {
			s.invoke("note", note("a"))
			s.call("note", note("b"), done())
		}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, shown := range [][]string{{"a", "b"}, {"b", "a"}} {
				s := newStory()
				tt.tell(s)
				s.look("item", "converged", item("i1"), row("notes", list(shown...)))
				r := NotesOnRecord("WR-05", 1)(s.told())
				right := shown[0] == "a" || tt.both
				if held := len(r.Findings) == 0 && len(r.Doubts) == 0; held != right {
					t.Errorf("the record shows %v: held %t, expected %t\n%s%q", shown, held, right, told(r.Findings), r.Doubts)
				}
			}
		})
	}
}

func TestNotesOfOtherItems(t *testing.T) {
	s := newStory()
	s.call("start", params("task_key", "t1", "key", "k1"), done("item_id", "i1"))
	s.call("start", params("task_key", "t2", "key", "k2"), done("item_id", "i2"))
	s.call("note", params("item_id", "i1", "text", "n", "key", "n"), done())
	s.call("note", params("item_id", "i1", "text", "n more", "key", "n more"), done())
	s.call("note", params("item_id", "gone", "text", "never accepted", "key", "x", "about", "never-issued"), refused("permanent", "never_issued"))
	s.look("item", "converged", item("i1"), row("notes", list("n", "n more")))
	s.look("item", "converged", item("i2"), row("notes", nil))
	rules(t, NotesOnRecord("WR-04", 2), s.told(),
		variant{"a note went to an item that was sent none",
			edits(each("look i2", func(e history.Event) bool { return e.Look != nil && e.Look.Params["item_id"] == "i2" },
				func(e *history.Event) { e.Look.Rows[0]["notes"] = list("n") })),
			finds(broken("WR-04", "the record shows notes that nobody was told were accepted, or one of them twice", "item i2", `shown: "n"`)), nil},
		variant{"an item that was sent none was not looked at", edits(removed("look i2", func(e history.Event) bool {
			return e.Look != nil && e.Look.Params["item_id"] == "i2"
		})), nil, nil},
	)
}

func TestEqualTextsUnderDifferentKeys(t *testing.T) {
	s := newStory()
	for _, key := range []string{"k1", "k2"} {
		s.call("note", params("item_id", "i1", "text", "same", "key", key), done())
	}
	s.call("note", params("item_id", "i1", "text", "same", "key", "k3"), unknown())
	s.look("item", "converged", item("i1"), row("notes", list("same", "same")))
	rules(t, NotesOnRecord("WR-07", 2), s.told(),
		variant{"the one of unknown outcome came too", edits(recordShows("same", "same", "same")), nil, nil},
		variant{"one of the accepted ones is lost", edits(recordShows("same")),
			finds(broken("WR-07", "1 of 2 acknowledged notes are not on the record", "item i1", `missing: "same"`)), nil},
		variant{"one more than were sent", edits(recordShows("same", "same", "same", "same")),
			finds(broken("WR-07", "1 of 2 acknowledged notes are on the record more than once", "item i1", `repeated: "same"`)), nil},
	)
}

func TestFirstNoteOnARecordThatWasThere(t *testing.T) {
	s := newStory()
	s.call("start", params("task_key", "t1", "key", "k1"), done("item_id", "i1"))
	s.call("note", params("item_id", "i1", "text", "before", "key", "n"), done())
	s.call("start", params("task_key", "t1", "key", "k2", "text", "with the second start"), done("item_id", "i1", "existing", true))
	s.look("item", "converged", item("i1"), row("notes", list("before", "with the second start")))
	rules(t, NotesOnRecord("WR-16", 2), s.told())
}
