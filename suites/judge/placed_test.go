package judge

import (
	"reflect"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

func TestPlaced(t *testing.T) {
	s := newStory()
	s.fault("f1", "answer-lost", hit("committed")...)
	s.fault("f2", "login-held", hit("absent")...)
	isStage := func(stage history.Stage) func(history.Event) bool {
		return func(e history.Event) bool { return e.Fault != nil && e.Fault.ID == "f1" && e.Fault.Stage == stage }
	}
	without := func(stage history.Stage) edit { return removed("stage", isStage(stage)) }
	proof := func(change func(*history.Fault)) edit {
		return each("proof", isStage(history.Proven), func(e *history.Event) { change(e.Fault) })
	}
	unproven := func(why string) []string {
		return []string{"the fault answer-lost (helper · work_note · 1st · answer) is not proven to have hit: " + why}
	}
	variants := []variant{
		{"another kind of fault did not hit", edits(removed("f2", func(e history.Event) bool { return e.Fault.ID == "f2" && e.Fault.Stage == history.Fired })), nil, nil},
		{"the proof names no second route", edits(proof(func(f *history.Fault) { f.By = "" })), nil, unproven("the proof names no second route")},
		{"the proof proves nothing", edits(proof(func(f *history.Fault) { f.Proof = "" })), nil, unproven("the proof does not say what it proves")},
		{"it was cut before the commit", edits(proof(func(f *history.Fault) { f.Proof = "absent" })), nil, unproven(`it needs the proof "committed", and proven is "absent"`)},
		{"it fired before it was proven", edits(func(events []history.Event) []history.Event {
			events[3], events[4] = events[4], events[3]
			return events
		}), nil, unproven("stage fired came before the one that it follows")},
		{"it was never placed", edits(removed("f1", func(e history.Event) bool { return e.Fault.ID == "f1" })), nil, []string{"1 faults answer-lost were needed, 0 were placed"}},
	}
	for _, stage := range []history.Stage{history.Armed, history.Matched, history.Held, history.Proven, history.Fired, history.Observed} {
		variants = append(variants, variant{"it never came to " + string(stage), edits(without(stage)), nil, unproven("it never came to stage " + string(stage))})
	}
	rules(t, Placed("answer-lost", 1), s.told(), variants...)
	expectRuling(t, Placed("answer-lost", 2), s.told(), nil, []string{"2 faults answer-lost were needed, 1 were placed"})
	expectRuling(t, Placed("login-held", 1), s.told(), nil, nil)
	expectRuling(t, Placed("request-lost", 1), with(s.told(), each("name", func(e history.Event) bool { return e.Fault.ID == "f1" },
		func(e *history.Event) { e.Fault.Name = "request-lost" })), nil,
		[]string{`the fault request-lost (helper · work_note · 1st · answer) is not proven to have hit: it needs the proof "absent", and proven is "committed"`})
}

func TestFaultsOf(t *testing.T) {
	s := newStory()
	s.fault("f1", "answer-lost", history.Fault{Stage: history.Armed}, history.Fault{Stage: history.Proven, Proof: "committed", By: "probe intents", Evidence: map[string]any{"rows": 1}})
	s.fault("f2", "race", history.Fault{Stage: history.Armed})
	got := FaultsOf(s.told())
	for i := range got {
		for j := range got[i].Stages {
			if got[i].Stages[j].AtMS < 0 {
				t.Errorf("stage %d of fault %d is at %v ms", j, i, got[i].Stages[j].AtMS)
			}
			got[i].Stages[j].AtMS = 0
		}
	}
	want := []reports.Fault{
		{ID: "f1", Name: "answer-lost", Position: "helper · work_note · 1st · answer", Stages: []reports.Stage{
			{Stage: "armed"}, {Stage: "proven", Proof: "committed", By: "probe intents", Evidence: map[string]any{"rows": float64(1)}}}},
		{ID: "f2", Name: "race", Position: "helper · work_note · 1st · answer", Stages: []reports.Stage{{Stage: "armed"}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the faults of the history are\n%+v\nexpected\n%+v", got, want)
	}
	if none := FaultsOf(history.History{}); none == nil || len(none) != 0 {
		t.Errorf("of no fault %#v is told, expected an empty list", none)
	}
}

func TestAll(t *testing.T) {
	breaks := func(h history.History) (r Ruling) { r.broke("WR-01", "broken"); return }
	doubts := func(h history.History) Ruling { return doubt("not %s", "seen") }
	holds := func(h history.History) Ruling { return Ruling{} }
	expectRuling(t, All(holds, breaks, doubts, breaks), history.History{}, finds(broken("WR-01", "broken"), broken("WR-01", "broken")), []string{"not seen"})
	expectRuling(t, All(holds, holds), history.History{}, nil, nil)
}
