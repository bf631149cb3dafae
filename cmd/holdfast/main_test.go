package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
	"github.com/holdfast-mcp/holdfast/suites"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-test.") {
		main() // a run of these tests starts this binary as it would start holdfast
	}
	harness().Main()
	os.Exit(m.Run())
}

// holdfast runs a command line in this process.
func holdfast(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	var o, e bytes.Buffer
	code = execute(harness(), args, &o, &e)
	return code, o.String(), e.String()
}

func TestTheHarnessIsPutTogetherRightly(t *testing.T) {
	NewWithT(t).Expect(harness().Check()).To(Succeed())
}

// Whatever is typed wrong ends with 2, a sentence that says what to do, nothing
// on stdout, and no stack.
func TestBadCommandLines(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	minimal := "holdfast: 1\nname: x\nprocesses: {helper: {run: [x], mcp: stdio}}\nprofiles: {durability: {writes: [{name: a, arguments: {v: \"{{value}}\"}}], read: {name: b, values: .x}}}\n"
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"nothing":                    {nil, "Available Commands"},
		"an unknown verb":            {[]string{"runn"}, `there is no verb "runn" (did you mean run?)`},
		"help of an unknown verb":    {[]string{"harness", "--help"}, `there is no verb "harness"`},
		"help with an unknown verb":  {[]string{"help", "harness"}, `there is no verb "harness"`},
		"help with a slip":           {[]string{"help", "runn"}, `there is no verb "runn" (did you mean run?)`},
		"a slip with help":           {[]string{"-h", "lst"}, `there is no verb "lst" (did you mean list?)`},
		"help with too much":         {[]string{"help", "run", "it"}, `help was given 2 arguments ("run", "it"); expected at most one verb`},
		"an unknown flag":            {[]string{"run", "--sed", "1"}, "unknown flag: --sed"},
		"a flag without its value":   {[]string{"run", "--seed"}, "flag needs an argument"},
		"a value of the wrong type":  {[]string{"run", "--procs", "many"}, `--procs is "many"; expected a number from 1`},
		"a negative number":          {[]string{"run", "--procs", "-1"}, `--procs is "-1"; expected a number from 1`},
		"a negative time":            {[]string{"run", "--max-time", "-1s"}, `--max-time is "-1s"; expected a duration such as 5m`},
		"no workers at all":          {[]string{"run", "--procs", "0"}, `--procs is "0"; expected a number from 1`},
		"no workers for mutants":     {[]string{"mutants", "--procs", "0"}, `--procs is "0"; expected a number from 1`},
		"a seed of letters":          {[]string{"run", "--seed", "abc"}, `--seed is "abc"; expected a whole number, such as 7`},
		"times in words":             {[]string{"repro", folder, "--times", "x"}, `--times is "x"; expected a number from 1`},
		"no times":                   {[]string{"repro", folder, "--times", "0"}, `--times is "0"; expected a number from 1`},
		"a switch with a word":       {[]string{"list", "--json=maybe"}, `--json is "maybe"; expected true or false`},
		"an allowance below none":    {[]string{"run", "--allow-inconclusive", "-1"}, `--allow-inconclusive is "-1"; expected a number from 0`},
		"a selection of nothing":     {[]string{"run", "--select", ""}, `--select is ""; expected IDs of specs or clauses`},
		"a selection of commas":      {[]string{"run", "--select", ","}, `--select is ","; expected IDs of specs or clauses`},
		"half a selection":           {[]string{"run", "--select", "DU-01,"}, `--select is "DU-01,"; expected IDs of specs or clauses`},
		"a second one of nothing":    {[]string{"run", "--select", "DU-01", "--select", " "}, `--select is " "; expected IDs of specs or clauses`},
		"nothing to skip":            {[]string{"run", "--skip", ""}, `--skip is ""; expected IDs of specs or clauses`},
		"a profile of nothing":       {[]string{"run", "--profile", ""}, `--profile is ""; expected the name of a profile`},
		"a folder of nothing":        {[]string{"run", "--out", ""}, `--out is ""; expected a folder`},
		"a baseline of nothing":      {[]string{"run", "--baseline", ""}, `--baseline is ""; expected the path of a baseline`},
		"nowhere outside":            {[]string{"doctor", "reference", "--allow-outside", ""}, `--allow-outside is ""; expected a path`},
		"too many IDs":               {[]string{"explain", "a", "b", "c"}, `explain was given 3 arguments ("a", "b", "c"); expected the ID of one clause or spec`},
		"a version of something":     {[]string{"version", "x"}, `version was given 1 argument ("x"); expected none`},
		"two schemas":                {[]string{"schema", "target", "report"}, `schema was given 2 arguments ("target", "report"); expected target, report, or none for both`},
		"too many targets":           {[]string{"list", "a", "b"}, `list was given 2 arguments ("a", "b"); expected at most one target`},
		"no ID":                      {[]string{"explain"}, "explain was given nothing; expected the ID of one clause or spec, such as WR-06"},
		"an unknown clause":          {[]string{"explain", "WR-99"}, `there is no clause "WR-99"`},
		"an unknown target":          {[]string{"run", "nobody"}, `there is no target "nobody"`},
		"a target that is not there": {[]string{"run", folder + "/none.yaml"}, "there is no such file"},
		"an empty target":            {[]string{"run", write("empty.yaml", "")}, "the file is empty"},
		"a nearly empty target":      {[]string{"run", write("nearly.yaml", "holdfast: 1\nname: x\n")}, "processes"},
		"an unknown key":             {[]string{"run", write("key.yaml", minimal+"prcesses: {}\n")}, "prcesses"},
		"a wrong type":               {[]string{"run", write("type.yaml", strings.Replace(minimal, "name: x", "name: [x]", 1))}, ":2:"},
		"a template of nothing":      {[]string{"run", write("template.yaml", strings.Replace(minimal, "run: [x]", "run: [x, '{{nothing}}']", 1))}, "{{nothing}}"},
		"jq that does not compile":   {[]string{"run", write("jq.yaml", strings.Replace(minimal, ".x}", "'.x['}", 1))}, ".x["},
		"a pattern of nothing":       {[]string{"run", "--select", "DU-77"}, `--select "DU-77" matches no spec`},
		"a level that is none":       {[]string{"run", "--level", "may"}, `--level is "may"`},
		"a folder that is a file":    {[]string{"run", "--out", write("file", "")}, "it is a file"},
		"no report there":            {[]string{"report", folder}, "there is no report.json"},
		"an unknown format":          {[]string{"report", folder, "--format", "pdf"}, `--format is "pdf"; expected text, json, html, junit, md or badge`},
		"a repro of no report":       {[]string{"repro", folder}, "there is no report.json"},
		"a repro of nothing":         {[]string{"repro"}, "repro was given nothing; expected a report folder"},
		"a judgement of no report":   {[]string{"revalidate", folder}, "there is no report.json"},
		"a judgement of nothing":     {[]string{"revalidate"}, "revalidate was given nothing; expected one report folder or report.json"},
		"an unknown mutant":          {[]string{"mutants", "nobody"}, `there is no mutant "nobody"`},
		"YAML of no target":          {[]string{"list", "--yaml"}, "Built-in are backlog-md, go-sdk-memory"},
		"an unknown schema":          {[]string{"schema", "plan"}, `there is no schema "plan"; expected target, report, or none for both`},
		"an unknown process":         {[]string{"reference", "nobody"}, `the reference has no process "nobody"`},
		"control characters":         {[]string{"run", "x\x1b[2J"}, `x\x1b[2J`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			code, out, errs := holdfast(t, c.args...)
			g.Expect(code).To(Equal(2), "%s%s", out, errs)
			g.Expect(errs).To(ContainSubstring(c.says))
			g.Expect(out).To(BeEmpty())
			g.Expect(errs).NotTo(ContainSubstring("goroutine"))
			g.Expect(errs).NotTo(ContainSubstring("\x1b"))
		})
	}
}

// A factor of all time-outs that is none is not passed over by what starts something.
func TestAScaleThatIsNoneIsRefused(t *testing.T) {
	t.Setenv("HOLDFAST_TIME_SCALE", "0.0001")
	out := filepath.Join(t.TempDir(), "out")
	for _, args := range [][]string{{"run", "--out", out}, {"doctor"}, {"doctor", "reference"}, {"mutants", "--out", out}, {"repro", t.TempDir()}} {
		g := NewWithT(t)
		code, _, errs := holdfast(t, args...)
		g.Expect(code).To(Equal(2), "%v: %s", args, errs)
		g.Expect(errs).To(ContainSubstring(`HOLDFAST_TIME_SCALE is "0.0001"; expected a factor from 0.1 to 1000`))
		g.Expect(out).NotTo(BeAnExistingFile())
	}
	code, _, _ := holdfast(t, "list")
	NewWithT(t).Expect(code).To(Equal(0), "what starts nothing waits for nothing")
}

func TestReadingVerbsGivePureJSON(t *testing.T) {
	report := t.TempDir()
	r := reports.Report{Schema: reports.ReportSchema, Specs: []reports.Spec{{ID: "DU-01/a", Verdict: verdict.Pass}}, Gate: reports.Gate{Verdict: "passed"}}
	if err := reports.Write(report, reports.ReportFile, r); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"list", "--json"}, {"list", "reference", "--json"}, {"explain", "WR-06", "--json"}, {"doctor", "--json"},
		{"schema"}, {"schema", "report"}, {"schema", "target"}, {"mutants", "--list", "--json"}, {"report", report, "--format", "json"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			g := NewWithT(t)
			code, out, errs := holdfast(t, args...)
			g.Expect(code).To(Equal(0), errs)
			var value any
			g.Expect(json.Unmarshal([]byte(out), &value)).To(Succeed(), out)
			g.Expect(value).NotTo(BeEmpty())
		})
	}
}

func TestReadingVerbsSpeakToAPerson(t *testing.T) {
	for says, args := range map[string][]string{
		"Every crash point is survivable": {"list"},
		"What usually breaks it":          {"explain", "WR-06"},
		"This machine":                    {"doctor"},
		"what is broken":                  {"mutants", "--list"},
		"(contract ":                      {"version"},
		"0.1.0":                           {"--version"},
		"Where several hold":              {"run", "--help"},
		"holdfast run [TARGET":            {"help", "run"},
		"Available Commands":              {"help"},
	} {
		code, out, errs := holdfast(t, args...)
		NewWithT(t).Expect(code).To(Equal(0), errs)
		NewWithT(t).Expect(out).To(ContainSubstring(says))
	}
}

// A clause that no spec speaks for is shown as such; each of the contract has one.
func TestAClauseWithoutASpecIsNamed(t *testing.T) {
	g := NewWithT(t)
	h := harness()
	for _, tests := range [][]suites.Test{h.Tests, h.Tests[1:2]} {
		h.Tests = tests
		var out, errs bytes.Buffer
		g.Expect(execute(h, []string{"list"}, &out, &errs)).To(Equal(0), errs.String())
		g.Expect(strings.Contains(out.String(), "none yet")).To(Equal(len(tests) == 1))
	}
}

func TestAReportIsRenderedInEveryFormat(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	r := reports.Report{
		Schema: reports.ReportSchema, Target: reports.Target{Name: "acme"}, Gate: reports.Gate{Verdict: "failed", ExitCode: 1},
		Specs: []reports.Spec{{ID: "DU-01/a", Clauses: []string{"DU-01"}, Verdict: verdict.Fail, Reason: "lost it"}},
	}
	g.Expect(reports.Write(folder, reports.ReportFile, r)).To(Succeed())
	for format, says := range map[string]string{"text": "✗ fail  DU-01/a", "json": `"schema": "holdfast.report/1"`, "junit": `<failure message="lost it"`, "md": "# holdfast: acme",
		"html": "<strong>DU-01/a</strong>", "badge": "<title>holdfast: failed · none</title>",
	} {
		code, out, errs := holdfast(t, "report", folder, "--format", format)
		g.Expect(code).To(Equal(0), "rendering judges nothing: %s", errs)
		g.Expect(out).To(ContainSubstring(says))
	}
}

func TestAPanicIsASentence(t *testing.T) {
	g := NewWithT(t)
	h := harness()
	h.Builtin = func(string) ([]byte, bool) { panic("a slip") }
	var out, errs bytes.Buffer
	g.Expect(execute(h, []string{"list", "reference"}, &out, &errs)).To(Equal(3))
	g.Expect(errs.String()).To(And(ContainSubstring("a fault of holdfast and not yours: a slip"), Not(ContainSubstring("goroutine"))))
}

// A slip before anything has begun leaves the earlier report, and says whose it is.
func TestAnEarlierReportIsNamedForWhatItIs(t *testing.T) {
	g := NewWithT(t)
	out := t.TempDir()
	g.Expect(reports.Write(out, reports.ReportFile, reports.Report{Schema: reports.ReportSchema})).To(Succeed())
	code, _, errs := holdfast(t, "run", "nobody", "--out", out)
	g.Expect(code).To(Equal(2))
	g.Expect(errs).To(ContainSubstring("the report in " + out + " is of an earlier run, and not of this one"))
	_, _, errs = holdfast(t, "run", "nobody", "--out", filepath.Join(out, "other"))
	g.Expect(errs).NotTo(ContainSubstring("earlier run"))
}

// The verdict of a run is the process's exit code, and --json keeps stdout pure.
func TestRunEndsWithTheGatesCode(t *testing.T) {
	g := NewWithT(t)
	h := harness()
	if len(h.Tests) == 0 {
		t.Fatal("this binary has no specs")
	}
	t.Setenv("TMPDIR", t.TempDir())
	h.Tests = h.Tests[:1]
	h.Tests[0].NotFor, h.Tests[0].Missing = nil, nil
	out := filepath.Join(t.TempDir(), "report")
	var o, e bytes.Buffer
	boxed := filepath.Join(t.TempDir(), "boxed.yaml")
	text := "holdfast: 1\nname: boxed\nprocesses: {helper: {image: 'x:1', mcp: stdio}}\nprofiles: {durability: {writes: [{name: a, arguments: {v: \"{{value}}\"}}], read: {name: b, arguments: {}, values: .x}}}\n"
	g.Expect(os.WriteFile(boxed, []byte(text), 0o644)).To(Succeed())
	code := execute(h, []string{"run", boxed, "--out", out, "--json", "--no-control", "--seed", "1"}, &o, &e)
	g.Expect(code).To(Equal(3), "%s", e.String())
	var r reports.Report
	g.Expect(json.Unmarshal(o.Bytes(), &r)).To(Succeed(), o.String())
	g.Expect(r.Gate.ExitCode).To(Equal(3))
	g.Expect(r.Seed).To(Equal(int64(1)))
}

// What the verbs leave by default in a working directory is not committed by a slip.
func TestWhatIsLeftByDefaultIsIgnoredByGit(t *testing.T) {
	g := NewWithT(t)
	ignored, err := os.ReadFile("../../.gitignore")
	g.Expect(err).NotTo(HaveOccurred())
	folders := 0
	for _, verb := range (&program{harness: harness()}).root().Commands() {
		if out := verb.Flags().Lookup("out"); out != nil && out.DefValue != "" {
			g.Expect(strings.Split(string(ignored), "\n")).To(ContainElement("/"+out.DefValue+"/"), verb.Name())
			folders++
		}
	}
	g.Expect(folders).To(BeNumerically(">=", 2))
}

// What is said about a target file that is not there, or empty, is a step that can
// be taken: it leads to a target file that is read.
func TestTheStepToATargetFileCanBeTaken(t *testing.T) {
	folder := t.TempDir()
	empty := filepath.Join(folder, "empty.yaml")
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(folder, "nope.yaml"), empty} {
		g := NewWithT(t)
		_, _, errs := holdfast(t, "run", path)
		step := regexp.MustCompile(`"holdfast ([^"]+)" prints one`).FindStringSubmatch(errs)
		g.Expect(step).To(HaveLen(2), errs)
		code, out, errs := holdfast(t, strings.Fields(step[1])...)
		g.Expect(code).To(Equal(0), errs)
		mine := filepath.Join(folder, "mine.yaml")
		g.Expect(os.WriteFile(mine, []byte(out), 0o644)).To(Succeed())
		code, out, errs = holdfast(t, "list", mine, "--json")
		g.Expect(code).To(Equal(0), errs)
		g.Expect(out).To(ContainSubstring(`"target": "server-memory"`))
	}
}

// What the error on a baseline shows as an example can be copied.
func TestTheExampleOfABaselineNamesASpec(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "baseline.yaml")
	g.Expect(os.WriteFile(path, []byte("DU-04\n"), 0o644)).To(Succeed())
	_, _, errs := holdfast(t, "run", "--baseline", path)
	example := regexp.MustCompile(`\{spec: (\S+), expect`).FindStringSubmatch(errs)
	g.Expect(example).To(HaveLen(2), errs)
	var ids []string
	for _, s := range tests() {
		ids = append(ids, s.ID)
	}
	g.Expect(ids).To(ContainElement(example[1]))
}
