package suites_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/suites"
)

// plan is the IDs that a selection plans, on an interrupted run: nothing starts.
func plan(t *testing.T, s reports.Selection) ([]string, error) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	if s.Level == "" {
		s.Level = "must"
	}
	out := filepath.Join(t.TempDir(), "report")
	_, err := harness().Run(suites.RunOptions{Out: out, Selection: s, Targets: []string{"reference"}, Stop: suites.Stop{Interrupted: ctx}})
	if err != nil {
		return nil, err
	}
	p, err := reports.ReadPlan(out)
	var ids []string
	for _, s := range p.Specs {
		ids = append(ids, s.ID)
	}
	return ids, err
}

func TestASelectionPlansWhatItMatches(t *testing.T) {
	for name, c := range map[string]struct {
		selection reports.Selection
		want      []string
	}{
		"a spec":                  {reports.Selection{Select: []string{"DU-02/fails"}}, []string{"DU-02/fails"}},
		"a clause":                {reports.Selection{Select: []string{"DU-02"}}, []string{"DU-02/fails", "DU-02/fails-everywhere"}},
		"a pattern of clauses":    {reports.Selection{Select: []string{"WR-*"}}, []string{"WR-01/passes"}},
		"a pattern of specs":      {reports.Selection{Select: []string{"*/passes*"}}, []string{"WR-01/passes", "DU-01/passes", "DU-01/passes-too"}},
		"one character":           {reports.Selection{Select: []string{"DU-?2/fails"}}, []string{"DU-02/fails", "DU-12/fails"}},
		"a profile as pattern":    {reports.Selection{Select: []string{"work-records"}}, []string{"WR-01/passes"}},
		"a profile":               {reports.Selection{Profiles: []string{"work-records"}}, []string{"WR-01/passes"}},
		"less what is skipped":    {reports.Selection{Select: []string{"DU-02", "DU-01"}, Skip: []string{"*everywhere", "DU-01/passes"}}, []string{"DU-01/passes-too", "DU-02/fails"}},
		"profile and pattern":     {reports.Selection{Profiles: []string{"work-records"}, Select: []string{"*/passes"}}, []string{"WR-01/passes"}},
		"order is the contract's": {reports.Selection{Select: []string{"DU-12", "DU-04"}}, []string{"DU-04/doubts", "DU-12/fails"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := plan(t, c.selection)
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
			NewWithT(t).Expect(got).To(Equal(c.want))
		})
	}
}

func TestASelectionThatMeansNothingIsTheCallersError(t *testing.T) {
	for name, c := range map[string]struct {
		selection reports.Selection
		says      []string
	}{
		"no such spec":         {reports.Selection{Select: []string{"DU-02/fail"}}, []string{`--select "DU-02/fail" matches no spec, clause or profile`, "did you mean", "DU-02/fails"}},
		"no such clause":       {reports.Selection{Select: []string{"DU-1"}}, []string{`--select "DU-1"`, "DU-01"}},
		"no such pattern":      {reports.Selection{Select: []string{"XX-*"}}, []string{`--select "XX-*"`, "`holdfast list` shows what there is"}},
		"a skip of nothing":    {reports.Selection{Skip: []string{"DU-99"}}, []string{`--skip "DU-99" matches no spec`}},
		"a clause of no spec":  {reports.Selection{Select: []string{"WR-03"}}, []string{"the clause WR-03, which has no spec yet"}},
		"no such profile":      {reports.Selection{Profiles: []string{"durabilty"}}, []string{`--profile "durabilty" names no profile`, "did you mean durability"}},
		"no such level":        {reports.Selection{Level: "may"}, []string{`--level is "may"; expected must or should`}},
		"nothing left":         {reports.Selection{Select: []string{"DU-01"}, Skip: []string{"DU-*"}}, []string{"the selection is empty: no spec is left after --select DU-01 --skip DU-*"}},
		"a profile without it": {reports.Selection{Profiles: []string{"work-records"}, Select: []string{"DU-01"}}, []string{"the selection is empty"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := plan(t, c.selection)
			g.Expect(suites.IsUsage(err)).To(BeTrue(), "%v", err)
			for _, says := range c.says {
				g.Expect(err).To(MatchError(ContainSubstring(says)))
			}
		})
	}
}

func TestWhatTheCallerDidWrongIsSaidBeforeAnythingIsReplaced(t *testing.T) {
	folder := t.TempDir()
	path := func(name, text string) string {
		p := filepath.Join(folder, name)
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	taken := filepath.Join(folder, "taken")
	if err := os.Mkdir(taken, 0o755); err != nil {
		t.Fatal(err)
	}
	path("taken/notes.txt", "mine")
	for name, c := range map[string]struct {
		change func(*suites.RunOptions)
		says   string
	}{
		"no such file":                   {func(o *suites.RunOptions) { o.Targets = []string{folder + "/none.yaml"} }, "there is no such file"},
		"no such built-in":               {func(o *suites.RunOptions) { o.Targets = []string{"referense"} }, "did you mean reference"},
		"an empty file":                  {func(o *suites.RunOptions) { o.Targets = []string{path("empty.yaml", "")} }, "the file is empty"},
		"an unknown key":                 {func(o *suites.RunOptions) { o.Targets = []string{path("key.yaml", builtin["other"]+"nmae: x\n")} }, "nmae"},
		"the same name twice":            {func(o *suites.RunOptions) { o.Targets = []string{"other", path("twin.yaml", builtin["other"])} }, `both called "other"`},
		"a report folder that is a file": {func(o *suites.RunOptions) { o.Out = path("file", "") }, "it is a file"},
		"somebody else's folder":         {func(o *suites.RunOptions) { o.Out = taken }, "holds no report of holdfast"},
		"no such baseline":               {func(o *suites.RunOptions) { o.Baseline = folder + "/none.yaml" }, "check the path given to --baseline"},
		"a missing secret": {func(o *suites.RunOptions) {
			o.Targets = []string{path("secret.yaml", builtin["other"]+"secrets: {token: {env: HOLDFAST_TEST_NO_SUCH}}\n")}
		}, "HOLDFAST_TEST_NO_SUCH"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			t.Setenv("TMPDIR", t.TempDir())
			o := suites.RunOptions{Out: filepath.Join(t.TempDir(), "report"), NoControl: true, Targets: []string{"other"}, Selection: reports.Selection{Level: "must"}}
			c.change(&o)
			_, err := harness().Run(o)
			g.Expect(suites.IsUsage(err)).To(BeTrue(), "%v", err)
			g.Expect(err).To(MatchError(ContainSubstring(c.says)))
			g.Expect(os.ReadDir(os.Getenv("TMPDIR"))).To(BeEmpty(), "nothing is left behind")
		})
	}
}

func TestATargetThatDoesNotStartIsTheCallersError(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("TMPDIR", t.TempDir())
	h := harness()
	h.Preflight = func(context.Context, suites.Setup) error {
		return errors.New("other-helper: not found in PATH")
	}
	out := filepath.Join(t.TempDir(), "report")
	_, err := h.Run(suites.RunOptions{Out: out, NoControl: true, Targets: []string{"other"}, Selection: reports.Selection{Level: "must"}})
	g.Expect(suites.IsUsage(err)).To(BeTrue(), "%v", err)
	g.Expect(err).To(MatchError(And(ContainSubstring("other-helper: not found in PATH"), ContainSubstring("holdfast doctor other"))))
	g.Expect(out).NotTo(BeAnExistingFile())
}

func TestListNamesWhatIsJudgedAndWhatIsNot(t *testing.T) {
	g := NewWithT(t)
	l, err := harness().List("reference")
	g.Expect(err).NotTo(HaveOccurred())
	clause := map[string]suites.ListedClause{}
	for _, c := range l.Clauses {
		clause[c.ID] = c
	}
	g.Expect(clause["DU-01"].Specs).To(Equal([]string{"DU-01/passes", "DU-01/passes-too"}))
	g.Expect(clause["WR-03"].Specs).To(BeEmpty())
	settled := map[string]string{}
	for _, s := range l.Specs {
		settled[s.ID] = s.Settled + " " + s.Reason
	}
	g.Expect(settled["WR-01/passes"]).To(Equal("not-applicable the target does not claim the profile work-records"))
	g.Expect(settled["DU-18/missing"]).To(Equal("inconclusive it has no probe"))
	g.Expect(settled["DU-01/passes"]).To(Equal(" "))
	g.Expect(l.Faults).To(HaveLen(1))
	g.Expect(l.Faults[0].Specs).To(HaveLen(13))
}

func TestExplainKnowsClausesAndSpecsHoweverTheyAreWritten(t *testing.T) {
	g := NewWithT(t)
	for _, id := range []string{"DU-01", "du1", "DU-01/passes"} {
		e, err := harness().Explain(id)
		g.Expect(err).NotTo(HaveOccurred(), id)
		g.Expect(e.Clause.ID).To(Equal("DU-01"))
		g.Expect(e.Mutants).To(HaveLen(3))
		g.Expect(e.Specs).NotTo(BeEmpty())
	}
	for id, says := range map[string]string{
		"XX-01":       `there is no clause "XX-01"`,
		"DU-01/passs": "did you mean DU-01/passes",
	} {
		_, err := harness().Explain(id)
		g.Expect(suites.IsUsage(err)).To(BeTrue())
		g.Expect(err).To(MatchError(ContainSubstring(says)))
	}
}
