package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/fixtures/targets"
)

// editorFile is a target file of one's own of the reference's editor and its trips.
func editorFile(t *testing.T) string {
	t.Helper()
	text, ok := targets.Read("reference-postgres")
	if !ok {
		t.Fatal("there is no built-in target reference-postgres")
	}
	own := strings.Replace(string(text), "name: reference-postgres", "name: own", 1)
	own = strings.Replace(own, "  postgres:\n    fixture: postgres\n    profiles: [receipts]\n", "", 1)
	own = regexp.MustCompile(`"postgres://[^"]*"`).ReplaceAllString(own, `"{{dir}}/trips.db"`)
	return strings.ReplaceAll(own, "        postgres: ", "        sqlite: ")
}

// What a target file of receipts gets wrong is said before a run, with its key, and held
// against nobody.
func TestAWrongTargetFileOfReceiptsIsNamedByItsKey(t *testing.T) {
	sound := editorFile(t)
	for name, c := range map[string]struct {
		old, new, says string
		doctorOnly     bool // a target that stores no receipt is for the specs to judge
	}{
		"nothing":                {"", "", "", false},
		"no such tool":           {"name: recheck_trip_submission", "name: recheck_submission", `lists no tool "recheck_submission", which profiles.receipts.tools.recheck_submit.name`, false},
		"another role's tool":    {"name: update_trip_draft", "name: get_trip_draft", "the arguments of profiles.receipts.tools.update in the target file are not what the tool get_trip_draft takes", false},
		"no such outcome":        {"outcome: .outcome", "outcome: .result_of_it", "profiles.receipts.tools.update.answer.outcome", false},
		"no such command":        {"command_id: .commandId", "command_id: .command", "profiles.receipts.tools.update.answer.command_id", false},
		"the other revision":     {"to_revision: .toRevision", "to_revision: .fromRevision", "profiles.receipts.tools.update.answer.to_revision", false},
		"the other saved value":  {"saved_changed: .saved.destination", "saved_changed: .saved.purpose", "profiles.receipts.tools.read.answer.saved_changed", false},
		"the other field shown":  {"changed: .fields.destination", "changed: .fields.purpose", "check changed of selectors, or of probes.editor", false},
		"another label":          {"save_state: .state, revision", "save_state: .status, revision", "check save_state of selectors, or of probes.editor", false},
		"columns for each other": {"destination as changed, purpose as other", "purpose as changed, destination as other", "probes.draft", false},
		"receipts of nobody":     {"from receipts where draft = :draft", "from receipts where owner = :draft", "check probes.receipts of profiles.receipts", true},
		"a jq that breaks":       {"outcome: .outcome", "outcome: .draftId.x", "field outcome of the answer of update_trip_draft", false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(sound).To(ContainSubstring(c.old))
			path := filepath.Join(t.TempDir(), "own.yaml")
			g.Expect(os.WriteFile(path, []byte(strings.Replace(sound, c.old, c.new, 1)), 0o600)).To(Succeed())
			code, out, errs := holdfast(t, "doctor", path)
			if c.says == "" {
				g.Expect(code).To(Equal(0), out+errs)
				return
			}
			g.Expect(code).To(Equal(2), out+errs)
			g.Expect(strings.Join(strings.Fields(out), " ")).To(ContainSubstring(c.says))
			if c.doctorOnly {
				return
			}
			code, _, errs = holdfast(t, "run", path, "--select", "RC-02/update", "--out", filepath.Join(t.TempDir(), "report"))
			g.Expect(code).To(Equal(2))
			g.Expect(errs).To(And(ContainSubstring("the target own cannot be run"), ContainSubstring(c.says)))
		})
	}
}

// So are the tools that give out handles and take them, and those of jobs.
func TestAWrongToolOfDurabilityIsNamedByItsKey(t *testing.T) {
	text, ok := harness().Builtin("notes")
	if !ok {
		t.Fatal("there is no built-in target notes")
	}
	sound := string(text)
	for key, c := range map[string]struct{ old, new string }{
		"handles.issue": {"issue: {name: list_notes", "issue: {name: list_cursors"},
		"handles.use":   {"use: {name: list_notes", "use: {name: list_cursors"},
		"jobs.begin":    {"begin: {name: begin_export", "begin: {name: begin_exports"},
		"jobs.ask":      {"ask: {name: ask_export", "ask: {name: ask_exports"},
	} {
		t.Run(key, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(sound).To(ContainSubstring(c.old))
			path := filepath.Join(t.TempDir(), "own.yaml")
			g.Expect(os.WriteFile(path, []byte(strings.Replace(sound, c.old, c.new, 1)), 0o600)).To(Succeed())
			code, out, errs := holdfast(t, "doctor", path)
			g.Expect(code).To(Equal(2), out+errs)
			g.Expect(strings.Join(strings.Fields(out), " ")).To(ContainSubstring("which profiles.durability." + key + ".name in the target file names"))
		})
	}
}

// A server over HTTP needs no sign of readiness in the file: nothing is sent to it before
// it listens.
func TestAServerOverHTTPNeedsNoSignOfReadiness(t *testing.T) {
	g := NewWithT(t)
	text, ok := harness().Builtin("notes-http")
	g.Expect(ok).To(BeTrue(), "the built-in target notes-http")
	const sign = `    ready: {http: "{{helper.url}}/healthz"}` + "\n"
	g.Expect(string(text)).To(ContainSubstring(sign))
	path := filepath.Join(t.TempDir(), "own.yaml")
	g.Expect(os.WriteFile(path, []byte(strings.Replace(string(text), sign, "", 1)), 0o600)).To(Succeed())
	code, out, errs := holdfast(t, "doctor", path)
	g.Expect(code).To(Equal(0), out+errs)
}
