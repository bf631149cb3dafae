package schedule_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-mcp/holdfast/faults/schedule"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"pgregory.net/rapid"
)

func mustChoose(t interface{ Fatal(...any) }, s *schedule.Schedule, name string, n int) int {
	c, err := s.Choose(name, n)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAChoiceDependsOnSeedAndNameOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Int64().Draw(t, "seed")
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,8}`), 2, 8, rapid.ID).Draw(t, "names")
		n := rapid.IntRange(1, 1000).Draw(t, "n")
		forward, backward := schedule.New("WR-01/x", "t", seed), schedule.New("WR-01/x", "t", seed)
		first := map[string]int{}
		for _, name := range names {
			first[name] = mustChoose(t, forward, name, n)
		}
		for i := range names {
			name := names[len(names)-1-i]
			c := mustChoose(t, backward, name, n)
			if c != first[name] || c < 0 || c >= n || c != mustChoose(t, backward, name, n) {
				t.Fatalf("%s of %d: %d, then %d", name, n, first[name], c)
			}
		}
	})
}

func TestChoicesDiffer(t *testing.T) {
	seen, words := map[int]bool{}, map[uint32]bool{}
	for seed := range int64(64) {
		s := schedule.New("WR-01/x", "t", seed)
		seen[mustChoose(t, s, "kill", 8)] = true
		words[s.Word(1)] = true
		words[s.Word(2)] = true
	}
	if len(seen) != 8 || len(words) != 128 {
		t.Errorf("64 seeds gave %d of 8 choices and %d of 128 words", len(seen), len(words))
	}
}

func recorded(t *testing.T) history.History {
	t.Helper()
	rec := history.NewRecorder(nil)
	for _, stage := range []history.Stage{history.Armed, history.Matched} {
		rec.Record(history.Event{Kind: history.KindFault, Fault: &history.Fault{ID: "f1", Name: "kill", Stage: stage, Position: "helper · start"}})
	}
	h, err := rec.History()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestAReplayChoosesWhatWasRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "schedule.yaml")
	s := schedule.New("WR-06/answer-cut", "acme-notes", 42)
	kill, round := mustChoose(t, s, "kill after", 100), mustChoose(t, s, "round", 7)
	s.Note(recorded(t))
	if err := s.Write(path); err != nil {
		t.Fatal(err)
	}
	r, err := schedule.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if r.Spec != "WR-06/answer-cut" || r.Target != "acme-notes" || r.Seed != 42 || r.Word(3) != s.Word(3) {
		t.Errorf("read %s, %s, %d", r.Spec, r.Target, r.Seed)
	}
	if mustChoose(t, r, "round", 7) != round || mustChoose(t, r, "kill after", 100) != kill {
		t.Error("the replay chose otherwise")
	}
	if got := fmt.Sprint(r.Placements()); got != "[{f1 kill helper · start [armed matched]}]" {
		t.Errorf("the placements are %s", got)
	}
	again := filepath.Join(t.TempDir(), "again.yaml")
	if err := r.Write(again); err != nil {
		t.Fatal(err)
	}
	a, _ := os.ReadFile(path)
	b, _ := os.ReadFile(again)
	if string(a) != string(b) {
		t.Errorf("a schedule that was read is written as\n%s\ninstead of\n%s", b, a)
	}
	for _, c := range []struct {
		name string
		n    int
		want string
	}{
		{"round", 8, `choosing "round": the schedule of WR-06/answer-cut has it as one of 7, the spec asks for one of 8; the spec has changed`},
		{"other", 3, `choosing "other": the schedule of WR-06/answer-cut has no such choice, only [kill after round]`},
		{"round", 0, `choosing "round" of 0 possibilities: expected at least one`},
	} {
		if _, err := r.Choose(c.name, c.n); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("choosing %s of %d: %v", c.name, c.n, err)
		}
	}
	if _, err := s.Choose("round", 8); err == nil || !strings.Contains(err.Error(), "give the other one a name of its own") {
		t.Errorf("one name for two choices: %v", err)
	}
}

func TestDeparturesOfAReplay(t *testing.T) {
	s := schedule.New("WR-06/answer-cut", "t", 1)
	s.Note(recorded(t))
	if d := s.Departures(recorded(t)); len(d) != 0 {
		t.Errorf("the same history departs: %v", d)
	}
	rec := history.NewRecorder(nil)
	fault := func(id, name, position string) {
		rec.Record(history.Event{Kind: history.KindFault, Fault: &history.Fault{ID: id, Name: name, Stage: history.Armed, Position: position}})
	}
	now := func() history.History { h, _ := rec.History(); return h }
	if d := s.Departures(now()); fmt.Sprint(d) != "[kill (helper · start) was not placed again]" {
		t.Errorf("without the fault: %v", d)
	}
	fault("f1", "kill", "helper · start")
	if d := s.Departures(now()); fmt.Sprint(d) != "[kill (helper · start) came to [armed] instead of [armed matched]]" {
		t.Errorf("not so far: %v", d)
	}
	fault("f2", "race", "helper · note")
	if d := s.Departures(now()); len(d) != 2 || d[1] != "race (helper · note) is not in the schedule" {
		t.Errorf("one more: %v", d)
	}
}

func TestReadRefusesWhatItCannotFollow(t *testing.T) {
	const head = "holdfast_schedule: 1\nspec: WR-01/x\ntarget: t\nseed: 1\n"
	for name, c := range map[string]struct{ text, want string }{
		"empty":               {"", "it is empty"},
		"no YAML":             {"a: [", "schedule.yaml: "},
		"unknown key":         {head + "colour: red\n", `unknown field "colour"`},
		"where it is":         {head + "colour: red\n", "[5:1]"},
		"wrong type":          {"holdfast_schedule: 1\nspec: WR-01/x\ntarget: t\nseed: soon\n", "[4:7]"},
		"other version":       {"holdfast_schedule: 9\n", "holdfast_schedule is 9, expected 1"},
		"no spec":             {"holdfast_schedule: 1\n", "spec is missing"},
		"no target":           {"holdfast_schedule: 1\nspec: x\n", "target is missing"},
		"choice out of range": {head + "choices: [{name: k, of: 3, chosen: 3}]\n", "choices[0] (k): chosen is 3 of 3, expected a number from 0 to of-1"},
		"choice twice":        {head + "choices: [{name: k, of: 3, chosen: 1}, {name: k, of: 3, chosen: 2}]\n", `choices[1]: "k" is there twice`},
		"choice unnamed":      {head + "choices: [{of: 3, chosen: 1}]\n", "choices[0] has no name"},
		"no such stage":       {head + "placements: [{id: f1, name: kill, stages: [armed, done]}]\n", `placements[0] (kill): "done" is no stage`},
		"placement unnamed":   {head + "placements: [{stages: []}]\n", "placements[0] lacks its id or its name"},
	} {
		path := filepath.Join(t.TempDir(), "schedule.yaml")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := schedule.Read(path); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v\nexpected %q", name, err, c.want)
		}
	}
	if _, err := schedule.Read(filepath.Join(t.TempDir(), "none.yaml")); err == nil || !strings.Contains(err.Error(), "expected the schedule.yaml in a spec's folder") {
		t.Errorf("a missing file: %v", err)
	}
	if err := schedule.New("x", "t", 1).Write(filepath.Join(t.TempDir(), "none", "schedule.yaml")); err == nil || !strings.Contains(err.Error(), "writing the schedule of x to") {
		t.Errorf("a missing folder: %v", err)
	}
}
