package suites_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/fixtures/launch"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// scripted is the trial of a target whose helper is a shell script.
func scripted(t *testing.T, script string) suites.Setup {
	t.Helper()
	t.Setenv("HOLDFAST_TIME_SCALE", "0.1")
	t.Setenv("TMPDIR", t.TempDir())
	run, err := launch.NewRun("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { run.Close() })
	path := filepath.Join(t.TempDir(), "helper.sh")
	if err := os.WriteFile(path, []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(builtin["other"], "[other-helper]", "[/bin/sh, '"+path+"']", 1)
	f, err := target.Parse("tried.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return suites.Setup{Target: f, Scratch: run.Folder(), Version: "1.2.3"}
}

// try tries it.
func try(t *testing.T, script string) []suites.Step {
	t.Helper()
	return suites.TryOut(t.Context(), scripted(t, script))
}

// One that answers initialize and tools/list, then tools/call with the one value that it is given.
const honest = `while read -r line; do
  id=$(printf %s "$line" | sed -n "s/.*\"id\":\([0-9a-z\"-]*\).*/\1/p")
  case "$line" in
  *\"initialize\"*) printf "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}\n" "$id" ;;
  *tools/list*) printf "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"tools\":[{\"name\":\"$ADD\",\"inputSchema\":{}},{\"name\":\"list\",\"inputSchema\":{}}]}}\n" "$id" ;;
  *\"add\"*) kept=$(printf %s "$line" | sed -n "s/.*\"text\":\"\([^\"]*\)\".*/\1/p"); printf "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[],\"structuredContent\":{}}}\n" "$id" ;;
  *\"list\"*) printf "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[],\"structuredContent\":{\"$NOTES\":[\"$KEPT\"]}}}\n" "$id" ;;
  esac
done`

// honestly is the honest helper, with what it keeps, the name of its list and of
// its writing tool.
func honestly(kept, notes, add string) string {
	return strings.NewReplacer("$KEPT", kept, "$NOTES", notes, "$ADD", add).Replace(honest)
}

func TestARunBeginsOnlyWhereTheTargetFileFits(t *testing.T) {
	for name, c := range map[string]struct{ script, says string }{
		"one that holds":       {honestly("$kept", "notes", "add"), ""},
		"one that forgets":     {honestly("another", "notes", "add"), ""}, // that is for the specs to say
		"one with other words": {honestly("$kept", "remarks", "add"), "the target file's mapping does not fit the answer"},
		"one without the tool": {honestly("$kept", "notes", "append"), `the helper lists no tool "add"`},
	} {
		t.Run(name, func(t *testing.T) {
			err := suites.Starts(t.Context(), scripted(t, c.script))
			if c.says == "" {
				NewWithT(t).Expect(err).NotTo(HaveOccurred())
				return
			}
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(c.says)))
		})
	}
}

func TestTryOutEndsWithTheFirstStepThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		last   string
		ok     bool
		detail string
	}{
		"one that holds": {honestly("$kept", "notes", "add"), "everything stops", true, ""},
		"one that asks who it is": {`read -r line; case "$line" in *'"clientInfo":{"name":"holdfast","version":"1.2.3"}'*) exit 3 ;; esac`,
			"the helper starts and shakes hands", false, "exit code 3"},
		"one that forgets":                     {honestly("another", "notes", "add"), "a read shows the write", false, "does not show"},
		"one with other words":                 {honestly("$kept", "remarks", "add"), "a read shows the write", false, "the target file's mapping does not fit the answer"},
		"one without the tool":                 {honestly("$kept", "notes", "append"), "it lists the tools that the target file names", false, `the helper lists no tool "add", which profiles.durability.writes[0].name in the target file names; it lists append, list`},
		"one that ends at once":                {"exit 3", "the helper starts and shakes hands", false, "exit code 3"},
		"one that is no server":                {"while :; do echo y; done", "the helper starts and shakes hands", false, `its stdout has bytes that are no MCP message: "y" is not JSON`},
		"one without a line end":               {"cat /dev/zero", "the helper starts and shakes hands", false, `its stdout has bytes that are no MCP message: "\x00\x00`},
		"one that says why":                    {"echo Usage: helper; exit 3", "the helper starts and shakes hands", false, "exit code 3"},
		"one that says hello":                  {"echo Hello; while read -r line; do :; done", "the helper starts and shakes hands", false, `"Hello" is not JSON`},
		"one that says why it does not answer": {"echo waiting for a licence >&2; while read -r line; do :; done", "the helper starts and shakes hands", false, "waiting for a licence"},
		"one that never answers":               {"while read -r line; do :; done", "the helper starts and shakes hands", false, "expected an answer to initialize"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			steps := try(t, c.script)
			last := steps[len(steps)-1]
			g.Expect(last.Name).To(Equal(c.last), "%+v", steps)
			g.Expect(last.OK).To(Equal(c.ok), "%+v", last)
			g.Expect(last.Detail).To(ContainSubstring(c.detail))
			if !c.ok {
				g.Expect(last.Advice).NotTo(BeEmpty())
			}
		})
	}
}

// A probe that does not see what a write has left is told before a run, whose specs could
// prove no commit through it.
func TestTryOutLooksThroughTheProbe(t *testing.T) {
	keeping := strings.Replace(honestly("$kept", "notes", "add"), `*\"add\"*) `, `*\"add\"*) printf %s "$line" > kept; `, 1)
	for name, c := range map[string]struct {
		probe  target.Probe
		ok     bool
		detail string
	}{
		"one that sees it":      {target.Probe{File: "{{dir}}/kept", Rows: "select(.exists) | {value: .json.params.arguments.text}"}, true, "values"},
		"one of another file":   {target.Probe{File: "{{dir}}/other", Rows: "select(.exists) | {value: .json.params.arguments.text}"}, false, "the write was acknowledged, and the probe values shows 0 rows, none of them with"},
		"one of another column": {target.Probe{File: "{{dir}}/kept", Rows: "select(.exists) | {text: .json.params.arguments.text}"}, false, "the probe values shows 1 row, none of them with"},
		"one without its table": {target.Probe{SQLite: "{{dir}}/none.db", Query: "select text as value from notes"}, false, "the look through probes.values failed: "},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			setup := scripted(t, keeping)
			setup.Target.Profiles.Durability.Probes = map[string]target.Probe{"values": c.probe}
			steps := suites.TryOut(t.Context(), setup)
			at := slices.IndexFunc(steps, func(s suites.Step) bool { return s.Name == "a probe shows the write" })
			g.Expect(at).To(BeNumerically(">", 0), "%+v", steps)
			g.Expect(steps[at].OK).To(Equal(c.ok), "%+v", steps[at])
			g.Expect(steps[at].Detail).To(ContainSubstring(c.detail))
			if !c.ok {
				g.Expect(at).To(Equal(len(steps) - 1))
				g.Expect(steps[at].Advice).To(ContainSubstring("profiles.durability.probes.values"))
				g.Expect(suites.Starts(t.Context(), setup)).To(Succeed()) // what no probe shows is inconclusive, spec by spec
			}
		})
	}
}

func TestDiagnoseLeavesNothingBehind(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("TMPDIR", t.TempDir())
	h := harness()
	h.Doctor = func(_ context.Context, s suites.Setup) []suites.Step {
		g.Expect(s.Version).To(Equal("test"))
		return []suites.Step{{Name: "it starts", OK: true}, {Name: "it stops", Detail: "no", Advice: "look"}}
	}
	d, err := h.Diagnose(t.Context(), "other", nil, watch{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(d.ExitCode).To(Equal(2))
	g.Expect(d.Target).To(HaveLen(2))
	g.Expect(d.Machine).To(HaveLen(4))
	g.Expect(os.ReadDir(os.Getenv("TMPDIR"))).To(BeEmpty())

	_, err = h.Diagnose(t.Context(), "boxed", nil, watch{})
	g.Expect(suites.IsUsage(err)).To(BeTrue())
	g.Expect(err).To(MatchError(ContainSubstring("needs Docker")))
}

// A server that takes its store for itself refuses another one beside it, which is no
// error of the harness: what needs two of them does not apply to it.
func TestAServerThatSharesItsStoreWithNoOther(t *testing.T) {
	for name, c := range map[string]struct {
		before string
		expect verdict.Verdict
		says   string
	}{
		"takes another":   {"", verdict.Pass, ""},
		"takes no other":  {"mkdir taken || { echo the store is in use >&2; exit 1; }\n", verdict.NotApplicable, "the store is in use"},
		"is not answered": {"mkdir taken || exec sleep 20\n", verdict.Error, "expected an answer to initialize"},
	} {
		t.Run(name, func(t *testing.T) {
			setup := scripted(t, c.before+honestly("$kept", "notes", "add"))
			setup.Folder = t.TempDir()
			result := suites.Perform(t.Context(), suites.Test{
				ID: "two", Profile: target.ProfileDurability,
				Drive: func(w *world.World) {
					w.Launch()
					w.NewCaller()
					w.NewCallerBeside()
				},
				Judge: func(history.History) judge.Ruling { return judge.Ruling{} },
			}, setup)
			g := NewWithT(t)
			g.Expect(result.Verdict).To(Equal(c.expect), "%+v", result)
			g.Expect(result.Reason).To(ContainSubstring(c.says))
		})
	}
}
