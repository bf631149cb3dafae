package suites

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
	"github.com/holdfast-mcp/holdfast/reports/wait"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// trial walks a target through steps and keeps what became of each. A step that
// stops the world is the last one.
type trial struct {
	steps []Step
	under string // the step that is under way
	// lenient: what the target does with the calls is for the specs to judge; only
	// a target file that does not fit the target ends the trial.
	lenient bool
	several bool // the target has more than one helper
}

func (t *trial) step(name string, do func() string) {
	t.under = name
	detail := do()
	t.steps = append(t.steps, Step{Name: name, OK: true, Detail: detail})
	t.under = ""
}

// adviceFor is what to do about a step that failed.
var adviceFor = map[string]string{
	stepStart: "start the process by hand as the target file does; doctor gives it a private HOME and TMPDIR",
	stepHelp:  "check run and mcp of the helper in the target file",
	stepTools: "write the tools' names in the target file as the helper lists them",
	stepWrite: "check the write call of the target file: its name, its arguments, and accepted and refused",
	stepProbe: "check profiles.durability.probes.values of the target file: where the server keeps its store, and the query or the rows that yield a row {value: …} for each value",
	stepRead:  "check the read call of the target file and the jq that finds what was written in its answer",
	stepFits:  "check the name and the arguments of that call in the target file",
	stepRight: "correct that key of the target file; `holdfast explain` and docs/target-file.md say what it is for",
	stepStop:  "look at what the processes do when their input ends",
}

// The steps of a trial.
const (
	stepStart = "its processes start"
	stepHelp  = "the helper starts and shakes hands"
	stepTools = "it lists the tools that the target file names"
	stepWrite = "it takes one write"
	stepRead  = "a read shows the write"
	stepProbe = "a probe shows the write"
	stepStop  = "everything stops"
	stepFits  = "its tools take the target file's arguments"
	stepRight = "the target file reads what it answers and shows"
)

// TryOut walks a target through start, handshake, its tools, one write, one read
// back and stop, and ends with the first step that fails. Of s it needs Target,
// Scratch and Version.
func TryOut(ctx context.Context, s Setup) []Step {
	return (&trial{}).walk(ctx, s)
}

// trialOf is what the trial of a target needs.
func (h Harness) trialOf(l Loaded, scratch string) Setup {
	return Setup{Target: l.File, Scratch: scratch, Version: h.Version, Seed: 1}
}

// Starts says why a run on the target would say nothing about it: a process does
// not start or shake hands, or the target file does not fit the helper, because a
// tool is not there or the jq does not fit the answers.
func Starts(ctx context.Context, s Setup) error {
	for _, step := range (&trial{lenient: true}).walk(ctx, s) {
		if !step.OK {
			return fmt.Errorf("%s: no: %s\n%s", step.Name, step.Detail, step.Advice)
		}
	}
	return nil
}

// walk tries the target for one profile of each of its helpers.
func (t *trial) walk(ctx context.Context, s Setup) []Step {
	var helpers, profiles []string
	for _, profile := range []string{target.ProfileDurability, target.ProfileWorkRecords, target.ProfileReceipts, target.ProfileWorkflows} {
		if helper := s.Target.For(profile).Helper(); s.Target.Claims(profile) && !slices.Contains(helpers, helper) {
			helpers, profiles = append(helpers, helper), append(profiles, profile)
		}
	}
	t.several = len(helpers) > 1
	for _, profile := range profiles {
		if !t.tried(ctx, s, profile) {
			break
		}
	}
	return t.steps
}

// named is the helper's name where there is another one.
func (t *trial) named(helper string) string {
	if t.several {
		return helper
	}
	return ""
}

// tried walks the helper of one profile through the steps, and says whether it
// came to their end.
func (t *trial) tried(ctx context.Context, s Setup, profile string) bool {
	var err error
	if s.Folder, err = os.MkdirTemp(s.Scratch, "doctor-"); err != nil {
		t.steps = append(t.steps, Step{Name: stepStart, Detail: fmt.Sprintf("making a folder for its logs: %v", err), Advice: "make room on the disk"})
		return false
	}
	drive := func(w *world.World) {
		t.step(stepStart, func() string { w.Launch(); return "" })
		var c *world.Caller
		t.step(stepHelp, func() string { c = w.NewCaller(); return t.named(w.Target.Helper()) })
		t.step(stepTools, func() string { return allListed(s.Target, w.Target.Helper(), c.Tools()) })
		t.arguments(w, c, profile)
		switch profile {
		case target.ProfileDurability:
			t.writeAndRead(ctx, w, c)
		case target.ProfileWorkRecords:
			t.startAndGet(w, c)
		case target.ProfileReceipts:
			t.updateAndLook(w, c)
		default:
			t.startAndAsk(w, c)
		}
	}
	result := Perform(ctx, Test{
		ID: "doctor", Profile: profile, Drive: drive,
		Judge: func(h history.History) judge.Ruling { return judge.Ruling{Doubts: judge.Misread(h)} },
	}, s)
	switch {
	case t.under != "":
		t.steps = append(t.steps, Step{Name: t.under, Detail: result.Reason, Advice: adviceFor[t.under]})
	case result.Verdict == verdict.Inconclusive:
		t.steps = append(t.steps, Step{Name: stepRight, Detail: result.Reason, Advice: adviceFor[stepRight]})
	case result.Verdict == verdict.Pass:
		t.steps = append(t.steps, Step{Name: stepStop, OK: true})
		return true
	default:
		t.steps = append(t.steps, Step{Name: stepStop, Detail: result.Reason, Advice: adviceFor[stepStop]})
	}
	return false
}

// allListed stops the trial if the target file names a tool that the helper of
// its profile has not.
func allListed(f *target.File, helper string, listed []string) string {
	its := func(profile string) bool { return f.For(profile).Helper() == helper }
	keys := map[string]string{} // where the target file names each tool
	name := func(tool, format string, at any) {
		if key := fmt.Sprintf("profiles."+format, at); keys[tool] == "" || key < keys[tool] {
			keys[tool] = key
		}
	}
	if wr := f.Profiles.WorkRecords; wr != nil && its(target.ProfileWorkRecords) {
		for role, tool := range wr.Tools {
			name(tool.Name, "work-records.tools.%s.name", role)
		}
	}
	if rc := f.Profiles.Receipts; rc != nil && its(target.ProfileReceipts) {
		for role, tool := range rc.Tools {
			name(tool.Name, "receipts.tools.%s.name", role)
		}
	}
	if wf := f.Profiles.Workflows; wf != nil && its(target.ProfileWorkflows) {
		for role, tool := range wf.Tools {
			name(tool.Name, "workflows.tools.%s.name", role)
		}
		for kind, step := range wf.Steps {
			name(step.Tool, "workflows.steps.%s.tool", kind)
		}
	}
	if du := f.Profiles.Durability; du != nil && its(target.ProfileDurability) {
		for part, tools := range map[string][]target.Tool{"setup": du.Setup, "writes": du.Writes, "invalid": du.Invalid} {
			for i, tool := range tools {
				name(tool.Name, "durability."+part+"[%d].name", i)
			}
		}
		if h := du.Handles; h != nil {
			name(h.Issue.Name, "durability.handles.%s.name", "issue")
			name(h.Use.Name, "durability.handles.%s.name", "use")
		}
		if j := du.Jobs; j != nil {
			name(j.Begin.Name, "durability.jobs.%s.name", "begin")
			name(j.Ask.Name, "durability.jobs.%s.name", "ask")
		}
		if du.Keeps != target.KeepsNothing {
			name(du.Read.Name, "durability.read.%s", "name")
		}
	}
	named := slices.Sorted(maps.Keys(keys))
	for _, tool := range named {
		if !slices.Contains(listed, tool) {
			world.Inconclusive("the helper lists no tool %q, which %s in the target file names; it lists %s%s", tool, keys[tool], strings.Join(listed, ", "), nearText(tool, listed))
		}
	}
	return strings.Join(named, ", ")
}

// accepted stops the trial unless a call was acknowledged.
func (t *trial) accepted(op history.Operation) {
	if op.Outcome() == history.Done || t.lenient && !(op.Returned != nil && op.Returned.Unmapped) {
		return
	}
	why := "no answer came"
	if op.Returned != nil && op.Returned.Reason != "" {
		why = op.Returned.Reason
	}
	world.Inconclusive("the call of %s was not accepted: %s", op.Invoked.Tool, why)
}

func (t *trial) writeAndRead(ctx context.Context, w *world.World, c *world.Caller) {
	value := w.Word("doctor")
	t.step(stepWrite, func() string {
		c.SetUp()
		op := c.Do(world.Act{Role: "write", Params: map[string]string{"value": value, "n": "1", "key": "key " + value}})
		t.accepted(op)
		return op.Invoked.Tool
	})
	if w.Target.Profiles.Durability.Keeps == target.KeepsNothing {
		return
	}
	t.step(stepRead, func() string {
		op := c.Do(world.Act{Role: "read"})
		t.accepted(op)
		values, _ := op.Field("values").([]any)
		if !slices.Contains(values, any(value)) && !t.lenient {
			world.Inconclusive("%s was accepted and its answer does not show %q among %s", op.Invoked.Tool, value, reports.Plural(len(values), "value"))
		}
		return op.Invoked.Tool
	})
	if _, there := w.Target.Profiles.Durability.Probes["values"]; there && !t.lenient {
		t.step(stepProbe, func() string { return probed(ctx, w, value) })
	}
}

// probed stops the trial unless the probe comes to show a value that was acknowledged,
// within the time that a spec gives it. Without that no spec can prove a commit.
func probed(ctx context.Context, w *world.World, value string) string {
	shown := func(rows []map[string]any) bool {
		return slices.ContainsFunc(rows, func(row map[string]any) bool { return row["value"] == value })
	}
	// Whether it came is seen by the look that is recorded.
	_ = wait.For(ctx, "the probe to show the write", wait.Default().Proof, func(context.Context) (bool, error) { return shown(w.Peek("values", nil)), nil })
	look := w.Look("values", "doctor", nil)
	switch {
	case look.Error != "":
		world.Inconclusive("the look through probes.values failed: %s", look.Error)
	case !shown(look.Rows):
		world.Inconclusive("the write was acknowledged, and the probe values shows %s, none of them with %q in the column value", reports.Plural(len(look.Rows), "row"), value)
	}
	return "values"
}

func (t *trial) startAndGet(w *world.World, c *world.Caller) {
	var id string
	t.step(stepWrite, func() string {
		op := c.Do(world.Act{Role: "start", Params: map[string]string{
			"task_key": w.Word("doctor"), "title": w.Word("Doctor"), "key": w.Word("doctor-key"),
		}})
		t.accepted(op)
		if id = op.Text("item_id"); id == "" && !t.lenient {
			world.Inconclusive("%s was accepted and its answer has no item_id; check the answer mapping of start", op.Invoked.Tool)
		}
		return op.Invoked.Tool
	})
	t.step(stepRead, func() string {
		op := c.Do(world.Act{Role: "get", Params: map[string]string{"item_id": id}})
		t.accepted(op)
		return op.Invoked.Tool
	})
}

// arguments stops the trial where the calls of receipts are not what their tools take:
// a role whose tool is another one's is seen by that.
func (t *trial) arguments(w *world.World, c *world.Caller, profile string) {
	if profile != target.ProfileReceipts {
		return
	}
	t.step(stepFits, func() string {
		for _, role := range slices.Sorted(maps.Keys(w.Target.Profiles.Receipts.Tools)) {
			act := world.Act{Role: role, Params: map[string]string{"draft": w.Draft("own"), "revision": "1", "command_id": "doctor", "text": w.Word("doctor")}}
			if why := c.Mismatch(act); why != "" {
				world.Inconclusive("the arguments of profiles.receipts.tools.%s in the target file are not what the tool %s takes: %s", role, w.Target.Profiles.Receipts.Tools[role].Name, why)
			}
		}
		return ""
	})
}

// updateAndLook changes a draft and sees that its server has stored the change. What was
// answered and shown before and behind it is held against what the target file reads of it.
func (t *trial) updateAndLook(w *world.World, c *world.Caller) {
	draft := map[string]string{"draft": w.Draft("own")}
	if _, there := w.Target.Profiles.Receipts.Tools["read"]; there {
		c.Do(world.Act{Role: "read", Params: draft}.At("before"))
	}
	w.Look("draft", "before", draft)
	c.LookAtEditor("before", draft["draft"])
	revision := func() int {
		rows := w.Peek("draft", draft)
		if len(rows) != 1 {
			world.Inconclusive("the probe draft shows %s of %s; a fresh store is to hold that draft", reports.Plural(len(rows), "row"), draft["draft"])
		}
		return world.Number(rows[0]["revision"])
	}
	before := 0
	t.step(stepWrite, func() string {
		before = revision()
		op := c.Do(world.Act{Role: "update", Params: map[string]string{
			"draft": draft["draft"], "revision": fmt.Sprint(before), "command_id": "doctor", "text": w.Word("doctor"),
		}})
		t.accepted(op)
		return op.Invoked.Tool
	})
	t.step(stepRead, func() string {
		if after := revision(); after != before+1 && !t.lenient {
			world.Inconclusive("the update was accepted, and the draft went from revision %d to %d; expected one more", before, after)
		}
		stored := func(row map[string]any) bool { return row["command_id"] == "doctor" }
		if rows := w.Peek("receipts", draft); !t.lenient && !slices.ContainsFunc(rows, stored) {
			world.Inconclusive("the update was accepted, and the probe receipts shows %s of %s, none of command ID doctor; check probes.receipts of profiles.receipts", reports.Plural(len(rows), "row"), draft["draft"])
		}
		return "probes draft and receipts"
	})
}

// startAndAsk starts a workflow of one write and asks for its status.
func (t *trial) startAndAsk(w *world.World, c *world.Caller) {
	params := w.Binding("own")
	t.step(stepWrite, func() string {
		params["text"] = w.Word("doctor")
		params["steps"] = "[" + string(c.Step("write", params)) + "]"
		op := c.Do(world.Act{Role: "start", Params: params})
		t.accepted(op)
		if params["operation_id"] = op.Text("operation_id"); params["operation_id"] == "" && !t.lenient {
			world.Inconclusive("%s was accepted and its answer has no operation_id; check the answer mapping of start", op.Invoked.Tool)
		}
		return op.Invoked.Tool
	})
	t.step(stepRead, func() string {
		op := c.Do(world.Act{Role: "status", Params: params})
		t.accepted(op)
		return op.Invoked.Tool
	})
}
