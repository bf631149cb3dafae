package judge

import (
	"errors"
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// TogetherAtEachPoint (RC-03): at no crash point of a command has the draft moved
// without its receipt, or a receipt been stored without the draft: neither with the
// server dead, nor once it was started again, which changes nothing of it. What was
// confirmed is stored, what was refused or not sent is not, and a recheck of what is
// unknown says what the store says: with a receipt confirmed, without one still unknown.
func TogetherAtEachPoint(h history.History) Ruling {
	tally := struct{ moved, still int }{}
	r := eachCrash(h, "RC-03", "draft and receipt do not move together", func(c Crash) (string, string, error) {
		run, wrong, err := commandAt(h, c)
		if wrong != "" || err != nil {
			return wrong, wrong, err
		}
		if run.dead.moved {
			tally.moved++
		} else {
			tally.still++
		}
		return run.dead.words(), run.wrong(), nil
	})
	r.Tried = append(r.Tried, fmt.Sprintf("crash points judged: %d, of them %d behind the commit and %d before it", tally.moved+tally.still, tally.moved, tally.still))
	if r.silent() && len(h.Marks("one-crash-point")) == 0 && (tally.moved == 0 || tally.still == 0) {
		r.doubted("%d crash points were behind the commit and %d before it; at least one of each is needed", tally.moved, tally.still)
	}
	return r
}

// halves are the two that a command changes together.
type halves struct {
	revision int
	set      bool // the draft holds what the command sets
	moved    bool // the revision moved by one
	receipts int  // of the command
}

func (x halves) words() string {
	return fmt.Sprintf("revision %d, %s, %d receipts", x.revision, map[bool]string{true: "with what the command sets", false: "as before"}[x.set], x.receipts)
}

// commandRun is one run at one crash point.
type commandRun struct {
	command
	dead, again, behind halves // with the server dead, started again, and behind the recheck
	recheck             *history.Operation
}

// commandAt reads one run; wrong says why there is nothing to read.
func commandAt(h history.History, c Crash) (run commandRun, wrong string, err error) {
	found := false
	for _, one := range commands(h) {
		// A run that was made twice is the second one.
		if one.Param("run") == c.Run {
			run.command, found = one, true
		}
	}
	if !found {
		return run, "", errors.New("no command of the run is recorded")
	}
	was, ok := lastLook(h, "draft", whenBefore, map[string]string{"draft": run.draft})
	if !ok || len(was.Rows) != 1 {
		return run, "", errors.New("the draft was not seen before it")
	}
	if run.dead, err = run.halvesAt(h, was.Rows[0], whenCrashed); err != nil {
		return run, "", err
	}
	for _, m := range h.Marks("restart-failed") {
		if text(m.Data, "run") == c.Run {
			return run, fmt.Sprintf("the server does not start again: %v", m.Data["error"]), nil
		}
	}
	if run.again, err = run.halvesAt(h, was.Rows[0], whenRestarted); err != nil {
		return run, "", err
	}
	if run.behind, err = run.halvesAt(h, was.Rows[0], whenConverged); err != nil {
		return run, "", err
	}
	for _, o := range rechecks(h, run.command, whenConverged) {
		if o.Param("run") == c.Run {
			run.recheck = &o
		}
	}
	if run.recheck == nil && outcomeOf(run.Operation) == "OUTCOME_UNKNOWN" {
		return run, "", errors.New("nobody rechecked the command")
	}
	return run, "", nil
}

// halvesAt reads the two halves at a moment of the run.
func (run commandRun) halvesAt(h history.History, was map[string]any, when string) (halves, error) {
	of := map[string]string{"run": run.Param("run"), "draft": run.draft}
	draft, okD := lastLook(h, "draft", when, of)
	receipts, okR := lastLook(h, "receipts", when, of)
	if !okD || !okR || len(draft.Rows) != 1 {
		return halves{}, fmt.Errorf("draft and receipts were not both seen at the moment %s", when)
	}
	var missing Ruling
	if !missing.hasColumns(draft, "revision", "changed") || !missing.hasColumns(receipts, "command_id") {
		return halves{}, errors.New(missing.Doubts[0])
	}
	return halvesOf(run.command, was, draft.Rows[0], count(columns(receipts.Rows, "command_id"))[run.id]), nil
}

// halvesOf are the halves of a command in a draft that was, and is.
func halvesOf(c command, was, is map[string]any, receipts int) halves {
	x := halves{revision: number(is, "revision"), receipts: receipts}
	x.moved = x.revision == number(was, "revision")+1
	x.set = c.kind == "update" && text(is, "changed") == c.text || c.kind == "submit" && text(is, "status") != text(was, "status")
	if _, told := is["status"]; !told && c.kind == "submit" {
		x.set = x.moved // a store that does not tell is not held to it
	}
	return x
}

func (x halves) whole() bool         { return x.moved && x.set && x.receipts == 1 }
func (x halves) none(c command) bool { return x.revision == c.revision && !x.set && x.receipts == 0 }

// wrong says what is wrong with a run, "" for nothing.
func (run commandRun) wrong() string {
	said := outcomeOf(run.Operation)
	for _, at := range []struct {
		when string
		halves
	}{{"with the server dead", run.dead}, {"once it was started again", run.again}, {"behind the recheck", run.behind}} {
		whole, none := at.whole(), at.none(run.command)
		switch {
		case !whole && !none:
			return fmt.Sprintf("%s the store holds half a command: %s", at.when, at.words())
		case at.halves != run.dead:
			return fmt.Sprintf("%s the store holds %s, and before %s", at.when, at.words(), run.dead.words())
		case said == "confirmed" && none:
			return fmt.Sprintf("the command was confirmed, and %s the store holds nothing of it", at.when)
		case whole && (said == "refused" || said == "not_sent" || said == "conflict"):
			return fmt.Sprintf("%s, and %s the store holds it", answeredWith(run.Operation), at.when)
		}
	}
	if run.recheck == nil {
		return ""
	}
	expected := "OUTCOME_UNKNOWN"
	if run.behind.receipts == 1 {
		expected = "confirmed"
	}
	if outcomeOf(*run.recheck) != expected {
		return fmt.Sprintf("the store holds %s, and %s, expected %s", run.behind.words(), answeredWith(*run.recheck), expected)
	}
	return ""
}

// TogetherOnceKilled (RC-03): a server that was killed around a command, and started
// again, has moved the draft and stored the receipt, or neither: both behind the
// answer, neither before the request.
func TogetherOnceKilled(h history.History) Ruling {
	var r Ruling
	behind := slices.ContainsFunc(h.Faults(), func(f history.FaultTrace) bool { return f.Name == "kill-at-answer" })
	for _, c := range r.theCommands(h) {
		was, ok := r.storedDraft(h, c.draft, whenBefore)
		is, also := r.storedDraft(h, c.draft, whenRestarted)
		receipts, told := r.receipts(h, c, whenRestarted)
		if !ok || !also || !told {
			continue
		}
		x := halvesOf(c, was, is, len(receipts))
		switch {
		case !x.whole() && !x.none(c):
			r.broke("RC-03", "draft and receipt do not move together", c.words(), "once it was started again the store holds half a command: "+x.words())
		case behind && x.none(c):
			r.broke("RC-03", "a command that was answered is gone behind a kill", c.words(), "once it was started again the store holds "+x.words())
		case !behind && x.whole():
			r.doubted("%s was never to reach the server, and the store holds %s", c.words(), x.words())
		}
	}
	return r
}
