package holdfast_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/fixtures/targets"
	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/gate"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
	"github.com/holdfast-mcp/holdfast/suites/durability"
)

func TestVerdictsAreThoseOfTheCode(t *testing.T) {
	var want []string
	for _, v := range verdict.All() { // worst first, as the table says
		want = append(want, string(v))
	}
	if got := first(table(t, "README.md", "## Verdicts")); !slices.Equal(got, want) {
		t.Errorf("README.md, Verdicts: got %q, the code has %q", got, want)
	}
}

func TestExitCodesAreThoseOfTheCode(t *testing.T) {
	codes := []int{gate.Passed, gate.Violation, gate.Usage, gate.Incomplete, gate.Stale, gate.Inconclusive, gate.Interrupted}
	slices.Sort(codes)
	var want, got []string
	for _, code := range codes {
		want = append(want, fmt.Sprintf("%d %s", code, gate.Word(code)))
	}
	for _, row := range table(t, "README.md", "## Exit codes") {
		got = append(got, row[0]+" "+row[1])
	}
	if !slices.Equal(got, want) {
		t.Errorf("README.md, Exit codes: got %q, the code has %q", got, want)
	}
	// Which one stands, tried one against the next.
	readme := document(t, "README.md")
	m := regexp.MustCompile(`the first of ([\d, ]+) stands; (\d+) stands over all`).FindStringSubmatch(readme)
	if m == nil {
		t.Fatal("README.md does not say which exit code stands where several hold")
	}
	order := strings.Split(m[1], ", ")
	for i := range order[1:] {
		if before, after := number(t, order[i]), number(t, order[i+1]); gate.Worst(after, before) != before {
			t.Errorf("README.md says that %d stands before %d, and the gate takes %d", before, after, gate.Worst(after, before))
		}
	}
	if all := append(codes[:len(codes)-1:len(codes)-1], number(t, m[2])); len(order) != len(codes)-2 || gate.Worst(all...) != number(t, m[2]) {
		t.Errorf("README.md leaves a code out, or %s does not stand over all: %q", m[2], order)
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestStagesAreThoseOfTheCode(t *testing.T) {
	var want []string
	for _, s := range history.Stages() {
		want = append(want, string(s))
	}
	readme := document(t, "README.md")
	if line := strings.Join(want, " → "); !strings.Contains(readme, "\n"+line+"\n") {
		t.Errorf("README.md does not have the line %q", line)
	}
	if got := first(table(t, "README.md", "## How a fault is proven")); !slices.Equal(got, want) {
		t.Errorf("README.md, table of stages: got %q, the code has %q", got, want)
	}
	for _, f := range blocks(t, "README.md", "json") {
		var fault reports.Fault
		decoder := json.NewDecoder(strings.NewReader(f.text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&fault); err != nil {
			t.Fatalf("README.md:%d is no entry of faults[]: %v", f.line, err)
		}
		var got []string
		for _, s := range fault.Stages {
			got = append(got, s.Stage)
		}
		if !slices.Equal(got, want) {
			t.Errorf("README.md:%d: the fault came to %q, expected %q", f.line, got, want)
		}
	}
}

func TestTheTargetFileOfTheReadmeIsOne(t *testing.T) {
	found := 0
	for _, f := range blocks(t, "README.md", "yaml") {
		if !strings.HasPrefix(f.text, "holdfast: ") {
			continue
		}
		found++
		file, err := target.Parse("README.md", []byte(f.text))
		if err != nil {
			t.Errorf("README.md:%d: %v", f.line, err)
			continue
		}
		if err := file.CheckIsolation(nil); err != nil {
			t.Errorf("README.md:%d: %v", f.line, err)
		}
		for _, s := range durability.Tests() {
			if s.Missing != nil && s.Missing(file) != "" {
				t.Errorf("README.md:%d: %s could not be judged: %s", f.line, s.ID, s.Missing(file))
			}
		}
	}
	if found == 0 {
		t.Error("README.md shows no target file")
	}
}

// What the README names of targets, helpers and their versions is what is there.
func TestBuiltInTargetsAreNamed(t *testing.T) {
	readme := document(t, "README.md")
	m := regexp.MustCompile("and in the binary: (.+)\\.\n").FindStringSubmatch(readme)
	if m == nil {
		t.Fatal("README.md does not list the built-in targets")
	}
	var got []string
	for _, b := range inBackticks.FindAllStringSubmatch(m[1], -1) {
		got = append(got, b[1])
	}
	slices.Sort(got)
	if !slices.Equal(got, targets.Names()) {
		t.Errorf("README.md lists the built-in targets %q, there are %q", got, targets.Names())
	}
}
