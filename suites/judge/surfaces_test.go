package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// noteBeforeLogin is the end of WR-36.
func noteBeforeLogin() history.History { return noteShownBy("card") }

// noteShownBy is the same with the card as a probe has seen it.
func noteShownBy(probe string) history.History {
	s := newStory()
	s.call("start", params("task_key", "t1", "title", "Title", "key", "k1"), done("item_id", "i1")) // c1
	s.look("anchor", "converged", item("i1"), row("item_id", "i1", "state", "live"))
	s.look("item", "converged", item("i1"), row("title", "Title", "status", "doing", "notes", []any{row("text", "n1"), row("text", "n2")}))
	s.look(probe, "converged", item("i1"), row("title", "Title", "status", "doing", "notes", list("n1", "n2")))
	s.call("get", and(item("i1"), "moment", "converged"), // c2
		done("item_id", "i1", "materialized", true, "anchor", "live", "title", "Title", "status", "doing", "notes", list("n1", "n2")))
	s.call("status", and(item("i1"), "status", "doing"), done())                                    // c3
	s.call("start", params("task_key", "t1", "title", "Title", "key", "k1"), done("item_id", "i1")) // c4: told once
	return s.told()
}

func TestSurfacesAgree(t *testing.T) {
	unseen := func(which string) []string {
		return []string{"a surface was not seen at the end for item i1: " + which}
	}
	notLive := func(materialized, anchor string) variant {
		return variant{finds: finds(broken("WR-36", "the answer does not say that the record is live", "done: materialized "+materialized+`, anchor "`+anchor+`"`))}
	}
	notes := func(library, other string) variant {
		return variant{finds: finds(broken("WR-36", "the surfaces disagree about the notes", "library: "+library, other))}
	}
	named := func(v variant, name string, e ...edit) variant { v.name, v.edits = name, e; return v }
	rules(t, SurfacesAgree, noteBeforeLogin(),
		named(notLive("false", "live"), "the answer says that it is not there", field("c2", "materialized", false)),
		named(notLive("true", "provisional"), "the answer says provisional", field("c2", "anchor", "provisional")),
		variant{"the read is refused", edits(ends("c2", refused("permanent", "never_issued"))),
			finds(broken("WR-36", "the answer does not say that the record is live", `refused: materialized <nil>, anchor ""`)), nil},
		variant{"the anchor is not live", edits(cell("anchor", "converged", 0, "state", "provisional")),
			finds(broken("WR-36", "the sidecar does not hold one live anchor", `item i1: "provisional"`)), nil},
		variant{"the anchor is gone", edits(shows("anchor", "converged")),
			finds(broken("WR-36", "the sidecar does not hold one live anchor", "item i1: nothing")), nil},
		variant{"the card is missing", edits(shows("card", "converged")),
			finds(broken("WR-36", "the record is not there once in the library and once as a card", "item i1: 1 in the library, 0 cards")), nil},
		variant{"two items", edits(rowsLater("item", "converged", row("title", "Title"))),
			finds(broken("WR-36", "the record is not there once in the library and once as a card", "item i1: 2 in the library, 1 cards")), nil},
		variant{"the card shows another status", edits(cell("card", "converged", 0, "status", "done")),
			finds(broken("WR-36", "the surfaces disagree about the status", `library: "doing"`, `answer: "doing"`, `card: "done"`)), nil},
		variant{"the answer shows another title", edits(field("c2", "title", "Title: cut")),
			finds(broken("WR-36", "the surfaces disagree about the title", `library: "Title"`, `answer: "Title: cut"`, `card: "Title"`)), nil},
		variant{"all show another title than the one sent", edits(param("c1", "title", "Title, whole")),
			finds(broken("WR-36", "the record has another title than the one sent", `sent: "Title, whole"`, `library: "Title"`)), nil},
		named(notes(`"n1", "n2"`, `card: "n1"`), "the card lacks a note", cell("card", "converged", 0, "notes", list("n1"))),
		named(notes(`"n1", "n2"`, `answer: "n2", "n1"`), "the answer has them in another order", field("c2", "notes", list("n2", "n1"))),
		named(notes(`"n1", "n2"`, "answer: nothing"), "the answer has none", noField("c2", "notes")),
		variant{"the answer shows no status at all", edits(noField("c2", "status")),
			finds(broken("WR-36", "the surfaces disagree about the status", `library: "doing"`, `answer: ""`, `card: "doing"`)),
			[]string{"the answer of item i1 shows no status"}},
		variant{"no surface shows the status", edits(noField("c2", "status"), noColumn("item", "converged", "status"), noColumn("card", "converged", "status")), nil,
			[]string{"the library of item i1 shows no status", "the answer of item i1 shows no status", "the card of item i1 shows no status"}},
		variant{"the notes of a card are no list", edits(cell("card", "converged", 0, "notes", "n1 n2")), nil, []string{"the notes of item i1 in the card are no list"}},
		variant{"the card was not looked at", edits(noLook("card", "converged")), nil, unseen("answer true, sidecar true, library true, card false")},
		variant{"the sidecar was not looked at", edits(noLook("anchor", "converged")), nil, unseen("answer true, sidecar false, library true, card true")},
		variant{"the look at the library failed", edits(lookFails("item", "converged")), nil, unseen("answer true, sidecar true, library false, card true")},
		variant{"nothing was read", edits(noCall("c2")), nil, unseen("answer false, sidecar true, library true, card true")},
		variant{"the read got no answer", edits(ends("c2", unknown())), nil, unseen("answer false, sidecar true, library true, card true")},
		variant{"a follow-up was not acknowledged", edits(param("c3", "status", "doing"), ends("c3", refused("permanent", "no_such_status"))), nil,
			[]string{"call c3 (status) was not acknowledged: refused"}},
		variant{"a follow-up got no answer", edits(neverReturned("c3")), nil, []string{"call c3 (status) was not acknowledged: unknown"}},
		variant{"no start was acknowledged", edits(ends("c1", unknown()), noCall("c4")), nil, []string{"no start was acknowledged"}},
	)
}

func TestSurfacesAgreeInBrowser(t *testing.T) {
	const probe = "card-in-the-browser"
	const unseen = "a surface was not seen at the end for item i1: answer true, sidecar true, library true, card in the browser false"
	// A look without scripts is no look in a browser.
	expectRuling(t, SurfacesAgreeInBrowser, noteBeforeLogin(), nil, []string{unseen})
	rules(t, SurfacesAgreeInBrowser, noteShownBy(probe),
		variant{"a note is in the page and not to be seen", edits(cell(probe, "converged", 0, "notes", list("n1"))),
			finds(broken("WR-36", "the surfaces disagree about the notes", `library: "n1", "n2"`, `card in the browser: "n1"`)), nil},
		variant{"another status is to be seen", edits(cell(probe, "converged", 0, "status", "todo")),
			finds(broken("WR-36", "the surfaces disagree about the status", `library: "doing"`, `answer: "doing"`, `card in the browser: "todo"`)), nil},
		variant{"the card is in the page and not to be seen", edits(shows(probe, "converged")),
			finds(broken("WR-36", "the record is not there once in the library and once as a card", "item i1: 1 in the library, 0 cards")), nil},
		variant{"the title is not to be seen", edits(noColumn(probe, "converged", "title")),
			finds(broken("WR-36", "the surfaces disagree about the title", `library: "Title"`, `answer: "Title"`, `card in the browser: ""`)),
			[]string{"the card in the browser of item i1 shows no title"}},
		variant{"the page was never opened", edits(noLook(probe, "converged")), nil, []string{unseen}},
		variant{"the page could not be opened", edits(lookFails(probe, "converged")), nil, []string{unseen}},
	)
}

// throughTheRepository is WR-29.
func throughTheRepository() history.History {
	s := newStory()
	s.mark("canary", "text", "canary ~1", "item_id", "i1")
	s.look("open-files", "", params("process", "helper.1"), row("store", "sidecar", "file", "sidecar.db"))
	s.look("item", "converged", item("i1"), row("notes", list("canary ~1")))
	s.look("open-files", "", params("process", "helper.1"), row("store", "sidecar", "file", "sidecar.db"), row("store", "sidecar", "file", "sidecar.db-wal"))
	s.look("library-files", "converged", nil, row("file", "library.db", "found", false), row("file", "library.db-wal", "found", false))
	s.look("sidecar-files", "converged", nil, row("file", "sidecar.db", "found", true))
	s.look("writes", "converged", nil,
		row("seq", 1, "op", "create", "item_id", "i1", "envelopes", 1, "events", 1),
		row("seq", 2, "op", "update", "item_id", "i1", "envelopes", 1, "events", 1),
		row("seq", 3, "op", "delete", "item_id", "i1", "envelopes", 1, "events", 1))
	s.look("item", "deleted", item("i1"))
	return s.told()
}

func TestThroughRepository(t *testing.T) {
	lacks := func(fact string) variant {
		return variant{finds: finds(broken("WR-29", "a library write did not come with one sync envelope and one refresh event", fact))}
	}
	named := func(v variant, name string, e ...edit) variant { v.name, v.edits = name, e; return v }
	rules(t, ThroughRepository, throughTheRepository(),
		named(lacks("write 3 (delete of item i1): 0 envelopes, 1 event"), "a deletion without an envelope", cell("writes", "converged", 2, "envelopes", 0)),
		named(lacks("write 2 (update of item i1): 1 envelope, 0 events"), "an update without an event", cell("writes", "converged", 1, "events", 0)),
		named(lacks("write 1 (create of item i1): 2 envelopes, 1 event"), "two envelopes", cell("writes", "converged", 0, "envelopes", 2)),
		named(lacks("write 2 (update of item i1): 0 envelopes, 0 events"), "neither is told of one write", each("writes", isLook("writes", "converged"), func(e *history.Event) {
			delete(e.Look.Rows[1], "envelopes")
			e.Look.Rows[1]["events"] = nil
		})),
		variant{"numbers as texts", edits(cell("writes", "converged", 0, "envelopes", "1"), cell("writes", "converged", 1, "events", "1")), nil, nil},
		variant{"no deletion", edits(noRow("writes", "converged", 2)), nil, []string{"no delete was seen in the library's write log"}},
		variant{"no write at all", edits(shows("writes", "converged")), nil, []string{
			"no create was seen in the library's write log", "no update was seen in the library's write log", "no delete was seen in the library's write log"}},
		variant{"the log was not looked at", edits(noLook("writes", "converged")), nil, []string{"the library's write log was not seen at the end"}},
		variant{"the look failed", edits(lookFails("writes", "converged")), nil, []string{"the library's write log was not seen at the end"}},
		variant{"the probe shows no envelopes", edits(noColumn("writes", "converged", "envelopes")), nil, []string{`the probe writes shows no column "envelopes"`}},
	)
}

func TestCanarySealed(t *testing.T) {
	const unseen = "the canary was not seen on the read surface"
	clear := func(file string) variant {
		return variant{finds: finds(broken("WR-29", "content stands in a library file in clear", "file "+file))}
	}
	named := func(v variant, name string, e ...edit) variant { v.name, v.edits = name, e; return v }
	const noControl = "the search did not find the canary where it is allowed to be, in the sidecar"
	rules(t, CanarySealed, throughTheRepository(),
		named(clear("library.db"), "the canary is in clear", cell("library-files", "converged", 0, "found", true)),
		named(clear("library.db-wal"), "the canary is in clear in the journal", cell("library-files", "converged", 1, "found", true)),
		named(clear("library.db"), "in clear, told as a number", cell("library-files", "converged", 0, "found", 1)),
		named(clear("library.db"), "in clear, told as a text", cell("library-files", "converged", 0, "found", "true")),
		variant{"the canary was never planted", edits(noMark("canary")), nil, []string{"no canary was planted"}},
		variant{"the canary is nothing", edits(markData("canary", "text", "")), nil, []string{unseen}},
		variant{"another word was sent", edits(recordShows("no canary")), nil, []string{unseen}},
		variant{"the record was not looked at", edits(noLook("item", "converged")), nil, []string{unseen}},
		variant{"the look at the record failed", edits(lookFails("item", "converged")), nil, []string{unseen}},
		variant{"the search finds nothing anywhere", edits(cell("sidecar-files", "converged", 0, "found", false)), nil, []string{noControl}},
		variant{"the sidecar was not searched", edits(noLook("sidecar-files", "converged")), nil, []string{noControl}},
		variant{"the search of the sidecar failed", edits(lookFails("sidecar-files", "converged")), nil, []string{noControl}},
		variant{"the library was not searched", edits(noLook("library-files", "converged")), nil, []string{"no library file was searched"}},
		variant{"the search of the library failed", edits(lookFails("library-files", "converged")), nil, []string{"no library file was searched"}},
		variant{"no library file was found", edits(shows("library-files", "converged")), nil, []string{"no library file was searched"}},
		variant{"the search says nothing", edits(noColumn("library-files", "converged", "found")), nil, []string{`the probe library-files shows no column "found"`}},
	)
}

func TestHelperKeepsOut(t *testing.T) {
	rules(t, HelperKeepsOut, throughTheRepository(),
		variant{"it holds a library file", edits(rowsLater("open-files", "", row("store", "library", "file", "library.db"))), finds(
			broken("WR-29", "the helper holds a library file open", "file library.db"),
			broken("WR-29", "the helper holds a library file open", "file library.db")), nil},
		variant{"it was not looked at", edits(noLook("open-files", "")), nil, []string{"the helper's open files were not looked at"}},
		variant{"the looks failed", edits(lookFails("open-files", "")), nil, []string{
			"a look at the helper's open files failed: the look itself failed", "a look at the helper's open files failed: the look itself failed",
			"the helper was not even seen to hold the sidecar open"}},
		variant{"the looks see no file", edits(shows("open-files", "")), nil, []string{"the helper was not even seen to hold the sidecar open"}},
	)
}
