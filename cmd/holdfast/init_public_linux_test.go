package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// publicServers are started as somebody would who has just installed them; what init
// could not know is given by the flags that it asks for. fails are the specs of those
// below that each is known to fail (docs/findings.md).
var publicServers = []struct {
	name    string
	needs   string // of the cache
	command []string
	flags   []string
	write   string
	fails   []string
}{
	{name: "notes", command: []string{"{{self}}", "reference", "notes"}, write: "add_note"},
	{name: "helper of the reference", command: []string{"{{self}}", "reference", "helper"}, write: "work_note"},
	{name: "notes-node", needs: "notes-node/main.js", command: []string{"node", "notes-node/main.js"}, write: "add_note"},
	{name: "go-sdk-memory", needs: "bin/go-sdk-memory", command: []string{"bin/go-sdk-memory", "-memory", "{{dir}}/memory.json"}, write: "create_entities",
		fails: []string{"DU-04/concurrent-on-one-connection", "DU-04/few-at-once"}},
	{name: "server-filesystem", needs: filesystem, command: []string{"node", filesystem, "{{dir}}"}, write: "edit_file",
		fails: []string{"DU-04/concurrent-on-one-connection", "DU-04/few-at-once"}},
	{name: "server-everything", needs: everything, command: []string{"node", everything, "stdio"}, write: "echo",
		flags: []string{"--keeps", "nothing"}},
	{name: "zeeg-dex", needs: dex, command: []string{"node", dex, "mcp"}, write: "create_task",
		fails: []string{"DU-04/concurrent-on-one-connection", "DU-04/few-at-once"}},
	{name: "mcp-sqlite", needs: sqlite, command: []string{"node", sqlite, "{{dir}}/store.db"}, write: "create_record"},
	{name: "mcp-shrimp-task-manager", needs: shrimp, command: []string{"node", shrimp}, write: "split_tasks",
		flags: []string{"--write", "split_tasks", "--arg", "split_tasks.updateMode=append", "--arg", "split_tasks.tasksRaw=" +
			`[{"name":"{{value}}","description":"a task that was written by holdfast","implementationGuide":"none","notes":"","dependencies":[],"relatedFiles":[],"verificationCriteria":"none"}]`},
		fails: []string{"DU-04/concurrent-on-one-connection", "DU-04/few-at-once"}},
}

const (
	filesystem = "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"
	everything = "public/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
	dex        = "public/node_modules/@zeeg/dex/dist/index.js"
	sqlite     = "public/node_modules/mcp-sqlite/mcp-sqlite-server.js"
	shrimp     = "public/node_modules/mcp-shrimp-task-manager/dist/index.js"
)

// Servers that nobody described get a target file that doctor and a run take as it is.
func TestInitDescribesServersThatOthersWrote(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers that others wrote; go test without -short runs it")
	}
	for _, c := range publicServers {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			command := installed(t, c.needs, c.command)
			folder := t.TempDir()
			file, report := filepath.Join(folder, "target.yaml"), filepath.Join(folder, "report")

			begun := time.Now()
			code, out, errs := aside(t, slices.Concat([]string{"init", "--out", file}, c.flags, []string{"--"}, command)...)
			g.Expect(code).To(Equal(0), errs)
			t.Logf("described in %v", time.Since(begun).Round(100*time.Millisecond))
			nothing := slices.Contains(c.flags, "--keeps")
			if nothing {
				g.Expect(out).To(ContainSubstring("calls " + c.write + ", and reads nothing"))
			} else {
				g.Expect(out).To(ContainSubstring("writes with " + c.write + ", "))
			}
			g.Expect(out).NotTo(ContainSubstring("outside of {{dir}}"))

			code, out, errs = aside(t, "doctor", file)
			g.Expect(code).To(Equal(0), out+errs)
			aside(t, "run", file, "--no-control", "--select", "DU-01/*", "--select", "DU-04/*", "--select", "DU-21/*", "--out", report)
			r, err := reports.Read(report)
			g.Expect(err).NotTo(HaveOccurred())
			var failed []string
			for _, s := range r.Specs {
				switch {
				case s.Verdict == verdict.Pass:
				case s.Verdict == verdict.Fail:
					failed = append(failed, s.ID)
				case nothing && s.Verdict == verdict.NotApplicable: // nothing can be read back
				default:
					t.Errorf("%s is %s: %s", s.ID, s.Verdict, s.Reason)
				}
			}
			g.Expect(failed).To(Equal(c.fails))
			g.Expect(len(r.Specs)).To(BeNumerically(">=", 3))
		})
	}
}

// installed is a command with the files of the cache by their whole paths. Where it is
// not there the test is left out, but not where CI=true.
func installed(t *testing.T, needs string, command []string) []string {
	t.Helper()
	cache, err := target.Thirdparty()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(cache, needs)); err != nil {
		words := fmt.Sprintf("the server is not there (%v); fixtures/thirdparty/install.sh npm go public notes-node installs it", err)
		if os.Getenv("CI") == "true" {
			t.Fatal(words)
		}
		t.Skip(words)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command = slices.Clone(command)
	for i, word := range command {
		switch word {
		case needs:
			command[i] = filepath.Join(cache, word)
		case "{{self}}":
			command[i] = self
		}
	}
	return command
}
