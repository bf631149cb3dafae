package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// The words that a checkpoint may have for an operation and for a step.
var (
	operationWords = []string{"running", "interrupted", "needs_review", "completed", "failed", "cancelled"}
	stepWords      = []string{"pending", "in_flight", "done", "failed", "unknown"}
)

const torn = "a checkpoint is neither a whole old one nor a whole new one"

// WholeAtCrashPoints (WF-10): killed at any crash point a server leaves a whole
// checkpoint or none, one behind the acknowledgement, and another server answers
// for it.
func WholeAtCrashPoints(h history.History) Ruling {
	return eachCrash(h, "WF-10", torn, func(c Crash) (string, string, error) { return wholeIn(h, c) })
}

// WholeAtFailingWrites (WF-10) is the same where a write failed instead.
func WholeAtFailingWrites(h history.History) Ruling {
	return eachRun(h, countedRuns(h), "WF-10", torn, func(c Crash) (string, string, error) { return wholeIn(h, c) })
}

// countedRuns doubts a history in which no run was struck where it should have been.
func countedRuns(h history.History) Ruling {
	all, err := crashes(h)
	if err != nil {
		return doubt("the runs at crash points cannot be read: %v", err)
	}
	if !slices.ContainsFunc(all, Crash.Counts) {
		return doubt("none of %d runs at crash points was struck where it should have been", len(all))
	}
	return Ruling{}
}

// checkpointsIn are the looks at checkpoints that a run has left at a moment.
func checkpointsIn(h history.History, run, when string) []history.Look {
	return slices.DeleteFunc(slices.Clone(h.Looks("checkpoint", when)), func(l history.Look) bool {
		return l.Params["run"] != run
	})
}

// wholeIn says what a run has left of checkpoints, and what is wrong with them.
func wholeIn(h history.History, c Crash) (left, wrong string, err error) {
	for _, m := range h.Marks("restart-failed") {
		if text(m.Data, "run") == c.Run {
			return "does not start again", fmt.Sprintf("the server does not start again: %v", m.Data["error"]), nil
		}
	}
	left = "no checkpoint"
	for _, look := range checkpointsIn(h, c.Run, whenCrashed) {
		id := look.Params["operation_id"]
		file, seen := lastLook(h, "checkpoint-file", whenCrashed, map[string]string{"operation_id": id})
		switch {
		case look.Error != "" || !seen:
			return "", "", fmt.Errorf("the checkpoint of operation %s was not seen", id)
		case len(look.Rows) == 0 && len(file.Rows) == 0:
			continue
		case len(look.Rows) == 0:
			return "no whole one", fmt.Sprintf("the checkpoint of operation %s is there and cannot be read, %d bytes", id, number(file.Rows[0], "size")), nil
		}
		row := look.Rows[0]
		left = fmt.Sprintf("%s, %s", text(row, "state"), quoted(stepStates(row)))
		if wrong := misshapen(row, c.steps(h)); wrong != "" {
			return left, fmt.Sprintf("operation %s: %s", id, wrong), nil
		}
		if wrong, err := notAnswered(h, c, id); wrong != "" || err != nil {
			return left, wrong, err
		}
	}
	if c.Acknowledged && left == "no checkpoint" {
		return left, "the start was acknowledged and no checkpoint is there", nil
	}
	return left, "", nil
}

// steps are the texts of the steps of the start that was struck.
func (c Crash) steps(h history.History) []string {
	texts, _ := crashedTexts(h)
	return texts
}

// misshapen says why a row is no whole checkpoint, "" where it is one.
func misshapen(row map[string]any, texts []string) string {
	states := stepStates(row)
	switch {
	case !slices.Contains(operationWords, text(row, "state")):
		return fmt.Sprintf("its state %q is none", text(row, "state"))
	case len(states) != len(texts):
		return fmt.Sprintf("it has %d steps, expected %d", len(states), len(texts))
	}
	for _, s := range states {
		if !slices.Contains(stepWords, s) {
			return fmt.Sprintf("the state %q of a step is none", s)
		}
	}
	return ""
}

// notAnswered says why a new server does not answer for a checkpoint.
func notAnswered(h history.History, c Crash, id string) (string, error) {
	for _, a := range h.Operations("status") {
		if a.Param("run") != c.Run || a.Param("operation_id") != id {
			continue
		}
		if a.Outcome() != history.Done {
			return fmt.Sprintf("operation %s: %s", id, says("status", a)), nil
		}
		return "", nil
	}
	return "", fmt.Errorf("the status of operation %s was not asked for", id)
}

// NoRoomNoStep (WF-26): where a write failed, and every later one, no step went out
// that the checkpoint does not say to be under way; what did not begin is taken to
// its end once there is room. That steps go out, and that some were kept from it,
// are the controls.
func NoRoomNoStep(h history.History) Ruling {
	kept, went := 0, 0
	r := eachRun(h, countedRuns(h), "WF-26", "without room for a checkpoint its step does not wait for it", func(c Crash) (string, string, error) {
		states := make([]string, len(c.steps(h)))
		id := ""
		for _, look := range checkpointsIn(h, c.Run, whenCrashed) {
			if len(look.Rows) == 1 {
				id = look.Params["operation_id"]
				copy(states, stepStates(look.Rows[0]))
			}
		}
		left := quoted(states)
		for i, step := range c.steps(h) {
			n, err := wentInRun(h, c.Run, step)
			switch notBegun := states[i] == "" || states[i] == "pending"; {
			case err != nil:
				return left, "", err
			case n > 0 && notBegun:
				return left, fmt.Sprintf("%d requests of step %d went out, and its checkpoint says %q", n, i+1, states[i]), nil
			case n > 0:
				went++
			default:
				kept++
			}
		}
		return left, stuckIn(h, c, id, states), nil
	})
	if r.silent() && (kept == 0 || went == 0) {
		r.doubted("%d steps went out and %d were kept from it; at least one of each is needed", went, kept)
	}
	return r
}

// stuckIn says how an operation whose step had not begun does not go on.
func stuckIn(h history.History, c Crash, id string, states []string) string {
	if id == "" || !c.Acknowledged || slices.ContainsFunc(states, func(s string) bool { return s != "pending" && s != "done" }) {
		return ""
	}
	for _, look := range checkpointsIn(h, c.Run, whenEnded) {
		if look.Params["operation_id"] == id && len(look.Rows) == 1 && text(look.Rows[0], "state") != "completed" {
			return fmt.Sprintf("with room, and resumed, operation %s is stored as %v, expected completed", id, look.Rows[0])
		}
	}
	return ""
}

// wentInRun is how many requests of a step came between the beginning of a run and
// its strike. A run that drifted is made again, so the last beginning counts.
func wentInRun(h history.History, run, step string) (int, error) {
	base := -1
	for _, e := range h.Events {
		if e.Kind != history.KindLook || e.Look.Probe != "outside" || e.Look.Params["text"] != step || len(e.Look.Rows) != 1 {
			continue
		}
		came := number(e.Look.Rows[0], "came")
		switch {
		case e.Look.When == whenReady:
			base = came
		case e.Look.When == whenCrashed && e.Look.Params["run"] == run && base >= 0:
			return came - base, nil
		}
	}
	return 0, fmt.Errorf("the requests of step %q were not counted", shortened(step, 60))
}
