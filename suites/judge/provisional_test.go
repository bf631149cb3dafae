package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// waitedForLogin is WR-10: a start is tried behind a shut guard, by an app that
// is started again meanwhile, and applied once the guard is clear.
func waitedForLogin() history.History {
	s := newStory()
	s.call("start", params("task_key", "t1", "key", "k1"), done("item_id", "i1", "state", "queued")) // c1
	tried := func(n int) map[string]any {
		return row("seq", 1, "kind", "start", "state", "retrying", "class", "transient", "attempts", n)
	}
	held := func(n int) {
		s.look("intents", "held", item("i1"), tried(n))
		s.look("anchor", "held", item("i1"), row("item_id", "i1", "state", "provisional"))
		s.call("get", and(item("i1"), "moment", "held"), done("item_id", "i1", "state", "retrying", "anchor", "provisional")) // c2, c3
	}
	held(25)
	s.rec.Record(history.Event{Kind: history.KindProcess, Process: &history.Process{Name: "app", Instance: 2, State: history.Started}})
	held(27)
	s.look("intents", "held", item("i1"), tried(27))
	s.look("intents", "converged", item("i1"), row("seq", 1, "kind", "start", "state", "applied", "attempts", 28))
	s.call("get", and(item("i1"), "moment", "converged"), done("item_id", "i1", "state", "applied", "anchor", "live")) // c4
	return s.told()
}

func TestProvisionalIsNoFailure(t *testing.T) {
	answered := func(name, fact string, e ...edit) variant {
		return variant{name, e, finds(broken("WR-10", "an answer calls a start failed that waits for its guard", "call c3 (get): "+fact)), nil}
	}
	stray := func(state string) variant {
		return variant{"the anchor is " + state, edits(cell("anchor", "held", 0, "state", state)),
			finds(broken("WR-10", "an anchor that waits for its guard did not stay provisional", `anchor i1: "`+state+`"`)), nil}
	}
	early := func(events []history.Event) []history.Event { // a call between the last look behind the guard and the first at the end
		call := func(phase history.CallPhase) history.Event {
			return history.Event{Kind: history.KindCall, Call: &history.Call{ID: "c9", Phase: phase, Role: "note", Outcome: history.Done}}
		}
		n := len(events) - 3
		return append(append(append([]history.Event{}, events[:n]...), call(history.Invoked), call(history.Returned)), events[n:]...)
	}
	rules(t, ProvisionalIsNoFailure(1), waitedForLogin(),
		stray("dead"), stray("live"),
		variant{"the anchor is gone", edits(shows("anchor", "held")),
			finds(broken("WR-10", "an anchor that waits for its guard did not stay provisional", "anchor i1: nothing")), nil},
		answered("the answer says failed", `state "failed", anchor "provisional", class "", code ""`, field("c3", "state", "failed")),
		answered("the answer says dead", `state "retrying", anchor "dead", class "", code ""`, field("c3", "anchor", "dead")),
		answered("the answer is a refusal for good", `state "", anchor "", class "permanent", code "start_failed"`, ends("c3", refused("permanent", "start_failed"))),
		answered("the failure is permanent", `state "retrying", anchor "provisional", class "permanent", code ""`, field("c3", "failure_class", "permanent")),
		variant{"the answer is a refusal for a while", edits(ends("c3", refused("transient", "busy"))), nil, nil},
		variant{"an answer is lost", edits(ends("c3", unknown())), nil,
			[]string{"call c3 (get) got no answer, so that it is not known what it says of item i1"}},
		variant{"nobody asked", edits(noCall("c2", "c3")), nil, []string{"nobody asked about item i1 behind the shut guard"}},
		variant{"it is not applied", edits(cell("intents", "converged", 0, "state", "failed"), cell("intents", "converged", 0, "code", "given_up")),
			finds(broken("WR-10", "a start was not applied once its guard was clear", `intent 1 (start) of item i1 is "failed", code "given_up"`)), nil},
		variant{"it is gone", edits(shows("intents", "converged")), finds(broken("WR-10", "the start of a provisional anchor is gone", "item i1")), nil},
		variant{"it needed another call", edits(early), nil,
			[]string{"call c9 (note) was made after the guard was clear, so that it is not known whether item i1 needed it"}},
		variant{"the end was not seen", edits(noLook("intents", "converged")), nil, []string{"the intents of item i1 were not seen at the end"}},
		variant{"the anchor was not seen", edits(noLook("anchor", "held")), nil, []string{"the anchor of item i1 was not seen behind the shut guard"}},
		variant{"the look at the anchor failed", edits(lookFails("anchor", "held")), nil, []string{
			"the look at the anchor of item i1 failed: the look itself failed", "the look at the anchor of item i1 failed: the look itself failed",
			"the anchor of item i1 was not seen behind the shut guard"}},
		variant{"the app was not started again", edits(removed("start of the app", func(e history.Event) bool { return e.Kind == history.KindProcess })), nil,
			[]string{"the app was to be started 1 time behind the shut guard, and was started 0 times"}},
		variant{"nothing was started", edits(noCall("c1")), nil, []string{"no start was acknowledged"}},
	)
}
