package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// whenCrashed is the moment behind a run at one crash point.
const whenCrashed = "crashed"

// Point is what a rule says of one run at one crash point.
type Point struct {
	Run     string
	Left    string // the state that was found, in a few words
	Verdict verdict.Verdict
}

// Crash is one run at one crash point, as the history tells it.
type Crash struct {
	Run          string `json:"run"`
	Standing     string `json:"standing"`
	Why          string `json:"why"`
	Acknowledged bool   `json:"acknowledged"`
	At           struct {
		Point struct {
			N    int    `json:"n"`
			Call string `json:"call"`
			Path string `json:"path"`
		} `json:"point"`
		Side  string `json:"side"`
		Error string `json:"error"`
	} `json:"at"`
	// Stores says how many of the recorded changes to a store had been made.
	Stores map[string]struct {
		Made int `json:"made"`
		Of   int `json:"of"`
	} `json:"stores"`
}

// Counts says that the run was struck where it should have been.
func (c Crash) Counts() bool { return c.Standing == "verified" || c.Standing == "re-addressed" }

// where names the place for a finding.
func (c Crash) where() string {
	how := "killed " + c.At.Side
	if c.At.Error != "" {
		how = c.At.Error + " instead of"
	}
	return fmt.Sprintf("point %d: %s %s of %s", c.At.Point.N, how, c.At.Point.Call, c.At.Point.Path)
}

// crashes reads the runs of a history.
func crashes(h history.History) ([]Crash, error) {
	var all []Crash
	for _, m := range h.Marks("crash-point") {
		raw, err := json.Marshal(m.Data)
		if err != nil {
			return nil, err
		}
		var c Crash
		if err := json.Unmarshal(raw, &c); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// Sampled says of a history in which not every run at a crash point was made how
// many were, and by what choice; "" where every one was. What it says of a target is
// said of these runs alone.
func Sampled(h history.History) string {
	for _, m := range h.Marks("crash-points-sampled") {
		return fmt.Sprintf("tried %d of %d runs at crash points, of %d of %d kinds (a kind is one call on one file), evenly over the write; profiles.durability.crash_points in the target file sets the bound",
			number(m.Data, "tried"), number(m.Data, "runs"), number(m.Data, "kinds tried"), number(m.Data, "kinds"))
	}
	return ""
}

// Covered doubts a history in which no run before, or none behind, the
// acknowledgement was struck where it should have been, or in which not every one
// was made: what is promised of any crash point is not shown by some.
func Covered(h history.History) Ruling {
	all, err := crashes(h)
	if err != nil {
		return doubt("the runs at crash points cannot be read: %v", err)
	}
	before, behind := 0, 0
	for _, c := range all {
		switch {
		case !c.Counts(), c.At.Error != "": // an error instead of a call is no kill
		case c.Acknowledged:
			behind++
		default:
			before++
		}
	}
	switch only := h.Marks("one-crash-point"); {
	case len(only) > 0 && before+behind == 0:
		return doubt("the run at the one crash point asked for (%v) was not struck there", only[0].Data["point"])
	case len(only) > 0:
		return Ruling{}
	case before == 0 || behind == 0:
		return doubt("of %d runs at crash points %d were verified before the acknowledgement and %d behind it; at least one of each is needed", len(all), before, behind)
	}
	if some := Sampled(h); some != "" {
		return doubt("nothing was found, and not every crash point was tried: %s", some)
	}
	return Ruling{}
}

// eachCrash rules over every run that counts; rule returns what was left, and
// what is wrong with it, "" for nothing. Whatever is wrong is one finding, with
// the places at which it is and how much was tried.
func eachCrash(h history.History, clause, summary string, rule func(Crash) (left, wrong string, err error)) Ruling {
	return eachRun(h, Covered(h), clause, summary, rule)
}

// eachRun is eachCrash with controls of its own, which r has said already.
func eachRun(h history.History, r Ruling, clause, summary string, rule func(Crash) (left, wrong string, err error)) Ruling {
	all, err := crashes(h)
	if err != nil {
		return r
	}
	counted, broken := 0, []string{}
	for _, c := range all {
		p := Point{Run: c.Run, Verdict: verdict.Inconclusive}
		if c.Counts() {
			counted++
			left, wrong, err := rule(c)
			p.Left = left
			switch {
			case err != nil:
				p.Left = err.Error()
				r.doubted("%s: %v", c.where(), err)
			case wrong != "":
				p.Verdict = verdict.Fail
				broken = append(broken, c.where()+": "+wrong)
			default:
				p.Verdict = verdict.Pass
			}
		}
		r.Points = append(r.Points, p)
	}
	if len(broken) > 0 {
		n := len(broken)
		facts := append(most(broken), fmt.Sprintf("%d runs, %d of them struck where they should have been", len(all), counted))
		for _, m := range h.Marks("came-to-no-rest") {
			facts = append(facts, fmt.Sprintf("behind run %s nothing came to rest, so that %d more were not made", text(m.Data, "run"), number(m.Data, "not tried")))
		}
		if some := Sampled(h); some != "" {
			facts = append(facts, some)
		}
		r.broke(clause, fmt.Sprintf("%s, at %d of %d crash points", summary, n, counted), facts...)
	}
	return r
}

// most is as much of a list as a person reads.
func most(list []string) []string {
	const shown = 8
	if len(list) <= shown {
		return list
	}
	return append(list[:shown:shown], fmt.Sprintf("and %d more", len(list)-shown))
}

// NeverHalf (WR-03): at no crash point is an anchor there without its start
// intent, or a start intent without its anchor; behind an acknowledgement both are.
func NeverHalf(h history.History) Ruling {
	return eachCrash(h, "WR-03", "anchor and start intent were not stored together", func(c Crash) (string, string, error) {
		run := map[string]string{"run": c.Run}
		anchors, okA := lastLook(h, "anchors", whenCrashed, run)
		intents, okI := lastLook(h, "intents", whenCrashed, run)
		if !okA || !okI {
			return "", "", fmt.Errorf("the store was not seen behind it")
		}
		var missing Ruling
		if !missing.hasColumns(anchors, "item_id", "task_key") || !missing.hasColumns(intents, "item_id", "kind") {
			return "", "", errors.New(missing.Doubts[0])
		}
		started := startsOf(intents.Rows)
		var lonely []string
		for _, id := range columns(anchors.Rows, "item_id") {
			if started[id] != 1 {
				lonely = append(lonely, id)
			}
			delete(started, id)
		}
		orphans := slices.Sorted(maps.Keys(started))
		left := fmt.Sprintf("%d anchors, %d start intents", len(anchors.Rows), kinds(intents.Rows)["start"])
		switch {
		case len(lonely) > 0:
			return left, fmt.Sprintf("anchors without exactly one start intent: %s", quoted(lonely)), nil
		case len(orphans) > 0:
			return left, fmt.Sprintf("start intents without an anchor: %s", quoted(orphans)), nil
		case c.Acknowledged && !holdsTask(anchors.Rows, taskOf(h, c.Run)):
			return left, fmt.Sprintf("the start of task key %q was acknowledged and has no anchor", taskOf(h, c.Run)), nil
		}
		return left, "", nil
	})
}

func startsOf(intents []map[string]any) map[string]int {
	n := map[string]int{}
	for _, row := range intents {
		if text(row, "kind") == "start" {
			n[text(row, "item_id")]++
		}
	}
	return n
}

func holdsTask(anchors []map[string]any, task string) bool {
	return slices.ContainsFunc(anchors, func(row map[string]any) bool { return text(row, "task_key") == task })
}

// taskOf is the task key of the start that was made in a run.
func taskOf(h history.History, run string) string {
	for _, o := range h.Operations("start") {
		if o.Param("run") == run {
			return o.Param("task_key")
		}
	}
	return ""
}

// StartsAgain (DU-03): killed at any crash point of a write the server starts
// again, and what was acknowledged before is there.
func StartsAgain(h history.History) Ruling {
	earlier := map[string]bool{}
	for _, w := range acknowledged(h, "write") {
		if w.Param("run") == "" {
			earlier[w.Param("value")] = true
		}
	}
	if len(earlier) == 0 {
		return doubt("no write was acknowledged before the one that was struck")
	}
	return eachCrash(h, "DU-03", "killed in the middle of a write, the server lost an earlier one or does not start", func(c Crash) (string, string, error) {
		values, wrong, err := behind(h, c)
		if wrong != "" || err != nil {
			return wrong, wrong, err
		}
		var lost []string
		for _, value := range slices.Sorted(maps.Keys(earlier)) {
			if !slices.Contains(values, value) {
				lost = append(lost, value)
			}
		}
		left := fmt.Sprintf("%d of %d earlier values", len(earlier)-len(lost), len(earlier))
		if len(lost) > 0 {
			return left, "acknowledged before and lost: " + quoted(lost), nil
		}
		return left, "", nil
	})
}

// WholeAtEachPoint (DU-02): killed at any crash point of a write, the write is
// wholly there or wholly absent, there if it was acknowledged, and the store is readable.
func WholeAtEachPoint(h history.History) Ruling {
	usual, known := blankBesideWhole(h)
	return eachCrash(h, "DU-02", "killed in the middle of a write, it is there in part, or acknowledged and gone, or the store cannot be read", func(c Crash) (string, string, error) {
		values, wrong, err := behind(h, c)
		if wrong != "" || err != nil {
			return wrong, wrong, err
		}
		for _, w := range h.Operations("write") {
			if w.Param("run") != c.Run {
				continue
			}
			value := w.Param("value")
			switch n := count(values)[value]; {
			case n > 1:
				return "written more than once", fmt.Sprintf("%q is there %d times", value, n), nil
			case n == 1:
				return "whole", "", nil
			case c.Acknowledged:
				return "acknowledged and absent", fmt.Sprintf("%q was acknowledged and is gone", value), nil
			}
			sent := count(valuesOf(h.Operations("write")))
			for _, v := range values {
				if part(v, value) && sent[v] == 0 {
					return "in part", fmt.Sprintf("written %q, read back %q", value, v), nil
				}
			}
			if more := count(values)[""] - usual; known && more > 0 {
				return "in part", fmt.Sprintf("written %q, read back %s without any text more than beside a whole one", value, reports.Plural(more, "value")), nil
			}
			return "absent", "", nil
		}
		return "", "", fmt.Errorf("the write of the run is not recorded")
	})
}

// blankBesideWhole is how many values without any text are read back, at the most,
// where the write of a run is whole: so many may be no part of one. It is not known
// where the write is whole behind no run.
func blankBesideWhole(h history.History) (usual int, known bool) {
	all, err := crashes(h)
	if err != nil {
		return 0, false
	}
	for _, c := range all {
		values, wrong, err := behind(h, c)
		if wrong != "" || err != nil {
			continue
		}
		n := count(values)
		for _, w := range h.Operations("write") {
			if w.Param("run") == c.Run && n[w.Param("value")] > 0 {
				usual, known = max(usual, n[""]), true
			}
		}
	}
	return usual, known
}

// behind is what could be read back behind a run by a server that was started
// again; wrong says why nothing could.
func behind(h history.History, c Crash) (values []string, wrong string, err error) {
	for _, m := range h.Marks("restart-failed") {
		if m.Data["run"] == c.Run {
			return nil, fmt.Sprintf("the server does not start again: %v", m.Data["error"]), nil
		}
	}
	var said Ruling // of other runs' reads nothing is said here
	for _, read := range said.reads(h, whenRestarted) {
		if read.op.Param("run") != c.Run {
			continue
		}
		if read.err != "" && !said.worked(h, read.op.InvokedAt.Seq) {
			return nil, "", fmt.Errorf("no read had worked before the one behind it")
		}
		if read.err != "" {
			return nil, "the store cannot be read: " + read.err, nil
		}
		return read.values, "", nil
	}
	return nil, "", fmt.Errorf("nothing was read behind it")
}
