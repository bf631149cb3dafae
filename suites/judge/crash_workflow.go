package judge

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// The moments around a run at one crash point of a workflow, beside whenCrashed.
const (
	whenReady = "ready" // before it
	whenEnded = "ended" // behind two resumes
)

// ReviewedExactly (WF-14): at every crash point of a workflow of steps that are not
// idempotent, an operation whose checkpoint says in_flight of a step is left to a
// review by the resume and runs no further, every other one is taken to its end,
// and no step takes effect twice. Both errors are counted: a doubt that is not
// reviewed, and a review without a doubt.
func ReviewedExactly(h history.History) Ruling {
	texts, ok := crashedTexts(h)
	if !ok {
		return doubt("no start of a workflow was made at a crash point")
	}
	n := struct{ doubts, clear, none, missed, needless int }{}
	r := eachCrash(h, "WF-14", "a crash does not end as the checkpoint says", func(c Crash) (string, string, error) {
		run, err := crashedRun(h, c, texts)
		if err != nil {
			return "", "", err
		}
		left, kind, wrong := run.rule()
		switch kind {
		case leftDoubt:
			n.doubts++
		case leftClear:
			n.clear++
		default:
			n.none++
		}
		switch wrong.kind {
		case missedDoubt:
			n.missed++
		case needlessReview:
			n.needless++
		}
		return left, wrong.text, nil
	})
	r.Tried = append(r.Tried, fmt.Sprintf("crash points judged: %d, of them %d with a step in doubt, %d with none, %d with nothing stored; doubts that were not reviewed: %d; reviews without a doubt: %d",
		n.doubts+n.clear+n.none, n.doubts, n.clear, n.none, n.missed, n.needless))
	if r.silent() && len(h.Marks("one-crash-point")) == 0 && (n.doubts == 0 || n.clear == 0) {
		r.doubted("%d crash points left a step in doubt and %d none; at least one of each is needed", n.doubts, n.clear)
	}
	return r
}

// crashedTexts are the texts of the workflow's steps.
func crashedTexts(h history.History) (texts []string, ok bool) {
	for _, o := range h.Operations("start") {
		if json.Unmarshal([]byte(o.Param("texts")), &texts) == nil && len(texts) > 0 {
			return texts, true
		}
	}
	return nil, false
}

// standing is what a crash has left of an operation.
type standing string

const (
	leftNothing standing = "nothing stored"
	leftDoubt   standing = "a step in doubt"
	leftClear   standing = "no doubt"
)

// wrongWith is what is wrong with a run, by which of the two errors it is.
type wrongWith struct {
	kind string
	text string
}

const (
	missedDoubt    = "missed"
	needlessReview = "needless"
)

// workflowRun is one run at one crash point.
type workflowRun struct {
	texts          []string
	crashed, ended map[string]any // checkpoints, nil for none
	before, after  []int          // effects of each step, by the crash and at the end
}

// crashedRun reads one run. What had taken effect before it does not count.
func crashedRun(h history.History, c Crash, texts []string) (workflowRun, error) {
	run := workflowRun{texts: texts}
	of := map[string]string{"run": c.Run}
	behind, ok := lastLook(h, "effects", whenCrashed, of)
	end, also := lastLook(h, "effects", whenEnded, of)
	if !ok || !also {
		return run, fmt.Errorf("what the outside service has applied was not seen")
	}
	base, ok := effectsBefore(h, c.Run)
	if !ok {
		return run, fmt.Errorf("what the outside service had applied before was not seen")
	}
	for _, t := range texts {
		run.before = append(run.before, count(columns(behind.Rows, "text"))[t]-base[t])
		run.after = append(run.after, count(columns(end.Rows, "text"))[t]-base[t])
	}
	stored, ok := lastLook(h, "checkpoint", whenCrashed, of)
	if ok && len(stored.Rows) == 1 {
		run.crashed = stored.Rows[0]
	}
	if c.Acknowledged && run.crashed == nil {
		return run, fmt.Errorf("the start was acknowledged and no checkpoint of it is seen")
	}
	if run.crashed == nil {
		return run, nil
	}
	stored, ok = lastLook(h, "checkpoint", whenEnded, of)
	if !ok || len(stored.Rows) != 1 {
		return run, fmt.Errorf("no checkpoint is seen behind the resumes")
	}
	run.ended = stored.Rows[0]
	return run, nil
}

// effectsBefore counts what had been applied before a run: by the last look at the
// moment ready in front of its first own look.
func effectsBefore(h history.History, run string) (map[string]int, bool) {
	var base map[string]int
	for _, look := range h.Looks("effects", "") {
		switch {
		case look.When == whenReady && look.Error == "":
			base = count(columns(look.Rows, "text"))
		case look.When == whenCrashed && look.Params["run"] == run:
			return base, base != nil
		}
	}
	return nil, false
}

// rule says what the crash has left, and what is wrong with what came of it.
func (w workflowRun) rule() (left string, kind standing, wrong wrongWith) {
	for i, n := range w.after {
		if n > 1 {
			return w.left(), w.standing(), wrongWith{missedDoubt, fmt.Sprintf("step %d took effect %d times", i+1, n)}
		}
	}
	state := text(w.ended, "state")
	at := slices.Index(stepStates(w.crashed), "in_flight")
	switch kind = w.standing(); {
	case kind == leftNothing:
		for i, n := range w.after {
			if n > 0 {
				wrong = wrongWith{missedDoubt, fmt.Sprintf("step %d took effect and nothing is stored", i+1)}
			}
		}
	case kind == leftDoubt && state != "needs_review":
		wrong = wrongWith{missedDoubt, fmt.Sprintf("step %d was in flight, and the operation is %s", at+1, state)}
	case kind == leftDoubt && !slices.Equal(w.before, w.after):
		wrong = wrongWith{missedDoubt, fmt.Sprintf("step %d was in flight, and the effects of the steps went from %v to %v", at+1, w.before, w.after)}
	case kind == leftClear && state == "needs_review":
		wrong = wrongWith{needlessReview, "no step was in flight, and the operation is left to a review"}
	case kind == leftClear && (state != "completed" || slices.Contains(w.after, 0)):
		wrong = wrongWith{"", fmt.Sprintf("no step was in flight, and the operation is %s with the effects %v", state, w.after)}
	}
	return w.left(), kind, wrong
}

func (w workflowRun) standing() standing {
	switch {
	case w.crashed == nil:
		return leftNothing
	case slices.Contains(stepStates(w.crashed), "in_flight"):
		return leftDoubt
	}
	return leftClear
}

func (w workflowRun) left() string {
	if w.crashed == nil {
		return string(leftNothing)
	}
	return fmt.Sprintf("%s %v, effects %v", text(w.crashed, "state"), stepStates(w.crashed), w.before)
}
