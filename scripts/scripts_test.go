// Package scripts has no code: its tests hold the shell scripts that count to
// their words. A sum that is wrong would make a red tree look green.
package scripts

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/fixtures/launch/browser"
	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
	"github.com/holdfast-mcp/holdfast/suites/workrecords"
)

// script runs bash at the top of the tree and gives the exit status and all output.
func script(t *testing.T, stdin, text string, env ...string) (int, string) {
	t.Helper()
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", text)
	cmd.Dir = ".."
	cmd.Stdin = strings.NewReader(stdin)
	// A run of these tests inside `make test` must not add to its tally.
	cmd.Env = append(os.Environ(), append([]string{"HOLDFAST_TALLY=", "TMPDIR=" + t.TempDir()}, env...)...)
	said, err := cmd.CombinedOutput()
	if err != nil {
		NewWithT(t).Expect(err).To(BeAssignableToTypeOf(&exec.ExitError{}), string(said))
	}
	return cmd.ProcessState.ExitCode(), string(said)
}

func TestGoTestIsCounted(t *testing.T) {
	for name, c := range map[string]struct {
		events string
		tally  string
		says   []string
	}{
		"passes, subtests and skips": {
			`{"Action":"output","Package":"m/p","Test":"TestA","Output":"quiet\n"}
{"Action":"pass","Package":"m/p","Test":"TestA/x","Elapsed":0}
{"Action":"pass","Package":"m/p","Test":"TestA","Elapsed":0}
{"Action":"skip","Package":"m/p","Test":"TestS","Elapsed":0}
{"Action":"pass","Package":"m/p","Elapsed":0.1}`,
			"2 0 1", []string{"skip m/p TestS", "ok   m/p"}},
		"a failure says all that it said": {
			`{"Action":"output","Package":"m/p","Test":"TestA","Output":"want \"a\\nb\"\tgot \u003cnil\u003e\n","OutputType":"error"}
{"Action":"fail","Package":"m/p","Test":"TestA","Elapsed":0}
{"Action":"fail","Package":"m/p","Elapsed":0.1}`,
			"0 1 0", []string{"want \"a\\nb\"\tgot <nil>\n"}},
		"a build that fails is one failure": {
			`{"ImportPath":"m/p","Action":"build-output","Output":"p.go:1:1: broken\n"}
{"ImportPath":"m/p","Action":"build-fail"}
{"Action":"fail","Package":"m/p","Elapsed":0,"FailedBuild":"m/p"}`,
			"0 1 0", []string{"p.go:1:1: broken"}},
		"a test that never ended is one failure": {
			`{"Action":"pass","Package":"m/p","Test":"TestA","Elapsed":0}
{"Action":"output","Package":"m/p","Test":"TestB","Output":"leaving\n"}
{"Action":"fail","Package":"m/p","Elapsed":0.1}`,
			"1 1 0", []string{"leaving"}},
		"a package without tests counts nothing": {
			`{"Action":"skip","Package":"m/p","Elapsed":0}`, "0 0 0", nil},
		"no output at all": {"", "0 0 0", nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			tally := filepath.Join(t.TempDir(), "tally")
			status, said := script(t, c.events+"\n", `awk -v tally="$T" -f scripts/gotest.awk`, "T="+tally)
			g.Expect(status).To(Equal(0), said)
			for _, words := range c.says {
				g.Expect(said).To(ContainSubstring(words))
			}
			g.Expect(said).NotTo(ContainSubstring("quiet"))
			text, err := os.ReadFile(tally)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(text)).To(Equal(c.tally + "\n"))
		})
	}
}

func TestStepsAreCountedAndTheSumIsTheLastWord(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		status int
		last   string
	}{
		"all held":                    {`step a true; expect 1 b false; finish`, 0, "2 passed, 0 failed"},
		"one failed, the rest ran":    {`step a false || true; step b true || true; finish`, 1, "1 passed, 1 failed"},
		"success where exit 1 is due": {`expect 1 a true || true; finish`, 1, "0 passed, 1 failed"},
		"another status than is due":  {`expect 1 a bash -c 'exit 3' || true; finish`, 1, "0 passed, 1 failed"},
		"skipped":                     {`step a true; skip b "no tool"; finish`, 0, "1 passed, 0 failed, 1 skipped"},
		"what failed of go's tests": {`go() { printf '{"Action":"fail","Package":"m/p","Test":"TestA","Elapsed":0}\n{"Action":"fail","Package":"m/q","Elapsed":0}\n'; return 1; }
gotest x || true; finish`, 1, "failed steps:\n  x\n    m/p TestA\n    m/q\n\n0 passed, 2 failed"},
		"why a step failed":       {`step a false || because <(printf 'one\ntwo\n'); finish`, 1, "failed steps:\n  a: exit 1, expected 0\n    one\n    two\n\n0 passed, 1 failed"},
		"a gate without a report": {`step a false || unexpected /nowhere; finish`, 1, "failed steps:\n  a: exit 1, expected 0\n    it left no report\n\n0 passed, 1 failed"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			status, said := script(t, "", ". scripts/steps.sh; "+c.text)
			g.Expect(status).To(Equal(c.status), said)
			g.Expect(strings.TrimSpace(said)).To(HaveSuffix("\n" + c.last))
		})
	}
}

// The stand-in for make counts what $COUNTS says and leaves with $STATUS.
func TestCIClosesWithTheSum(t *testing.T) {
	for name, c := range map[string]struct {
		counts, status, last string
		exit                 int
	}{
		"green":                     {"3 0 0\n2 0 0\n", "0", "5 passed, 0 failed", 0},
		"red":                       {"3 1 0\n2 0 0\n", "2", "5 passed, 1 failed", 2},
		"skips":                     {"3 0 1\n", "0", "3 passed, 0 failed, 1 skipped", 0},
		"died before it counted":    {"", "2", "0 passed, 1 failed", 2},
		"died after something held": {"1 0 0\n", "2", "1 passed, 1 failed", 2},
		"nothing ran":               {"", "0", "0 passed, 0 failed", 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			bin := t.TempDir()
			standIn := "#!/usr/bin/env bash\nprintf '%s' \"$COUNTS\" >>\"$HOLDFAST_TALLY\"\necho \"CI is $CI\"\nexit \"$STATUS\"\n"
			g.Expect(os.WriteFile(filepath.Join(bin, "make"), []byte(standIn), 0o755)).To(Succeed())
			status, said := script(t, "", "bash .ci/run", "PATH="+bin+":"+os.Getenv("PATH"), "COUNTS="+c.counts, "STATUS="+c.status, "CI=")
			g.Expect(status).To(Equal(c.exit), said)
			g.Expect(said).To(Equal("CI is true\n" + c.last + "\n"))
		})
	}
}

// needed are the programs that some test of the tree asks for by name, in CI
// without mercy.
func needed(t *testing.T) []string {
	t.Helper()
	asks := regexp.MustCompile(`needs\(t, "([a-z0-9]+)"\)`)
	tools := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range asks.FindAllStringSubmatch(string(text), -1) {
			tools[m[1]] = true
		}
		return err
	})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for _, everywhere := range []string{"sh", "cat"} {
		delete(tools, everywhere)
	}
	return slices.Sorted(maps.Keys(tools))
}

// A tool without which a test fails in CI is one that setup.sh knows, installs
// where it may, and names where it may not; and the README tells of it.
func TestSetupKnowsEveryToolThatATestNeeds(t *testing.T) {
	g := NewWithT(t)
	tools := needed(t)
	g.Expect(len(tools)).To(BeNumerically(">", 2), "this test looks at the wrong lines: %q", tools)
	readme, err := os.ReadFile("../README.md")
	g.Expect(err).NotTo(HaveOccurred())
	// A machine with a shell and what belongs to it, without apt-get and sudo.
	bin := t.TempDir()
	for _, name := range []string{"bash", "cat", "id", "mktemp", "rm", "sed", "tr"} {
		path, err := exec.LookPath(name)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(os.Symlink(path, filepath.Join(bin, name))).To(Succeed())
	}
	setup := func(ci string) (int, string) { return script(t, "", "bash scripts/setup.sh", "PATH="+bin, "CI="+ci) }

	status, said := setup("true")
	g.Expect(status).To(Equal(1), said)
	for _, tool := range tools {
		g.Expect(said).To(ContainSubstring("setup: missing: "+tool+" ("), "in CI %s must be named", tool)
		g.Expect(strings.ToLower(string(readme))).To(MatchRegexp(`make test.*\b`+tool+`\b`), "README.md does not name %s beside make test", tool)
	}
	if status, said = setup(""); status != 0 || !strings.Contains(said, "going on without: ") {
		t.Errorf("without CI it ended with %d, expected 0 and a word of what is missing:\n%s", status, said)
	}
	for _, tool := range append(tools, "go", "npm", "g++", "make", "postgres", "initdb") {
		g.Expect(os.Symlink(filepath.Join(bin, "cat"), filepath.Join(bin, tool))).To(Succeed())
	}
	if status, said = setup("true"); status != 0 || !strings.Contains(said, "setup: all there: ") {
		t.Errorf("with everything there it ended with %d:\n%s", status, said)
	}
}

// What the scripts read of a report is what stands in it, and nothing of what
// only looks the same.
func TestVerdictsAreReadFromAReport(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	spec := func(id string, v verdict.Verdict, reason string) reports.Spec {
		return reports.Spec{Key: id, ID: id, Clauses: []string{"DU-02"}, Target: "x", Verdict: v, Title: `"verdict": "error"`, Reason: reason,
			CrashPoints: &reports.CrashPoints{Tried: []reports.CrashPoint{{Name: "1:before", Verdict: verdict.Fail}}}}
	}
	g.Expect(reports.Write(folder, reports.ReportFile, reports.Report{
		Schema: reports.ReportSchema, Target: reports.Target{Name: "x"}, Seed: 7,
		Clauses: []reports.Clause{{ID: "DU-07/bytes", Verdict: verdict.Fail}},
		Specs:   []reports.Spec{spec("DU-01/a", verdict.Pass, ""), spec("DU-02/b", verdict.Inconclusive, `it says "no"`), spec("DU-03/d", verdict.Pass, "")},
		Control: &reports.Control{Target: "reference", Specs: []reports.Spec{spec("DU-03/c", verdict.Fail, "x")}},
	})).To(Succeed())
	status, said := script(t, "", `awk -f scripts/verdicts.awk "$F"`, "F="+filepath.Join(folder, reports.ReportFile))
	g.Expect(status).To(Equal(0))
	g.Expect(said).To(Equal("DU-01/a pass\nDU-02/b inconclusive\nDU-03/d pass\n"))

	status, said = script(t, "", `. scripts/steps.sh; step gate false || unexpected "$F"; finish`, "F="+filepath.Join(folder, reports.ReportFile))
	g.Expect(status).To(Equal(1))
	g.Expect(said).To(ContainSubstring("  gate: exit 1, expected 0\n    seed 7\n    DU-02/b inconclusive it says \\\"no\\\"\n\n"))
}

// The stand-in for holdfast leaves a report for each seed with the verdict that
// $V1, $V2 … name, ends with $S1, $S2 …, and notes down who runs beside it.
const standIn = `#!/usr/bin/env bash
out=${*: -1} seed=${*: -3:1}
verdict=V$seed status=S$seed
echo "$*" >>"$NOTES/seeds"
cat /proc/$PPID/task/$PPID/children >"$NOTES/beside-$seed"
if [ -n "${!verdict}" ]; then
  mkdir -p "$out"
  printf '{\n  "specs": [\n    {\n      "id": "DU-01/a",\n      "verdict": "%s"\n    }\n  ]\n}\n' "${!verdict}" >"$out/report.json"
fi
exit "${!status:-0}"
`

func TestFlakeCountsTheRunsThatHeld(t *testing.T) {
	if testing.Short() {
		t.Skip("keeps two cores busy")
	}
	for name, c := range map[string]struct {
		env    []string
		status int
		says   []string
	}{
		"all held":             {[]string{"V1=pass", "V2=pass", "V3=pass"}, 0, []string{"3 of 3 held on x --profile work-records"}},
		"one is inconclusive":  {[]string{"V1=pass", "V2=inconclusive", "V3=pass"}, 1, []string{"DU-01/a inconclusive", "seed 2: exit 0", "2 of 3 held"}},
		"one is not-run":       {[]string{"V1=not-run", "V2=pass", "V3=pass"}, 1, []string{"DU-01/a not-run", "seed 1: exit 0", "2 of 3 held"}},
		"one gate fails":       {[]string{"V1=pass", "V2=pass", "V3=fail", "S3=1"}, 1, []string{"seed 3: exit 1", "2 of 3 held"}},
		"one leaves no report": {[]string{"V1=pass", "V3=pass"}, 1, []string{"seed 2: exit 0", "2 of 3 held"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			notes := t.TempDir()
			holdfast := filepath.Join(notes, "holdfast")
			g.Expect(os.WriteFile(holdfast, []byte(standIn), 0o755)).To(Succeed())
			status, said := script(t, "", "scripts/flake.sh x 3 --profile work-records", append(c.env, "HOLDFAST="+holdfast, "NOTES="+notes)...)
			g.Expect(status).To(Equal(c.status), said)
			for _, words := range c.says {
				g.Expect(said).To(ContainSubstring(words))
			}
			seeds, err := os.ReadFile(filepath.Join(notes, "seeds"))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(strings.Fields(string(seeds))).To(ContainElements("1", "2", "3"))
			beside, err := os.ReadFile(filepath.Join(notes, "beside-3"))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(strings.Fields(string(beside))).To(HaveLen(3), "two busy loops and holdfast itself")
			for _, pid := range strings.Fields(string(beside))[:2] {
				g.Expect(filepath.Join("/proc", pid)).NotTo(BeADirectory(), "a busy loop outlived the script")
			}
		})
	}
	for _, args := range []string{"", "x", "x 0", "x many", "x 1 2"} {
		status, said := script(t, "", "scripts/flake.sh "+args)
		NewWithT(t).Expect(status).To(Equal(2), said)
		NewWithT(t).Expect(said).To(ContainSubstring("expected a target and how many runs"))
	}
}

// The scripts know the specs that open a browser by the names that they really have.
func TestTheSpecsOfTheBrowserAreNamed(t *testing.T) {
	g := NewWithT(t)
	var only, skip []string
	for _, s := range workrecords.Tests() {
		if s.Browser {
			only, skip = append(only, "--select", s.ID), append(skip, "--skip", s.ID)
		}
	}
	g.Expect(only).NotTo(BeEmpty())
	bin := t.TempDir()
	path, err := exec.LookPath("bash")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.Symlink(path, filepath.Join(bin, "bash"))).To(Succeed())
	flags := func(of string) string {
		status, said := script(t, "", "bash -c '. scripts/browser.sh; "+of+" || true'", "PATH="+bin)
		g.Expect(status).To(Equal(0), said)
		return strings.TrimSpace(said)
	}
	g.Expect(flags("only_browser")).To(Equal(strings.Join(only, " ")))
	g.Expect(flags("without_browser")).To(Equal(strings.Join(skip, " ")))
	for _, name := range browser.Programs() {
		program := filepath.Join(bin, name)
		g.Expect(os.Symlink(path, program)).To(Succeed())
		g.Expect(flags("without_browser")).To(BeEmpty(), "with %s", name)
		g.Expect(os.Remove(program)).To(Succeed())
	}
}
