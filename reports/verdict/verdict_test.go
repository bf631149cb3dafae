package verdict

import (
	"reflect"
	"testing"
)

func TestWorst(t *testing.T) {
	tests := []struct {
		name string
		of   []Verdict
		is   Verdict
	}{
		{"none", nil, NotRun},
		{"one pass", []Verdict{Pass}, Pass},
		{"a pass among what cannot apply", []Verdict{NotApplicable, Pass, NotApplicable}, Pass},
		{"nothing applies", []Verdict{NotApplicable, NotApplicable}, NotApplicable},
		{"what did not run is no pass", []Verdict{Pass, NotRun, Pass}, NotRun},
		{"what could not be judged", []Verdict{NotRun, Inconclusive, Pass}, Inconclusive},
		{"an error outweighs a doubt", []Verdict{Inconclusive, Error, NotRun}, Error},
		{"a failure outweighs all", []Verdict{Error, Pass, Fail, Inconclusive, NotRun, NotApplicable}, Fail},
		{"a word that is none", []Verdict{Pass, "passed"}, Error},
		{"an empty word", []Verdict{"", Pass}, Error},
		{"a word that is none, and a failure", []Verdict{"", Fail}, Fail},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Worst(tt.of...); got != tt.is {
				t.Errorf("the worst of %q is %q, expected %q", tt.of, got, tt.is)
			}
		})
	}
}

func TestOrder(t *testing.T) {
	// Frozen: people script against these words.
	want := []Verdict{"fail", "error", "inconclusive", "not-run", "pass", "not-applicable"}
	if got := All(); !reflect.DeepEqual(got, want) {
		t.Fatalf("the verdicts are %q, expected %q", got, want)
	}
	for i, a := range want {
		if !Valid(a) {
			t.Errorf("%q is a verdict", a)
		}
		for j, b := range want {
			if Worse(a, b) != (i < j) {
				t.Errorf("%q is worse than %q: %t", a, b, Worse(a, b))
			}
			if worst := Worst(a, b); worst != want[min(i, j)] {
				t.Errorf("the worst of %q and %q is %q", a, b, worst)
			}
		}
	}
	All()[0] = "changed"
	if All()[0] != Fail {
		t.Error("who asked for all verdicts can change them")
	}
	if Valid("") || Valid("passed") || Valid("PASS") {
		t.Error("a word that is none of the six is taken for a verdict")
	}
}
