package suites_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reports/verdict"
	"github.com/holdfast-mcp/holdfast/suites"
)

func selfTest(t *testing.T, o suites.MutantOptions, h suites.Harness) suites.MutantReport {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	o.Out, o.Procs = filepath.Join(t.TempDir(), "mutants"), 2
	r, err := h.SelfTest(o)
	if err != nil {
		t.Fatal(err)
	}
	NewWithT(t).Expect(filepath.Join(o.Out, "mutants.json")).To(BeARegularFile())
	return r
}

func outcomes(r suites.MutantReport) map[string]string {
	all := map[string]string{}
	for _, res := range r.Results {
		all[res.Name] = res.Outcome
	}
	return all
}

// only keeps the tests that the mutants below are about, so that every clause
// with a spec has a mutant.
func only(h suites.Harness, ids ...string) suites.Harness {
	var kept []suites.Test
	for _, t := range h.Tests {
		for _, id := range ids {
			if t.ID == id {
				kept = append(kept, t)
			}
		}
	}
	h.Tests = kept
	return h
}

func TestAMutantIsCaughtByItsClauseOrNot(t *testing.T) {
	g := NewWithT(t)
	r := selfTest(t, suites.MutantOptions{Names: []string{"loses", "harmless", "blind", "liar"}}, harness())
	g.Expect(outcomes(r)).To(Equal(map[string]string{
		"unmutated": "no finding", "loses": "caught", "harmless": "survived", "blind": "unmasked", "liar": "fooled",
	}))
	g.Expect(r.ExitCode).To(Equal(1))
	g.Expect(r.Reasons).To(HaveLen(2))
	g.Expect(r.Reasons[0]).To(And(ContainSubstring("mutant harmless: survived: DU-01 has no finding"), ContainSubstring("DU-01/passes pass")))
	g.Expect(r.Reasons[1]).To(ContainSubstring("saboteur liar: fooled: DU-01/passes pass"))
	g.Expect(r.Specs).To(HaveLen(2+2+2+1+1), "the unmutated specs once, a mutant's by its clause, a saboteur's by name")
}

func TestAMutantMayBreakOnlyWhatItLists(t *testing.T) {
	g := NewWithT(t)
	h := harness()
	r := selfTest(t, suites.MutantOptions{Names: []string{"loses-more"}}, only(h, "DU-01/passes", "DU-01/passes-too", "DU-21/repeats"))
	g.Expect(outcomes(r)).To(HaveKeyWithValue("loses-more", "unlisted"))
	g.Expect(r.Results[1].Detail).To(ContainSubstring("DU-21"))
	g.Expect(outcomes(r)).To(HaveKeyWithValue("unmutated", "accused"), "DU-21/repeats fails on the reference as it is")
}

func TestEveryClauseWithASpecNeedsAMutant(t *testing.T) {
	g := NewWithT(t)
	h := only(harness(), "DU-01/passes", "DU-18/not-for")
	h.Mutants = h.Mutants[:1]
	r := selfTest(t, suites.MutantOptions{}, h)
	g.Expect(outcomes(r)).To(Equal(map[string]string{"unmutated": "no finding", "loses": "caught"}))
	g.Expect(r.ExitCode).To(Equal(1))
	g.Expect(r.Reasons).To(ConsistOf(ContainSubstring("no mutant shows these clauses red, so nothing proves their specs: DU-18")))
}

func TestASelfTestOfOneMutantThatHoldsEndsWithZero(t *testing.T) {
	r := selfTest(t, suites.MutantOptions{Names: []string{"loses"}}, harness())
	NewWithT(t).Expect(r.ExitCode).To(Equal(0), "%v", r.Reasons)
}

func TestAllSpecsRunOnAMutantWhenAsked(t *testing.T) {
	h := only(harness(), "DU-01/passes", "DU-01/passes-too", "DU-18/not-for")
	r := selfTest(t, suites.MutantOptions{Names: []string{"loses"}, All: true}, h)
	NewWithT(t).Expect(r.Results[1].Specs).To(Equal(3))
	NewWithT(t).Expect(outcomes(r)).To(HaveKeyWithValue("loses", "caught"))
}

func TestAnUnknownMutantIsTheCallersError(t *testing.T) {
	_, err := harness().SelfTest(suites.MutantOptions{Names: []string{"lose"}, Out: t.TempDir()})
	NewWithT(t).Expect(suites.IsUsage(err)).To(BeTrue())
	NewWithT(t).Expect(err).To(MatchError(And(ContainSubstring(`no mutant "lose"`), ContainSubstring("did you mean loses"))))
}

func TestCheckFindsAHarnessThatIsPutTogetherWrongly(t *testing.T) {
	g := NewWithT(t)
	g.Expect(harness().Check()).To(Succeed())
	h := harness()
	h.Tests = append(h.Tests,
		spec("DU-01/passes", "durability"), spec("DU-01/Loud", "durability"), spec("DU-77/unknown", "durability"), spec("DU-04/profile", "none"),
		suites.Test{ID: "DU-04/elsewhere", Clauses: []string{"DU-05"}, Profile: "durability"})
	h.Mutants = append(h.Mutants,
		suites.Mutant{Name: "loses", Primary: "DU-01"},
		suites.Mutant{Name: "wrong", Primary: "DU-99", Specs: []string{"DU-98*"}},
		suites.Mutant{Name: "wide", Primary: "DU-01", Collateral: []suites.Collateral{{"DU-02", "a"}, {"DU-03", "a"}, {"DU-04", "a"}, {"DU-05", ""}}},
		suites.Mutant{Name: "idle", Saboteur: true})
	g.Expect(h.Check()).To(MatchError(And(
		ContainSubstring("spec DU-01/passes is there twice"),
		ContainSubstring(`spec "DU-01/Loud": expected an ID such as`),
		ContainSubstring(`names the clause "DU-77"`),
		ContainSubstring(`of the profile "none"`),
		ContainSubstring("expected its first clause to be DU-04"),
		ContainSubstring(`mutant "loses": expected a name of its own`),
		ContainSubstring(`its primary clause "DU-99" is not in the contract`),
		ContainSubstring(`"DU-98*" matches no spec`),
		ContainSubstring("wide has 4 collateral clauses"),
		ContainSubstring(`collateral "DU-05" needs`),
		ContainSubstring("saboteur idle names no specs"),
	)))
}

func repro(t *testing.T, change func(*suites.ReproOptions), report string) (suites.ReproReport, error) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	o := suites.ReproOptions{Report: report, Times: 5, Procs: 2}
	if change != nil {
		change(&o)
	}
	return harness().Repro(o)
}

func TestReproRunsWhatFailedFromItsSchedule(t *testing.T) {
	g := NewWithT(t)
	_, out := run(t, nil, "DU-01/passes", "DU-21/repeats")
	r, err := repro(t, nil, out)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Results).To(HaveLen(1))
	g.Expect(r.Results[0].ID).To(Equal("DU-21/repeats"))
	g.Expect(r.Results[0].Failed).To(Equal(5), "%s", r.Results[0].Others)
	g.Expect(r.Results[0].Times).To(Equal(5))
	g.Expect(r.ExitCode).To(Equal(1))
	g.Expect(filepath.Join(out, "report.json")).To(BeARegularFile(), "the report stays")
	g.Expect(filepath.Join(out, "repro", "artifacts", "DU-21", "repeats", "5")).To(BeADirectory())

	r, err = repro(t, func(o *suites.ReproOptions) { o.IDs, o.Times = []string{"DU-01"}, 2 }, out)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Results).To(HaveLen(1))
	g.Expect(r.Results[0].Others).To(Equal("2 pass"))
	g.Expect(r.ExitCode).To(Equal(0))
}

func TestReproSaysWhatItCannotRunAgain(t *testing.T) {
	g := NewWithT(t)
	_, out := run(t, nil, "DU-01/passes")
	for _, c := range []struct {
		change func(*suites.ReproOptions)
		says   string
	}{
		{nil, "nothing failed in this report; name the specs that you want to see again, such as DU-01/passes"},
		{func(o *suites.ReproOptions) { o.IDs = []string{"DU-01/passed"} }, `"DU-01/passed" matches no spec that ran in this report (did you mean DU-01/passes?); the folders below its artifacts/ name those that did`},
		{func(o *suites.ReproOptions) { o.Times = 0 }, "--times is 0; expected a number from 1"},
		{func(o *suites.ReproOptions) { o.Report = t.TempDir() }, "there is no report.json"},
		{func(o *suites.ReproOptions) {
			o.IDs = []string{"DU-01/passes"}
			os.Remove(filepath.Join(out, "artifacts", "DU-01", "passes", "schedule.yaml"))
		}, "left no schedule"},
	} {
		_, err := repro(t, c.change, out)
		g.Expect(suites.IsUsage(err)).To(BeTrue(), "%v", err)
		g.Expect(err).To(MatchError(ContainSubstring(c.says)))
	}
}

func TestAnInterruptedSelfTestEndsWith130(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	r := selfTest(t, suites.MutantOptions{Names: []string{"loses"}, Stop: suites.Stop{Interrupted: ctx}}, harness())
	NewWithT(t).Expect(r.ExitCode).To(Equal(130))
	NewWithT(t).Expect(r.Specs[0].Verdict).To(Equal(verdict.NotRun))
}

func TestReproAllowsNothingOutsideByItself(t *testing.T) {
	g := NewWithT(t)
	_, out := run(t, nil, "DU-01/passes")
	file := filepath.Join(out, "target.yaml")
	text, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	outside := regexp.MustCompile(`mcp: stdio`).ReplaceAllString(string(text), `env: {NOTES: /srv/other-people/notes.db}, mcp: stdio`)
	g.Expect(outside).NotTo(Equal(string(text)))
	g.Expect(os.WriteFile(file, []byte(outside), 0o644)).To(Succeed())

	again := func(o *suites.ReproOptions) { o.IDs, o.Times = []string{"DU-01/passes"}, 1 }
	_, err = repro(t, again, out)
	g.Expect(suites.IsUsage(err)).To(BeTrue(), "%v", err)
	g.Expect(err).To(MatchError(ContainSubstring("/srv/other-people/notes.db")))
	_, err = repro(t, func(o *suites.ReproOptions) { again(o); o.AllowOutside = []string{"/srv/other-people"} }, out)
	g.Expect(err).NotTo(HaveOccurred())
}
