package judge

import (
	"encoding/json"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// stagedNotes is WR-28: two refused, two accepted and failed, one inside.
func stagedNotes() history.History {
	s := newStory()
	leads := func(how string) map[string]string { return and(item("i1"), "text", "leads "+how, "leads", how) }
	s.mark("outside", "file", "/outside.txt", "text", "canary ~1")
	s.call("note", and(item("i1"), "text", "inside", "leads", "inside"), done("state", "queued")) // c1
	s.call("note", leads("by .."), refused("permanent", "attachment_outside_root"))               // c2
	s.call("note", leads("absolutely"), refused("permanent", "attachment_outside_root"))          // c3
	s.call("note", leads("by a link"), done("state", "queued"))                                   // c4
	s.call("note", leads("by a link that came later"), done("state", "queued"))                   // c5
	s.look("intents", "converged", item("i1"),
		row("seq", 1, "text", "inside", "state", "applied", "class", nil, "attempts", 1),
		row("seq", 2, "text", "leads by a link", "state", "failed", "class", "permanent", "attempts", 1),
		row("seq", 3, "text", "leads by a link that came later", "state", "failed", "class", "permanent", "attempts", 1))
	s.look("item", "converged", item("i1"), row("item_id", "i1", "notes", list("inside")))
	s.look("reads", "converged", params("file", "outside"), row("read", false))
	s.look("reads", "converged", params("file", "staged"), row("read", true))
	return s.told()
}

// fileRead sets whether a watched file was read.
func fileRead(file string, read bool) edit {
	return each("reads of "+file, func(e history.Event) bool { return isLook("reads", "converged")(e) && e.Look.Params["file"] == file },
		func(e *history.Event) { e.Look.Rows[0]["read"] = read })
}

func TestStaysInside(t *testing.T) {
	link := "call c4, an attachment that leads out by a link"
	up := "call c2, an attachment that leads out by .."
	notFailed := func(name, is string, e ...edit) variant {
		return variant{name, e, finds(broken("WR-28", "a path that leads out did not fail for good at its first attempt", link, "intent 2 is "+is)), nil}
	}
	const control = "the note with an attachment inside the staging root did not come on the record, so that a failure may have another cause"
	rules(t, StaysInside, stagedNotes(),
		variant{"the file outside is read", edits(fileRead("outside", true)), finds(broken("WR-28", "a file outside of the staging root was read")), nil},
		variant{"its note is applied", edits(cell("intents", "converged", 1, "state", "applied"), cell("intents", "converged", 1, "class", nil), recordShows("inside", "leads by a link")),
			finds(broken("WR-28", "a path that leads out did not fail for good at its first attempt", link, `intent 2 is "applied", class "", after 1 attempts`),
				broken("WR-28", "a note whose attachment leads out is on the record", link)), nil},
		notFailed("it is tried on", `"retrying", class "transient", after 7 attempts`, cell("intents", "converged", 1, "state", "retrying"),
			cell("intents", "converged", 1, "class", "transient"), cell("intents", "converged", 1, "attempts", 7)),
		notFailed("it is tried twice", `"failed", class "permanent", after 2 attempts`, cell("intents", "converged", 1, "attempts", 2)),
		variant{"it is dropped", edits(noRow("intents", "converged", 1)),
			finds(broken("WR-28", "an acknowledged note with a path that leads out is not in the store once", link, "0 intents")), nil},
		variant{"it is refused and stored", edits(cell("intents", "converged", 1, "text", "leads by ..")), finds(
			broken("WR-28", "a path that leads out was refused and stored", up, "1 intents"),
			broken("WR-28", "an acknowledged note with a path that leads out is not in the store once", link, "0 intents")), nil},
		variant{"it is refused as if time would help", edits(ends("c2", refused("transient", "attachment_missing"))),
			finds(broken("WR-28", "a path that leads out was refused as if time would help", up, `answer: {"isError":true}`)), nil},
		variant{"what stands outside is in an answer", edits(each("c4", isCall("c4", history.Returned), func(e *history.Event) { e.Call.Answer = json.RawMessage(`{"preview":"canary ~1"}`) })),
			finds(broken("WR-28", "content from outside of the staging root is in an answer", "call c4")), nil},
		variant{"what stands outside is on the record", edits(cell("item", "converged", 0, "attachment", "canary ~1")),
			finds(broken("WR-28", "content from outside of the staging root is on the record or in a store", "seen by the probe item")), nil},
		variant{"the file inside was not seen to be read", edits(fileRead("staged", false)), nil,
			[]string{"the file inside the staging root was not seen to be read, so that a read outside would not have been seen either"}},
		variant{"the note inside failed", edits(recordShows()), nil, []string{control}},
		variant{"the note inside was refused", edits(ends("c1", refused("permanent", "no_staging_root"))), nil, []string{control}},
		variant{"one got no answer", edits(ends("c5", unknown())), nil, []string{
			"call c5 got no answer, so that it is not known what became of a path that leads out by a link that came later",
			"no attachment was tried that leads out by a link that came later"}},
		variant{"a way out was not tried", edits(noCall("c3")), nil, []string{"no attachment was tried that leads out absolutely"}},
		variant{"the intents were not seen", edits(lookFails("intents", "converged")), nil, []string{"the intents of item i1 were not seen at the end",
			"the intents of item i1 were not seen at the end", "the intents of item i1 were not seen at the end", "the intents of item i1 were not seen at the end"}},
		variant{"nothing was watched", edits(noLook("reads", "converged")), nil, []string{
			"the file inside the staging root was not seen to be read, so that a read outside would not have been seen either",
			"the file outside of the staging root was not watched"}},
		variant{"nothing was put outside", edits(noMark("outside")), nil, []string{"no file was put outside of the staging root"}},
	)
}
