package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// left is what a run has left of an update to "BOS".
type left struct {
	revision int
	changed  string
	receipts []map[string]any
}

var (
	leftNone  = left{1, "JFK", nil}
	leftWhole = left{2, "BOS", []map[string]any{row("command_id", "i1")}}
)

// updateCrashed tells of an update that is struck before its commit (r1), behind it
// (r2), and behind its answer (r3).
func updateCrashed() history.History {
	s := newStory()
	draftIs(s, "before", 1, "JFK", "draft")
	for i, run := range []struct {
		name  string
		left  left
		ended ending
		again string // what a recheck is answered
	}{
		{"r1", leftNone, as("OUTCOME_UNKNOWN"), "OUTCOME_UNKNOWN"},
		{"r2", leftWhole, as("OUTCOME_UNKNOWN"), "confirmed"},
		{"r3", leftWhole, confirms("i1", 1), ""},
	} {
		s.call("update", mutating("i1", 1, "BOS", "run", run.name), run.ended)
		struck(s, run.name, i+1, "pwrite64", "after", "verified", run.again == "")
		of := params("draft", "d1", "run", run.name)
		for _, when := range []string{"crashed", "restarted", "converged"} {
			if when == "converged" && run.again != "" {
				s.call("recheck_update", params("draft", "d1", "command_id", "i1", "moment", "converged", "run", run.name), as(run.again))
			}
			s.look("draft", when, of, row("revision", run.left.revision, "changed", run.left.changed, "status", "draft"))
			s.look("receipts", when, of, run.left.receipts...)
		}
	}
	return s.told()
}

// leaves replaces what a run has left at a moment.
func leaves(run, when string, x left) []edit {
	return edits(inRun(run, "draft", when, row("revision", x.revision, "changed", x.changed, "status", "draft")), inRun(run, "receipts", when, x.receipts...))
}

// throughout is what a run has left at all moments.
func throughout(run string, x left) []edit {
	var all []edit
	for _, when := range []string{"crashed", "restarted", "converged"} {
		all = append(all, leaves(run, when, x)...)
	}
	return all
}

func TestTogetherAtEachPoint(t *testing.T) {
	const summary = "draft and receipt do not move together, at 1 of 3 crash points"
	at := func(point, wrong string) []string {
		return []string{"point " + point + ": killed after pwrite64 of store.db: " + wrong, "3 runs, 3 of them struck where they should have been"}
	}
	half := func(wrong string) []string {
		return at("2", "with the server dead the store holds half a command: "+wrong)
	}
	rules(t, TogetherAtEachPoint, updateCrashed(),
		variant{"a draft without its receipt", throughout("r2", left{2, "BOS", nil}), finds(broken("RC-03", summary, half("revision 2, with what the command sets, 0 receipts")...)), nil},
		variant{"a receipt without its draft", throughout("r2", left{1, "JFK", leftWhole.receipts}), finds(broken("RC-03", summary, half("revision 1, as before, 1 receipts")...)), nil},
		variant{"a revision without its value", throughout("r2", left{2, "JFK", leftWhole.receipts}), finds(broken("RC-03", summary, half("revision 2, as before, 1 receipts")...)), nil},
		variant{"the start makes it whole", leaves("r1", "restarted", leftWhole), finds(broken("RC-03", summary,
			at("1", "once it was started again the store holds revision 2, with what the command sets, 1 receipts, and before revision 1, as before, 0 receipts")...)), nil},
		variant{"the recheck applies it", leaves("r1", "converged", leftWhole), finds(broken("RC-03", summary,
			at("1", "behind the recheck the store holds revision 2, with what the command sets, 1 receipts, and before revision 1, as before, 0 receipts")...)), nil},
		variant{"confirmed and gone", throughout("r3", leftNone), finds(broken("RC-03", summary, at("3", "the command was confirmed, and with the server dead the store holds nothing of it")...)), nil},
		variant{"not sent", edits(field("c1", "outcome", "not_sent"), noCall("c2")), nil, nil},
		variant{"told as not sent, and there", edits(field("c3", "outcome", "not_sent"), noCall("c4")), finds(broken("RC-03", summary,
			at("2", "work_update was answered with not_sent: {}, and with the server dead the store holds it")...)), nil},
		variant{"the recheck says failed", edits(field("c2", "outcome", "refused")), finds(broken("RC-03", summary,
			at("1", "the store holds revision 1, as before, 0 receipts, and work_recheck_update was answered with refused: {}, expected OUTCOME_UNKNOWN")...)), nil},
		variant{"the recheck does not find it", edits(field("c4", "outcome", "OUTCOME_UNKNOWN")), finds(broken("RC-03", summary,
			at("2", "the store holds revision 2, with what the command sets, 1 receipts, and work_recheck_update was answered with OUTCOME_UNKNOWN: {}, expected confirmed")...)), nil},
		variant{"it does not start again", edits(marked("restart-failed", "run", "r2", "error", "exit 1")), finds(broken("RC-03", summary,
			at("2", "the server does not start again: exit 1")...)), nil},
		variant{"nobody rechecked", edits(noCall("c4")), nil, []string{"point 2: killed after pwrite64 of store.db: nobody rechecked the command"}},
		variant{"all behind the commit", append(throughout("r1", leftWhole), field("c2", "outcome", "confirmed")), nil,
			[]string{"3 crash points were behind the commit and 0 before it; at least one of each is needed"}},
		variant{"the store was not seen", edits(removed("look", func(e history.Event) bool { return isLook("draft", "crashed")(e) && e.Look.Params["run"] == "r2" })), nil,
			[]string{"point 2: killed after pwrite64 of store.db: draft and receipts were not both seen at the moment crashed"}},
		variant{"not seen before", edits(noLook("draft", "before")), nil, []string{
			"point 1: killed after pwrite64 of store.db: the draft was not seen before it",
			"point 2: killed after pwrite64 of store.db: the draft was not seen before it",
			"point 3: killed after pwrite64 of store.db: the draft was not seen before it"}},
	)
}

func TestTogetherOnceKilled(t *testing.T) {
	const c = `the update under command ID "i1", which expects revision 1`
	const half, gone = "draft and receipt do not move together", "a command that was answered is gone behind a kill"
	killed := func(fault string, x left) history.History {
		s := newStory()
		draftIs(s, "before", 1, "JFK", "draft")
		s.fault("f1", fault, hit("committed")...)
		s.call("update", mutating("i1", 1, "BOS"), as("OUTCOME_UNKNOWN"))
		s.look("draft", "restarted", params("draft", "d1"), row("revision", x.revision, "changed", x.changed, "other", "Fair", "status", "draft"))
		s.look("receipts", "restarted", params("draft", "d1"), x.receipts...)
		return s.told()
	}
	rules(t, TogetherOnceKilled, killed("kill-at-answer", leftWhole),
		variant{"no receipt", edits(shows("receipts", "restarted")), finds(
			broken("RC-03", half, c, "once it was started again the store holds half a command: revision 2, with what the command sets, 0 receipts")), nil},
		variant{"nothing is left", edits(cell("draft", "restarted", 0, "revision", 1), cell("draft", "restarted", 0, "changed", "JFK"), shows("receipts", "restarted")), finds(
			broken("RC-03", gone, c, "once it was started again the store holds revision 1, as before, 0 receipts")), nil},
		variant{"not seen", edits(noLook("draft", "restarted")), nil, []string{"the draft d1 was not seen in the store at the moment restarted"}},
	)
	expectRuling(t, TogetherOnceKilled, killed("kill-at-request", leftNone), nil, nil)
	expectRuling(t, TogetherOnceKilled, killed("kill-at-request", left{1, "JFK", leftWhole.receipts}), finds(
		broken("RC-03", half, c, "once it was started again the store holds half a command: revision 1, as before, 1 receipts")), nil)
	expectRuling(t, TogetherOnceKilled, killed("kill-at-request", leftWhole), nil,
		[]string{c + " was never to reach the server, and the store holds revision 2, with what the command sets, 1 receipts"})
}
