package gate_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/gate"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// The order is an interface: 2, 1, 3, 5, 4, and 130 over all.
func TestWorst(t *testing.T) {
	for _, c := range []struct {
		codes []int
		want  int
	}{
		{nil, 0},
		{[]int{0, 0}, 0},
		{[]int{4}, 4},
		{[]int{4, 5}, 5},
		{[]int{5, 3}, 3},
		{[]int{3, 1}, 1},
		{[]int{1, 2}, 2},
		{[]int{4, 5, 3, 1, 2}, 2},
		{[]int{4, 5, 3, 1}, 1},
		{[]int{4, 5, 3}, 3},
		{[]int{4, 3}, 3},
		{[]int{1, 130}, 130},
		{[]int{2, 130}, 130},
		{[]int{130, 4}, 130},
	} {
		NewWithT(t).Expect(gate.Worst(c.codes...)).To(Equal(c.want), "%v", c.codes)
	}
}

func spec(id string, v verdict.Verdict, clauses ...string) reports.Spec {
	return reports.Spec{ID: id, Clauses: clauses, Verdict: v, Reason: "because"}
}

func rows(specs ...reports.Spec) []reports.Clause {
	levels := map[string]string{"DU-01": "must", "DU-04": "must", "DU-12": "should", "DU-07": "must", "DU-07/bytes": "should"}
	var all []reports.Clause
	for _, id := range []string{"DU-01", "DU-04", "DU-07", "DU-07/bytes", "DU-12"} {
		var of []verdict.Verdict
		for _, s := range specs {
			for _, c := range s.Clauses {
				if c == id {
					of = append(of, s.Verdict)
				}
			}
		}
		if len(of) > 0 {
			all = append(all, reports.Clause{ID: id, Level: levels[id], Profile: "durability", Verdict: verdict.Worst(of...)})
		}
	}
	return all
}

const (
	pass   = verdict.Pass
	fail   = verdict.Fail
	doubt  = verdict.Inconclusive
	broken = verdict.Error
	none   = verdict.NotApplicable
	lost   = verdict.NotRun
)

func TestDecide(t *testing.T) {
	stale := &reports.Baseline{Entries: []reports.BaselineEntry{{Spec: "DU-04/a", State: reports.BaselineStale, Why: "passes"}}}
	expired := &reports.Baseline{Entries: []reports.BaselineEntry{{Spec: "DU-04/a", State: reports.BaselineExpired, Why: "old"}}}
	unused := &reports.Baseline{Entries: []reports.BaselineEntry{{Spec: "DU-04/a", State: reports.BaselineUnused, Why: "not judged"}}}
	excused := spec("DU-04/a", fail, "DU-04")
	excused.Expected = "known-failing"
	should := spec("DU-07/a", fail, "DU-07", "DU-07/bytes")
	should.Findings = []reports.Finding{{Clause: "DU-07/bytes"}}
	must := should
	must.Findings = []reports.Finding{{Clause: "DU-07/bytes"}, {Clause: "DU-07"}}
	control := func(v verdict.Verdict) *reports.Control {
		return &reports.Control{Target: "reference", Specs: []reports.Spec{spec("DU-04/a", v, "DU-04")}}
	}

	for name, c := range map[string]struct {
		specs    []reports.Spec
		level    string
		baseline *reports.Baseline
		control  *reports.Control
		asked    gate.Asked
		want     int
	}{
		"all pass":                               {specs: []reports.Spec{spec("a", pass, "DU-01"), spec("b", none, "DU-04")}, want: 0},
		"one fails":                              {specs: []reports.Spec{spec("a", pass, "DU-01"), spec("b", fail, "DU-04")}, want: 1},
		"a failure is excused":                   {specs: []reports.Spec{spec("a", pass, "DU-01"), excused}, want: 0},
		"a should fails":                         {specs: []reports.Spec{spec("a", pass, "DU-01"), spec("b", fail, "DU-12")}, want: 0},
		"a should fails and was asked for":       {specs: []reports.Spec{spec("a", pass, "DU-01"), spec("b", fail, "DU-12")}, level: "should", want: 1},
		"only the should part is broken":         {specs: []reports.Spec{should}, want: 0},
		"the must part is broken too":            {specs: []reports.Spec{must}, want: 1},
		"an error":                               {specs: []reports.Spec{spec("a", pass, "DU-01"), spec("b", broken, "DU-04")}, want: 3},
		"an error beside a failure":              {specs: []reports.Spec{spec("a", fail, "DU-01"), spec("b", broken, "DU-04")}, want: 1},
		"a lost result":                          {specs: []reports.Spec{spec("a", pass, "DU-01"), spec("b", lost, "DU-04")}, want: 3},
		"a lost result of a should":              {specs: []reports.Spec{spec("a", pass, "DU-01"), spec("b", lost, "DU-12")}, want: 3},
		"a doubt":                                {specs: []reports.Spec{spec("a", pass, "DU-01"), spec("b", doubt, "DU-04")}, want: 5},
		"nothing but doubts":                     {specs: []reports.Spec{spec("b", doubt, "DU-04")}, want: 5},
		"a doubt of a should":                    {specs: []reports.Spec{spec("a", pass, "DU-01"), spec("b", doubt, "DU-12")}, want: 0},
		"as many doubts as allowed":              {specs: []reports.Spec{spec("a", pass, "DU-01"), spec("b", doubt, "DU-04")}, asked: gate.Asked{AllowInconclusive: 1}, want: 0},
		"a doubt beside a lost result":           {specs: []reports.Spec{spec("a", lost, "DU-01"), spec("b", doubt, "DU-04")}, want: 3},
		"nothing planned":                        {want: 3},
		"nothing applies":                        {specs: []reports.Spec{spec("a", none, "DU-01")}, want: 3},
		"only a should ran":                      {specs: []reports.Spec{spec("a", pass, "DU-12")}, want: 3},
		"only a should ran and was asked for":    {specs: []reports.Spec{spec("a", pass, "DU-12")}, level: "should", want: 0},
		"a stale baseline":                       {specs: []reports.Spec{spec("a", pass, "DU-01")}, baseline: stale, want: 4},
		"an expired baseline":                    {specs: []reports.Spec{spec("a", pass, "DU-01")}, baseline: expired, want: 4},
		"an unused entry":                        {specs: []reports.Spec{spec("a", pass, "DU-01")}, baseline: unused, want: 0},
		"a stale baseline beside a doubt":        {specs: []reports.Spec{spec("a", doubt, "DU-01")}, baseline: stale, want: 5},
		"a stale baseline beside a failure":      {specs: []reports.Spec{spec("a", fail, "DU-01")}, baseline: stale, want: 1},
		"the control passes":                     {specs: []reports.Spec{spec("a", pass, "DU-04")}, control: control(pass), want: 0},
		"the control fails":                      {specs: []reports.Spec{spec("a", pass, "DU-04")}, control: control(fail), want: 3},
		"the control has no result":              {specs: []reports.Spec{spec("a", pass, "DU-04")}, control: control(lost), want: 3},
		"the control fails beside a failure":     {specs: []reports.Spec{spec("a", fail, "DU-01")}, control: control(fail), want: 1},
		"a required profile is judged":           {specs: []reports.Spec{spec("a", pass, "DU-01")}, asked: gate.Asked{RequireProfiles: []string{"durability"}}, want: 0},
		"a required profile is not judged":       {specs: []reports.Spec{spec("a", pass, "DU-01")}, asked: gate.Asked{RequireProfiles: []string{"work-records"}}, want: 3},
		"a required clause is judged":            {specs: []reports.Spec{spec("a", pass, "DU-01")}, asked: gate.Asked{RequireClauses: []string{"DU-01"}}, want: 0},
		"a required clause has no spec":          {specs: []reports.Spec{spec("a", pass, "DU-01")}, asked: gate.Asked{RequireClauses: []string{"DU-03"}}, want: 3},
		"a required clause does not apply":       {specs: []reports.Spec{spec("a", pass, "DU-01"), spec("b", none, "DU-04")}, asked: gate.Asked{RequireClauses: []string{"DU-04"}}, want: 3},
		"a required clause is in doubt, allowed": {specs: []reports.Spec{spec("a", pass, "DU-01"), spec("b", doubt, "DU-04")}, asked: gate.Asked{RequireClauses: []string{"DU-04"}, AllowInconclusive: 9}, want: 5},
		"interrupted":                            {specs: []reports.Spec{spec("a", fail, "DU-01"), spec("b", lost, "DU-04")}, asked: gate.Asked{Interrupted: true}, want: 130},
		"the harness broke":                      {specs: []reports.Spec{spec("a", pass, "DU-01")}, asked: gate.Asked{Broken: []string{"the disk is full"}}, want: 3},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			level := c.level
			if level == "" {
				level = "must"
			}
			r := &reports.Report{
				Specs: c.specs, Clauses: rows(c.specs...), Baseline: c.baseline, Control: c.control,
				Selection: reports.Selection{Level: level},
			}
			got := gate.Decide(r, c.asked)
			g.Expect(got.ExitCode).To(Equal(c.want), "%v", got.Reasons)
			g.Expect(got.Verdict).To(Equal(gate.Word(c.want)))
			if c.want != 0 {
				g.Expect(got.Reasons).NotTo(BeEmpty())
				g.Expect(got.Reasons[0].Code).To(Equal(c.want), "the reason that decided comes first")
			}
		})
	}
}

func TestDecideNamesWhatWasCheckedRequiredAndWithoutSpec(t *testing.T) {
	g := NewWithT(t)
	specs := []reports.Spec{spec("a", pass, "DU-01"), spec("b", doubt, "DU-04"), spec("c", fail, "DU-12")}
	got := gate.Decide(&reports.Report{Specs: specs, Clauses: rows(specs...), Selection: reports.Selection{Level: "must"}},
		gate.Asked{RequireProfiles: []string{"durability"}, RequireClauses: []string{"DU-01"}, WithoutSpec: []string{"DU-03"}})
	g.Expect(got.Checked).To(Equal([]string{"DU-01", "DU-12"}))
	g.Expect(got.Required).To(Equal([]string{"durability", "DU-01"}))
	g.Expect(got.WithoutSpec).To(Equal([]string{"DU-03"}))
}

// A reason of several lines (a stack, a panic) stands whole with its spec; the
// gate's is one line.
func TestAReasonOfTheGateIsOneLine(t *testing.T) {
	g := NewWithT(t)
	whole := "the spec broke: a slip\r\ngoroutine 7 [running]:\nmain.main()"
	r := &reports.Report{Specs: []reports.Spec{{ID: "DU-01/a", Clauses: []string{"DU-01"}, Verdict: verdict.Error, Reason: whole}}}
	got := gate.Decide(r, gate.Asked{Broken: []string{"one\ntwo"}})
	g.Expect(got.Reasons).To(ConsistOf(
		reports.Reason{Code: 3, Text: "DU-01/a ended in an error of the harness or the machine: the spec broke: a slip"},
		reports.Reason{Code: 3, Text: "one"},
	))
	g.Expect(r.Specs[0].Reason).To(Equal(whole))
}

// Whether nothing applied or nothing came to its end is told apart.
func TestDecideSaysWhyNothingRan(t *testing.T) {
	g := NewWithT(t)
	decide := func(v verdict.Verdict, asked gate.Asked) []reports.Reason {
		specs := []reports.Spec{spec("a", v, "DU-01")}
		return gate.Decide(&reports.Report{Specs: specs, Clauses: rows(specs...), Selection: reports.Selection{Level: "must"}}, asked).Reasons
	}
	g.Expect(decide(none, gate.Asked{})).To(ContainElement(reports.Reason{Code: 3, Text: "nothing ran: no spec of the selection applies to the target"}))
	g.Expect(decide(lost, gate.Asked{Interrupted: true})).To(ContainElement(reports.Reason{Code: 3, Text: "nothing ran: no spec came to a result"}))
}
