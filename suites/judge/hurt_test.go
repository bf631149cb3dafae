package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// hurtStore is DU-22: an undamaged copy that reads, and one file cut in half.
func hurtStore() history.History {
	s := newStory()
	s.n = -1
	s.call("read", params("moment", "first"), showing(`{"notes": []}`))                       // c0
	s.call("write", value("one"), done())                                                     // c1
	s.call("write", value("two"), done())                                                     // c2
	s.call("read", params("moment", "whole"), done("values", list("one", "two")))             // c3
	s.mark("store-damaged", "run", "r1", "file", "notes", "was", 100, "is", 50, "log", false) //
	s.call("read", params("moment", "hurt", "run", "r1"), refused("", "damaged"))             // c4
	s.call("write", value("three", "run", "r1"), refused("", "damaged"))                      // c5
	s.look("damaged-file", "", params("run", "r1"), row("file", "notes"))                     //
	s.mark("store-damaged", "run", "r2", "file", "index", "was", 10, "is", 5, "log", false)   //
	s.call("read", params("moment", "hurt", "run", "r2"), done("values", list("one", "two"))) // c6
	s.call("write", value("four", "run", "r2"), done())                                       // c7
	s.look("damaged-file", "", params("run", "r2"))                                           //
	return s.told()
}

// showing is a read's answer of one text, with what the target file's jq finds in it.
func showing(text string, values ...string) ending {
	e := text1(text)
	e.Fields = row("values", list(values...))
	return e
}

func hurtShows(values ...string) edit { return ends("c4", showing(`{"notes": ["…"]}`, values...)) }

func TestHurtStoreIsTold(t *testing.T) {
	empty := "its answer: " + string(text1(`{"notes": ["…"]}`).Answer)
	inWords, noNotes := string(text1("Error: cannot parse").Answer), string(text1("No notes yet.").Answer)
	const left = "notes: 50 of 100 bytes were left"
	asLog := each("the mark of r1", func(e history.Event) bool {
		return e.Kind == history.KindMark && e.Mark.Data["run"] == "r1"
	}, func(e *history.Event) { e.Mark.Data["log"] = true })
	overwritten := each("the look of r1", func(e history.Event) bool {
		return e.Kind == history.KindLook && e.Look.Params["run"] == "r1"
	}, func(e *history.Event) { e.Look.Rows = nil })
	refusedToStart := each("the mark of r2", func(e history.Event) bool {
		return e.Kind == history.KindMark && e.Mark.Data["run"] == "r2"
	}, func(e *history.Event) { e.Mark.Name, e.Mark.Data["run"] = "server-refused", "r1" })
	rules(t, HurtStoreIsTold, hurtStore(),
		variant{"taken for empty", edits(hurtShows()),
			finds(broken("DU-22", "a damaged store is taken for an empty one", left, "read back by call c4: 0 of 2 acknowledged writes", empty)), nil},
		variant{"a text for an answer, where an empty store is none", edits(ends("c4", showing("Error: cannot parse"))), nil, []string{
			"with notes damaged work_read answered as a success, without any of the writes, and not as an empty store is; is that a refusal? Say by refused in profiles.durability.read what its refusals look like. Its answer: " + inWords + "; of an empty store: " + string(text1(`{"notes": []}`).Answer)}},
		variant{"other words than of an empty store", edits(ends("c0", showing("No notes yet.")), ends("c4", showing("Error: cannot parse", "Error: cannot parse"))), nil, []string{
			"with notes damaged work_read answered as a success, without any of the writes, and not as an empty store is; is that a refusal? Say by refused in profiles.durability.read what its refusals look like. Its answer: " + inWords + "; of an empty store: " + noNotes}},
		variant{"the words of an empty store", edits(ends("c0", showing("No notes yet.")), ends("c4", showing("No notes yet."))),
			finds(broken("DU-22", "a damaged store is taken for an empty one", left, "read back by call c4: 0 of 2 acknowledged writes", "its answer: "+noNotes)), nil},
		variant{"how an empty store is answered is not known", edits(noCall("c0"), hurtShows()), nil, []string{
			"with notes damaged work_read answered as a success, without any of the writes, and how it answers for an empty store is not known"}},
		variant{"half of it is a success", edits(hurtShows("one")),
			finds(broken("DU-22", "a damaged store is answered as a success", left, "read back by call c4: 1 of 2 acknowledged writes")), nil},
		variant{"half of a log is read on", edits(hurtShows("one"), asLog), nil, nil},
		variant{"a log is taken for empty", edits(hurtShows(), asLog),
			finds(broken("DU-22", "a damaged store is taken for an empty one", left, "read back by call c4: 0 of 2 acknowledged writes", empty)), nil},
		variant{"overwritten by the next write", edits(ends("c5", done()), overwritten),
			finds(broken("DU-22", "a damaged store is overwritten", left, "the next write c5: done: ", "no file holds what it held then")), nil},
		variant{"told, put aside and begun anew", edits(ends("c5", done())), nil, nil},
		variant{"the server does not start", edits(noCall("c4", "c5", "c6", "c7"), refusedToStart), nil, nil},
		variant{"nobody read", edits(noCall("c4")), nil, []string{
			"what is read of the store with notes damaged is not known",
		}},
		variant{"nothing is missed", edits(hurtShows("one", "two")), nil,
			[]string{"no damage of 2 files kept the writes from being read, so that nothing was there to be told"}},
		variant{"the undamaged copy does not read", edits(ends("c3", refused("", ""))), nil,
			[]string{"the undamaged copy of the store did not show 2 acknowledged writes, so that what is told of a damaged one says nothing"}},
		variant{"the undamaged copy lacks one", edits(field("c3", "values", list("one"))), nil,
			[]string{"the undamaged copy of the store did not show 2 acknowledged writes, so that what is told of a damaged one says nothing"}},
	)
}
