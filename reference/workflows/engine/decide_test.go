package engine

import (
	"encoding/json"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/holdfast-mcp/holdfast/reference/workflows/definitions"
	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

func TestTheTablesAreWhole(t *testing.T) {
	g := NewWithT(t)
	rules := map[Event]int{}
	for _, r := range EventRules() {
		rules[r.Event]++
		g.Expect(r.When).NotTo(BeEmpty())
	}
	used := map[Event]int{}
	operations := map[OperationStep]bool{}
	for _, s := range OperationSteps() {
		used[s.Event] = 1
		key := OperationStep{From: s.From, Event: s.Event}
		g.Expect(operations).NotTo(HaveKey(key), "an event leads to one state")
		operations[key] = true
		if s.From.Settled() && s.From != "" {
			g.Expect(s.To).To(Equal(s.From), "what is settled never changes (WF-27)")
		}
	}
	steps := map[StepStep]bool{}
	for _, s := range StepSteps() {
		used[s.Event] = 1
		key := StepStep{From: s.From, Event: s.Event}
		g.Expect(steps).NotTo(HaveKey(key))
		steps[key] = true
		g.Expect(s.From).NotTo(BeElementOf(ports.Done, ports.StepFail), "what is definite never changes")
	}
	g.Expect(rules).To(Equal(used), "every event has a rule and a cell")
}

// world is what a run of the engine is told, and what the outside world has seen.
type world struct {
	o       ports.Operation
	applied []int // effects by step, counted as a service does that honours keys
	keyed   []bool
	dead    bool // its holder is gone with a step in flight
}

func draw(t *rapid.T) *world {
	n := rapid.IntRange(1, 4).Draw(t, "steps")
	w := &world{o: ports.Operation{ID: "wf_x", Binding: ports.Binding{Profile: "p", Target: "t"}, Seq: 1, State: after("", Started)}, applied: make([]int, n), keyed: make([]bool, n)}
	for range n {
		tool := rapid.SampledFrom([]string{definitions.Publish, definitions.ReadMessages}).Draw(t, "tool")
		w.o.Steps = append(w.o.Steps, ports.Step{Tool: tool, State: ports.Pending})
	}
	return w
}

// request is what the outside world does with a request that left.
func (w *world) request(i int) {
	if w.applied[i] > 0 && w.keyed[i] {
		return
	}
	w.applied[i]++
}

// Whatever befalls an operation, in whatever order: no step that may not be
// repeated is applied twice, nothing settled changes, steps run in order, and what
// is in doubt is never called done, failed or clean.
func TestNothingInDoubtIsReplayed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		for range rapid.IntRange(1, 12).Draw(t, "events") {
			before := w.o.Clone()
			w.befalls(t)
			w.check(t, before)
		}
	})
}

func (w *world) befalls(t *rapid.T) {
	switch {
	case w.o.State.Settled():
		w.o.State = after(w.o.State, rapid.SampledFrom([]Event{Resumed, ResumedInDoubt, CancelledClean, CancelledDoubt}).Draw(t, "asked of what is settled"))
	case w.dead || w.o.State == ports.Interrupted || rapid.IntRange(0, 5).Draw(t, "holder dies") == 0:
		w.o, w.dead = orphaned(w.o), false
		if rapid.Bool().Draw(t, "cancel") {
			w.o = cancelled(w.o)
			return
		}
		w.o, _ = resumed(w.o, declared(t))
	default:
		w.runs(t)
	}
}

func declared(t *rapid.T) ports.Declared {
	return ports.Declared{Idempotent: rapid.Bool().Draw(t, "idempotent"), SafeToRetry: rapid.Bool().Draw(t, "safe to retry")}
}

func (w *world) runs(t *rapid.T) {
	i := w.o.Next()
	again := w.o.Steps[i].State.Doubtful()
	w.o = goingOut(w.o, i, declared(t))
	w.keyed[i] = w.o.Steps[i].Sent.Idempotent
	if rapid.IntRange(0, 4).Draw(t, "dies in flight") == 0 {
		if rapid.Bool().Draw(t, "after it left") {
			w.request(i)
		}
		w.dead = true
		return
	}
	out := ports.Outcome{Ending: rapid.SampledFrom([]ports.Ending{ports.Succeeded, ports.Denied, ports.Refused, ports.Unsent, ports.Doubted, ports.Incomplete}).Draw(t, "ending")}
	switch out.Ending {
	case ports.Succeeded, ports.Incomplete:
		w.request(i)
		out.Result = json.RawMessage(`{}`)
	case ports.Doubted:
		if rapid.Bool().Draw(t, "applied all the same") {
			w.request(i)
		}
	}
	if out.Ending != ports.Succeeded {
		out.Code = ports.CodeOutcomeUnknown
	}
	next, known := concluded(w.o, i, out, circumstances{declared: declared(t), again: again, asked: rapid.Bool().Draw(t, "asked"), stopping: rapid.Bool().Draw(t, "stopping")})
	if !known {
		w.dead = true // the server leaves
		return
	}
	w.o = next
}

func (w *world) check(t *rapid.T, before ports.Operation) {
	if before.State.Settled() && w.o.State != before.State {
		t.Fatalf("%s became %s", before.State, w.o.State)
	}
	next := w.o.Next()
	for i, s := range w.o.Steps {
		switch {
		case i > next && s.State != ports.Pending:
			t.Fatalf("step %d is %s before step %d is done", i, s.State, next)
		case w.applied[i] > 1:
			t.Fatalf("step %d (%+v) was applied %d times", i, s.Sent, w.applied[i])
		case s.State == ports.Done && w.applied[i] != 1:
			t.Fatalf("step %d is done and was applied %d times", i, w.applied[i])
		case (s.State == ports.StepFail || s.State == ports.Pending) && w.applied[i] != 0:
			t.Fatalf("step %d is %s and was applied", i, s.State)
		case w.o.State == ports.Cancelled && s.State.Doubtful() && definitions.AccessOf(s.Tool) == ports.Write:
			t.Fatalf("it is cancelled cleanly with a write in doubt")
		}
	}
	if (w.o.State == ports.Completed) != (next == len(w.o.Steps)) {
		t.Fatalf("it is %s with %d of %d steps done", w.o.State, next, len(w.o.Steps))
	}
	if w.o.State == ports.NeedsReview && !slices.ContainsFunc(w.o.Steps, func(s ports.Step) bool { return s.State == ports.Unknown }) {
		t.Fatalf("it needs a review, and no step is in doubt")
	}
}
