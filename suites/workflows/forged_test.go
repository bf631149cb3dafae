package workflows

import "testing"

func TestForgeriesAreManyAndNoneIsTheReferenceItself(t *testing.T) {
	const id = "wf_abcdefghij"
	whats, references := map[string]bool{}, map[string]bool{}
	for _, f := range forgeries(id, "../../decoys/"+id, "/world/decoys/"+id) {
		if f.reference == id {
			t.Errorf("%s is the reference itself", f.what)
		}
		if whats[f.what] || references[f.reference] {
			t.Errorf("%s is there twice, or its reference %q is", f.what, f.reference)
		}
		if len(f.reference) > 4096 {
			t.Errorf("%s has %d bytes, which no path has", f.what, len(f.reference))
		}
		whats[f.what], references[f.reference] = true, true
	}
	if len(whats) < 40 {
		t.Errorf("there are %d forgeries, at least 40 are needed", len(whats))
	}
	for _, f := range forgeries("1_23", "../1_23", "/1_23") {
		if f.reference == "1_23" {
			t.Errorf("%s of an ID without letters is the ID itself", f.what)
		}
	}
}

func TestAnIDThatNeverWasHasTheSameShape(t *testing.T) {
	for id, want := range map[string]string{"wf_abc": "wf_cba", "0-1234": "0-4321", "ab": "ba"} {
		if got := neverWas(id); got != want {
			t.Errorf("of %q became %q, expected %q", id, got, want)
		}
	}
}

func TestTheLastCharacterIsAltered(t *testing.T) {
	for value, want := range map[string]string{"ab": "a2", "a2": "a3", "": "2"} {
		if got := lastAltered(value); got != want {
			t.Errorf("of %q became %q, expected %q", value, got, want)
		}
	}
}
