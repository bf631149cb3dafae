package suites

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/fixtures/launch"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// performed is the result of a spec that drives a world in which nothing is started.
func performed(t *testing.T, text string, drive func(*world.World)) (reports.Spec, string) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	run, err := launch.NewRun("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { run.Close() })
	f, err := target.Parse("performed.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	spec := Test{ID: "DU-01/performed", Clauses: []string{"DU-01"}, Profile: "durability", Drive: drive,
		Judge: func(history.History) judge.Ruling { return judge.Ruling{} }}
	return Perform(t.Context(), spec, Setup{Target: f, Seed: 1, Folder: folder, Scratch: run.Folder()}), folder
}

const withSecret = `holdfast: 1
name: keeps-a-secret
secrets: {password: {env: ACME_PASSWORD}}
processes: {helper: {run: [acme-helper], mcp: stdio}}
profiles: {durability: {writes: [{name: add, arguments: {text: "{{value}}"}}], read: {name: list, values: ".notes[]"}}}
actions: {delete: {command: [/bin/sh, -c, "echo told {{secret.password}}; exit 3"]}}
`

func TestNoSecretIsInWhatASpecStopsWith(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("ACME_PASSWORD", "correct-horse-battery")
	s, folder := performed(t, withSecret, func(w *world.World) { w.Act("delete", nil) })
	g.Expect(s.Verdict).To(Equal(verdict.Inconclusive))
	g.Expect(s.Reason).To(ContainSubstring("told"))
	g.Expect(s.Reason).NotTo(ContainSubstring("correct-horse-battery"))

	files, err := filepath.Glob(filepath.Join(folder, "*"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files).To(ContainElements(HaveSuffix("history.jsonl"), HaveSuffix("wire.jsonl"), HaveSuffix("faults.jsonl"), HaveSuffix("schedule.yaml")))
	for _, file := range regular(t, folder) {
		text, err := os.ReadFile(file)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(text)).NotTo(ContainSubstring("correct-horse-battery"), file)
	}
}

func TestHowASpecEndsIsItsVerdict(t *testing.T) {
	for name, c := range map[string]struct {
		drive    func(*world.World)
		verdict  verdict.Verdict
		findings int
	}{
		"at its end":                  {func(*world.World) {}, verdict.Pass, 0},
		"inconclusive":                {func(*world.World) { world.Inconclusive("no judgement") }, verdict.Inconclusive, 0},
		"a broken machine":            {func(*world.World) { world.Broken("no port") }, verdict.Error, 0},
		"a broken promise":            {func(*world.World) { world.Broke("it does not start again") }, verdict.Fail, 1},
		"a panic of its own":          {func(*world.World) { panic("an index out of range") }, verdict.Error, 0},
		"a target that never started": {func(w *world.World) { w.NewCaller() }, verdict.Error, 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			t.Setenv("ACME_PASSWORD", "correct-horse-battery")
			s, _ := performed(t, withSecret, c.drive)
			g.Expect(s.Verdict).To(Equal(c.verdict), s.Reason)
			g.Expect(s.Findings).To(HaveLen(c.findings))
			if c.findings > 0 {
				g.Expect(s.Findings[0].Clause).To(Equal("DU-01"))
			}
		})
	}
}

// What a spec passed on is told with its verdict, where it is less than all.
func TestAPassOnASampleSaysSo(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("ACME_PASSWORD", "correct-horse-battery")
	s, _ := performed(t, withSecret, func(w *world.World) {
		w.Mark(world.SampleMark, map[string]any{"runs": 400, "tried": 48, "kinds": 7, "kinds tried": 7})
	})
	const told = "tried 48 of 400 runs at crash points, of 7 of 7 kinds (a kind is one call on one file), evenly over the write; profiles.durability.crash_points in the target file sets the bound"
	g.Expect(s.Verdict).To(Equal(verdict.Pass))
	g.Expect(s.Reason).To(Equal(told))
	g.Expect(s.Tried).To(Equal([]string{told}))
}

// onceOnly shakes hands at its first start, and does not start a second time.
const onceOnly = `[ -e started ] && { echo the store is locked >&2; exit 3; }
touch started
while read -r line; do
  id=$(printf %s "$line" | sed -n "s/.*\"id\":\([0-9]*\).*/\1/p")
  case "$line" in *\"initialize\"*) printf "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}\n" "$id" ;; esac
done`

func TestATargetThatDoesNotStartAgainAfterAKillHasFailed(t *testing.T) {
	t.Setenv("ACME_PASSWORD", "correct-horse-battery")
	script := filepath.Join(t.TempDir(), "helper.sh")
	if err := os.WriteFile(script, []byte(onceOnly), 0o644); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(withSecret, "[acme-helper]", "[/bin/sh, '"+script+"']", 1)
	again := func(kill bool) func(*world.World) {
		return func(w *world.World) {
			c := w.NewCaller()
			if kill {
				c.Killed()
			}
			w.NewCaller()
		}
	}
	g := NewWithT(t)
	s, _ := performed(t, text, again(true))
	g.Expect(s.Verdict).To(Equal(verdict.Fail), s.Reason)
	g.Expect(s.Reason).To(And(ContainSubstring("after a kill the target does not start again"), ContainSubstring("the store is locked")))

	s, _ = performed(t, text, again(false))
	g.Expect(s.Verdict).To(Equal(verdict.Error), "nobody killed it: %s", s.Reason)
}

// regular lists the files in a folder and below it.
func regular(t *testing.T, folder string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

const withStore = `holdfast: 1
name: keeps-a-store
processes: {helper: {run: [acme-helper], mcp: stdio}}
profiles: {durability: {writes: [{name: add, arguments: {text: "{{value}}"}}], read: {name: list, values: ".notes[]"}}}
actions:
  lock: {command: [/bin/sh, -c, "mkdir notes; echo one > notes/one.txt; cat account-*.token > notes/token.txt; echo x > tmp/scratch"]}
`

func TestTheStateOfASpecThatDidNotPassIsKept(t *testing.T) {
	g := NewWithT(t)
	s, folder := performed(t, withStore, func(w *world.World) {
		w.Act("lock", nil)
		world.Inconclusive("to see what is kept")
	})
	g.Expect(s.Verdict).To(Equal(verdict.Inconclusive))
	g.Expect(s.Reason).To(Equal("to see what is kept"))

	state := filepath.Join(folder, world.StateFolder)
	g.Expect(os.ReadFile(filepath.Join(state, "notes", "one.txt"))).To(BeEquivalentTo("one\n"))
	g.Expect(filepath.Join(state, "tmp")).NotTo(BeADirectory(), "temporary files are no state")
	g.Expect(filepath.Join(state, "notes", "token.txt")).NotTo(BeAnExistingFile())
	g.Expect(os.ReadFile(filepath.Join(state, world.LeftOutFile))).To(ContainSubstring("notes/token.txt: it holds a secret\n"))
}

func TestTheStateOfASpecThatPassedIsNotKept(t *testing.T) {
	g := NewWithT(t)
	s, folder := performed(t, withStore, func(w *world.World) { w.Act("lock", nil) })
	g.Expect(s.Verdict).To(Equal(verdict.Pass), s.Reason)
	g.Expect(filepath.Join(folder, world.StateFolder)).NotTo(BeADirectory())
}

func TestNothingIsKeptOfATargetWithSecretsOfItsOwn(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("ACME_PASSWORD", "correct-horse-battery")
	text := strings.ReplaceAll(withStore, "name: keeps-a-store", "name: keeps-a-secret\nsecrets: {password: {env: ACME_PASSWORD}}")
	_, folder := performed(t, text, func(w *world.World) {
		w.Act("lock", nil)
		world.Inconclusive("to see what is kept")
	})
	state := filepath.Join(folder, world.StateFolder)
	g.Expect(filepath.Join(state, "notes")).NotTo(BeADirectory())
	g.Expect(os.ReadFile(filepath.Join(state, world.LeftOutFile))).To(ContainSubstring("notes/one.txt: the target file names secrets"))
}
