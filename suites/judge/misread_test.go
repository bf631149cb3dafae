package judge

import (
	"encoding/json"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// byStructure is what an answer says by structure, and what the target file reads of it.
func byStructure(answer string, e ending, unfound ...string) ending {
	e.Answer, e.Unfound = json.RawMessage(`{"content":[{"type":"text","text":"prose"}],"structuredContent":`+answer+`}`), unfound
	return e
}

// wellRead is a history that the target file reads rightly: an update, one whose answer
// was lost and its recheck, on a draft that was read before.
func wellRead() history.History {
	s := newStory()
	draft := params("draft", "d1")
	s.call("read", and(draft, "moment", "before"), byStructure(`{"revision":1,"hasUnsavedChanges":false,"saved":{"destination":"JFK","purpose":"Fair"}}`,
		done("revision", 1, "unsaved", false, "saved_changed", "JFK", "saved_other", "Fair")))
	draftIs(s, "before", 1, "JFK", "draft")
	s.look("server", "before", draft, row("request", "update", "came", 0), row("request", "lookup", "came", 0))
	s.call("update", mutating("i1", 1, "BOS"), byStructure(`{"outcome":"confirmed","commandId":"i1","fromRevision":1,"toRevision":2}`, confirms("i1", 1)))
	s.call("update", mutating("i2", 2, "OSL"), byStructure(`{"outcome":"OUTCOME_UNKNOWN","commandId":"i2","recheck":{"tool":"work_recheck_update"}}`,
		as("OUTCOME_UNKNOWN", "command_id", "i2", "recheck", "work_recheck_update")))
	s.call("recheck_update", params("draft", "d1", "command_id", "i2"), byStructure(`{"outcome":"confirmed","commandId":"i2","fromRevision":2,"toRevision":3}`, confirms("i2", 2)))
	s.fault("f1", "answer-lost", hit("committed")...)
	s.look("server", "converged", draft, row("request", "update", "came", 2), row("request", "lookup", "came", 1))
	return s.told()
}

// misreads lets the target file read something else of an answer; nil is nothing, of what it maps.
func misreads(id, field string, value any) edit {
	return each("call "+id, isCall(id, history.Returned), func(e *history.Event) {
		if e.Call.Fields[field] = value; value == nil {
			delete(e.Call.Fields, field)
			e.Call.Unfound = append(e.Call.Unfound, field)
		}
	})
}

// answerSays changes what an answer says by structure.
func answerSays(id, answer string) edit {
	return each("call "+id, isCall(id, history.Returned), func(e *history.Event) { e.Call.Answer = byStructure(answer, ending{}).Answer })
}

func TestMisread(t *testing.T) {
	of := func(h history.History) Ruling { return Ruling{Doubts: Misread(h)} }
	const at, tools = " in the target file", "profiles.receipts.tools."
	elsewhere := func(tool, call, want, path, key, got string) []string {
		return []string{"the answer of work_" + tool + " (" + call + ") says " + want + " at " + path + ", and " + tools + tool + ".answer." + key + at + " reads " + got + " there; correct that jq"}
	}
	before := func(key, got, want string) []string {
		return []string{"before any command " + tools + "read.answer." + key + at + " reads " + got + " in the answer of work_read, expected \"" + want + "\"; correct that jq, or probes.draft"}
	}
	shown := func(got, column, want string) []string {
		return []string{"before any command the editor shows \"" + got + "\" as " + column + ", expected \"" + want + "\"; check " + column + " of selectors, or of probes.editor, in the target file, and probes.draft"}
	}
	rules(t, of, wellRead(),
		variant{"no outcome is found", edits(misreads("c3", "outcome", nil)), nil, elsewhere("update", "c3", "OUTCOME_UNKNOWN", ".outcome", "outcome", "nothing")},
		variant{"the outcome of an accepted answer is none", edits(misreads("c2", "outcome", "i1")), nil, []string{
			"the answer of work_update (c2) is no refusal, and " + tools + "update.answer.outcome" + at + " reads i1 there, expected one of confirmed, conflict, refused, not_sent, OUTCOME_UNKNOWN, not_applied; check that jq, vocabulary.outcome, and " + tools + "update.name"}},
		variant{"a refusal without an outcome is one", edits(misreads("c3", "outcome", nil), answerSays("c3", `{"reason": "fetch failed"}`)), nil, nil},
		variant{"another command is read", edits(misreads("c2", "command_id", "d1")), nil, elsewhere("update", "c2", "i1", ".commandId", "command_id", "d1")},
		variant{"the answer names another command", edits(misreads("c2", "command_id", "i7"), answerSays("c2", `{"outcome":"confirmed","commandId":"i7","fromRevision":1,"toRevision":2}`)), nil, nil},
		variant{"no command is mapped", edits(noField("c2", "command_id")), nil, nil},
		variant{"no revision is found", edits(misreads("c2", "from_revision", nil)), nil, elsewhere("update", "c2", "1", ".fromRevision", "from_revision", "nothing")},
		variant{"one revision is read twice", edits(misreads("c4", "to_revision", 2)), nil, elsewhere("recheck_update", "c4", "3", ".toRevision", "to_revision", "2")},
		variant{"the answer tells other revisions", edits(misreads("c2", "from_revision", 2), misreads("c2", "to_revision", 3), answerSays("c2", `{"outcome":"confirmed","commandId":"i1","fromRevision":2,"toRevision":3}`)), nil, nil},
		variant{"both revisions are read for each other", edits(misreads("c2", "from_revision", 2), misreads("c2", "to_revision", 1)), nil, []string{
			"the answer of work_update (c2) moves the draft back, from revision 2 to 1; check " + tools + "update.answer.from_revision and " + tools + "update.answer.to_revision" + at}},
		variant{"no recheck is found", edits(misreads("c3", "recheck", nil)), nil, elsewhere("update", "c3", "work_recheck_update", ".recheck.tool", "recheck", "nothing")},
		variant{"there is no recheck", edits(misreads("c3", "recheck", nil), answerSays("c3", `{"outcome":"OUTCOME_UNKNOWN","commandId":"i2"}`)), nil, nil},
		variant{"another tool is asked", edits(misreads("c3", "recheck", "work_recheck")), nil, []string{
			`the unknown outcome of work_update points to "work_recheck" for a recheck, and the target file asks work_recheck_update; check ` + tools + "update.answer.recheck and " + tools + "recheck_update.name"}},
		variant{"a read without unsaved", edits(misreads("c1", "unsaved", nil)), nil, before("unsaved", "nothing", "false")},
		variant{"a read of another field", edits(misreads("c1", "saved_changed", "Fair")), nil, before("saved_changed", "Fair", "JFK")},
		variant{"a read that is not mapped", edits(noField("c1", "saved_other")), nil, nil},
		variant{"the editor shows another field", edits(cell("editor", "before", 0, "changed", "Fair")), nil, shown("Fair", "changed", "JFK")},
		variant{"the editor shows another label", edits(cell("editor", "before", 0, "save_state", "draft")), nil, shown("draft", "save_state", "saved")},
		variant{"the editor shows no revision", edits(noColumn("editor", "before", "revision")), nil, nil},
		variant{"an update that nobody counts", edits(cell("server", "converged", 0, "came", 0)), nil, []string{
			`operations that take a request "update" were confirmed (1), and the wire counted none; check profiles.receipts.requests.update` + at}},
		variant{"a lookup that nobody counts", edits(cell("server", "converged", 1, "came", 0)), nil, []string{
			`operations that take a request "lookup" were confirmed (1), and the wire counted none; check profiles.receipts.requests.lookup` + at}},
		variant{"a recheck that sends its command again", edits(cell("server", "converged", 1, "came", 0), cell("server", "converged", 0, "came", 3)), nil, nil},
	)
}

// A tool that is not there, or another one, is no fault of the target's.
func TestAToolThatGivesNoOutcomeIsMisread(t *testing.T) {
	const says = "no call of work_update gives an outcome, as if it was another tool or none; check profiles.receipts.tools.update: its name, its arguments, and answer.outcome"
	told := func(e ending, hurt bool) history.History {
		s := newStory()
		draftIs(s, "before", 1, "JFK", "draft")
		s.call("update", mutating("i1", 1, "BOS"), e)
		if hurt {
			s.fault("f1", "answer-lost", hit("committed")...)
		}
		return s.told()
	}
	of := func(h history.History) Ruling { return Ruling{Doubts: Misread(h)} }
	none := refused("", "")
	none.Answer = json.RawMessage(`{"code": -32602, "message": "unknown tool"}`)
	expectRuling(t, of, told(none, true), nil, []string{says})
	expectRuling(t, of, told(refused("", ""), false), nil, []string{says})
	expectRuling(t, of, told(refused("", ""), true), nil, nil)
}

func TestWhatIsMisreadIsHeldAgainstNobody(t *testing.T) {
	accuse := func(history.History) Ruling {
		var r Ruling
		r.broke("RC-07", "something is wrong")
		return r
	}
	misread := with(wellRead(), misreads("c1", "unsaved", nil))
	ruled := Ruled(accuse, misread)
	if len(ruled.Findings) != 0 || len(ruled.Doubts) != 1 {
		t.Errorf("findings %v, doubts %v; expected one doubt alone", ruled.Findings, ruled.Doubts)
	}
	expectRuling(t, func(h history.History) Ruling { return Ruled(accuse, h) }, wellRead(), finds(broken("RC-07", "something is wrong")), nil)
}
