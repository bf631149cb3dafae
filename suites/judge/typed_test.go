package judge

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// inDoubt is an answer that leaves a command unknown.
func inDoubt(id string) ending {
	return ending{Outcome: history.Refused, IsError: true, Fields: row("outcome", "OUTCOME_UNKNOWN", "command_id", id, "recheck", "work_recheck_update"), Reason: "answer lost", Answer: json.RawMessage(`{"isError":true}`)}
}

// refusedWith is the answer to a command or a recheck that was not begun.
func refusedWith(id, code string, more ...any) ending {
	e := inDoubt(id)
	e.Fields = row(append([]any{"outcome", "refused", "command_id", id, "code", code}, more...)...)
	return e
}

func confirmedAs(id string, from, to int) ending {
	return done("outcome", "confirmed", "command_id", id, "from_revision", from, "to_revision", to)
}

func readAs(unsaved bool, changed, other string, revision int, state string) ending {
	return done("unsaved", unsaved, "saved_changed", changed, "saved_other", other, "revision", revision, "save_state", state)
}

// moment is what all surfaces of draft d1 are seen to show at one.
type moment struct {
	changed, other           string // as stored
	revision                 int
	receipts                 []string
	visible, otherVisible    string
	state                    string
	shown                    int // the visible revision
	updates, submits, lookup int // requests that came so far
}

// seenAt looks at all surfaces through one editor.
func (s *story) seenAt(when, editor string, m moment) {
	about := params("draft", "d1")
	s.look("draft", when, about, row("revision", m.revision, "changed", m.changed, "other", m.other))
	var receipts []map[string]any
	for _, id := range m.receipts {
		receipts = append(receipts, row("command_id", id))
	}
	s.look("receipts", when, about, receipts...)
	s.look("editor", when, params("draft", "d1", "editor", editor), row("changed", m.visible, "other", m.otherVisible, "save_state", m.state, "revision", m.shown))
	s.look("server", when, about, row("request", "update", "came", m.updates, "passed", m.updates), row("request", "submit", "came", m.submits, "passed", m.submits), row("request", "lookup", "came", m.lookup, "passed", m.lookup))
}

var (
	atFirst   = moment{changed: "JFK", other: "fair", revision: 1, visible: "JFK", otherVisible: "fair", state: "saved", shown: 1}
	committed = moment{changed: "BOS", other: "fair", revision: 2, receipts: []string{"k1"}, visible: "JFK", otherVisible: "fair", state: "unknown", shown: 1, updates: 1}
	atLast    = moment{changed: "BOS", other: "fair", revision: 2, receipts: []string{"k1"}, visible: "BOS", otherVisible: "fair", state: "saved", shown: 2, updates: 1, lookup: 1}
)

// showing is a moment at which the person sees something else.
func (m moment) showing(visible, other, state string) moment {
	m.visible, m.otherVisible, m.state = visible, other, state
	return m
}

var firstUpdate = params("draft", "d1", "revision", "1", "command_id", "k1", "text", "BOS")

// asksAgain is a recheck of k1 at a moment.
func asksAgain(when string) map[string]string {
	return params("draft", "d1", "command_id", "k1", "moment", when)
}

func readsAt(when string) map[string]string { return params("draft", "d1", "moment", when) }

func (s *story) types(field, text, when string) {
	s.mark("typed", "field", field, "text", text, "moment", when)
}

const lostUpdate = `the update under command ID "k1", which expects revision 1`

// typedMeanwhile tells of a person who types into the other field while k1 is unknown.
func typedMeanwhile() history.History {
	s := newStory()
	s.call("read", readsAt("before"), readAs(false, "JFK", "fair", 1, "saved")) // c1
	s.seenAt("before", "helper.1", atFirst)
	s.call("update", firstUpdate, inDoubt("k1")) // c2
	s.types("other", "mine", "typed")
	s.seenAt("typed", "helper.1", committed.showing("JFK", "mine", "unknown"))
	s.call("recheck_update", asksAgain("converged"), confirmedAs("k1", 1, 2))       // c3
	s.call("read", readsAt("converged"), readAs(true, "BOS", "fair", 2, "unsaved")) // c4
	s.seenAt("converged", "helper.1", atLast.showing("BOS", "mine", "unsaved"))
	return s.told()
}

const typedIt = `while the outcome was unknown the person typed "mine" into the other field`

func TestTypedStaysUnsaved(t *testing.T) {
	rules(t, TypedStaysUnsaved, typedMeanwhile(),
		variant{"the text is gone", edits(cell("editor", "converged", 0, "other", "fair")),
			finds(broken("RC-14", "what the person typed while the outcome was unknown is gone", typedIt, `behind the recovery the editor shows "fair"`)), nil},
		variant{"the label says saved", edits(cell("editor", "converged", 0, "save_state", "saved")),
			finds(broken("RC-14", "what the person typed is not shown as unsaved", typedIt, `behind the recovery its label says "saved"`)), nil},
		variant{"the text was saved", edits(cell("draft", "converged", 0, "other", "mine")),
			finds(broken("RC-14", "saved is something else than what the command left", typedIt, `the other field is stored as "mine", expected "fair"`)), nil},
		variant{"the command was not saved", edits(cell("draft", "converged", 0, "changed", "JFK")),
			finds(broken("RC-14", "saved is something else than what the command left", typedIt, `the changed field is stored as "JFK", expected "BOS"`)), nil},
		variant{"nothing was typed", edits(noMark("typed")), nil, []string{"the person typed nothing while the outcome was unknown"}},
		variant{"the editor did not take the text", edits(cell("editor", "typed", 0, "other", "fair")), nil, []string{typedIt + `, and the editor showed "fair" then`}},
		variant{"the editor refused it", edits(markData("typed", "refused", "409")), nil, []string{typedIt + `, and the editor showed "mine" then`}},
		variant{"the end was not seen", edits(noLook("editor", "converged")), nil, []string{"the editor of draft d1 was not seen at the moment converged"}},
		variant{"the outcome was known", edits(field("c2", "outcome", "confirmed")), nil,
			[]string{lostUpdate + ` was to be of unknown outcome, and work_update was answered with confirmed: {"isError":true}`}},
		variant{"nothing was recovered", edits(field("c3", "outcome", "OUTCOME_UNKNOWN")), nil, []string{"no recheck has confirmed " + lostUpdate + ", so that nothing was recovered"}},
		variant{"nothing was asked for", edits(noCall("c2")), nil, []string{"no command was given whose outcome is in doubt"}},
	)
}

func TestReadTellsUnsaved(t *testing.T) {
	rules(t, ReadTellsUnsaved, typedMeanwhile(),
		variant{"nothing is unsaved", edits(field("c4", "unsaved", false)),
			finds(broken("RC-15", "a read does not say that the person has unsaved changes", "it says false: ")), nil},
		variant{"the form is told as saved", edits(field("c4", "saved_other", "mine")),
			finds(broken("RC-15", "a read tells something else than what is saved", `saved_other is told as "mine", stored is "fair"`)), nil},
		variant{"the old value is told as saved", edits(field("c4", "saved_changed", "JFK"), field("c4", "revision", 1)),
			finds(broken("RC-15", "a read tells something else than what is saved", `saved_changed is told as "JFK", stored is "BOS"`),
				broken("RC-15", "a read tells something else than what is saved", `revision is told as "1", stored is "2"`)), nil},
		variant{"the editor did not take the text", edits(cell("editor", "typed", 0, "other", "fair"), field("c4", "unsaved", false)), nil, []string{typedIt + `, and the editor showed "fair" then`}},
		variant{"something is always unsaved", edits(field("c1", "unsaved", true)), nil, []string{"the read says of unsaved changes true also where nothing was typed"}},
		variant{"nobody read", edits(noCall("c4")), nil, []string{"no read of draft d1 at the moment converged tells unsaved, saved_changed and saved_other"}},
		variant{"the read does not tell", edits(noField("c1", "unsaved")), nil, []string{"no read of draft d1 at the moment before tells unsaved, saved_changed and saved_other"}},
		variant{"nothing was recovered", edits(noCall("c3")), nil, []string{"no recheck has confirmed " + lostUpdate + ", so that nothing was recovered"}},
	)
}

// typedTwice tells of a person who types into the first field before the dispatch and
// into the other one after it.
func typedTwice(first, then string) history.History {
	s, texts := newStory(), map[string]string{"changed": "JFK", "other": "fair"}
	texts[first] = "early"
	s.types(first, "early", "before")
	s.seenAt("before", "helper.1", atFirst.showing(texts["changed"], texts["other"], "unsaved"))
	s.call("update", firstUpdate, inDoubt("k1")) // c1
	texts[then] = "late"
	s.types(then, "late", "typed")
	s.seenAt("typed", "helper.1", committed.showing(texts["changed"], texts["other"], "unknown"))
	s.call("recheck_update", asksAgain("converged"), confirmedAs("k1", 1, 2)) // c2
	if first == "changed" {
		texts["changed"] = "BOS"
	}
	s.seenAt("converged", "helper.1", atLast.showing(texts["changed"], texts["other"], "unsaved"))
	return s.told()
}

// typedBack lets the person type another text right behind the late one.
func typedBack(text string) edit {
	return func(events []history.Event) []history.Event {
		at := slices.IndexFunc(events, func(e history.Event) bool { return e.Kind == history.KindMark && e.Mark.Data["text"] == "late" })
		again := events[at]
		again.Mark = &history.Mark{Name: "typed", Data: row("field", "changed", "text", text, "moment", "typed")}
		return slices.Insert(events, at+1, again)
	}
}

func TestTypedIsToldApart(t *testing.T) {
	early, late := "before the dispatch the person typed \"early\" into the ", "while the outcome was unknown the person typed \"late\" into the "
	gone := "what was typed into a field that the command does not change is gone"
	rules(t, TypedIsToldApart, typedTwice("changed", "other"),
		variant{"the early text stays in the field that the command sets", edits(cell("editor", "converged", 0, "changed", "early")),
			finds(broken("RC-16", "what was typed before the dispatch is taken for typed after it", early+"changed field", `behind the recovery the editor shows "early"; the command set "BOS"`)), nil},
		variant{"the late text is gone", edits(cell("editor", "converged", 0, "other", "fair")),
			finds(broken("RC-16", gone, late+"other field", `behind the recovery the editor shows "fair"; the command set "BOS"`)), nil},
		variant{"nothing was typed", edits(noMark("typed")), nil, []string{"the person has to have typed before the dispatch and after it; typed was at map[]"}},
		variant{"the editor did not take it", edits(cell("editor", "before", 0, "changed", "JFK")), nil, []string{early + `changed field, and the editor showed "JFK" then`}},
		variant{"nothing was recovered", edits(noCall("c2")), nil, []string{"no recheck has confirmed " + lostUpdate + ", so that nothing was recovered"}},
	)
	t.Run("the other way round", func(t *testing.T) {
		rules(t, TypedIsToldApart, typedTwice("other", "changed"),
			variant{"the late text is overwritten by the command", edits(cell("editor", "converged", 0, "changed", "BOS")),
				finds(broken("RC-16", "what was typed after the dispatch is taken for typed before it", late+"changed field", `behind the recovery the editor shows "BOS"; the command set "BOS"`)), nil},
			variant{"the old text was typed again, and is overwritten", edits(typedBack("JFK"), cell("editor", "typed", 0, "changed", "JFK"), cell("editor", "converged", 0, "changed", "BOS")),
				finds(broken("RC-16", "what was typed after the dispatch is taken for typed before it", `while the outcome was unknown the person typed "JFK" into the changed field`, `behind the recovery the editor shows "BOS"; the command set "BOS"`)), nil},
			variant{"the old text was typed again, and stays", edits(typedBack("JFK"), cell("editor", "typed", 0, "changed", "JFK"), cell("editor", "converged", 0, "changed", "JFK")), nil, nil},
			variant{"the early text is gone", edits(cell("editor", "converged", 0, "other", "fair")),
				finds(broken("RC-16", gone, early+"other field", `behind the recovery the editor shows "fair"; the command set "BOS"`)), nil},
		)
	})
}
