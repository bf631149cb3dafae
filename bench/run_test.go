package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-mcp/holdfast/fixtures/account"
	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// BenchmarkReferenceRun: the whole gate on the reference, as a user runs it,
// against what its process starts would cost one after the other with nothing
// else to do: Σ starts(kind) × bare start(kind). A run has several workers, so the
// ratio can be below 1.
func BenchmarkReferenceRun(b *testing.B) {
	for b.Loop() {
		bare := bareStarts{}
		bare.measure(b) // before and after the run, so that a machine that gets busier slows both
		out := filepath.Join(b.TempDir(), "report")
		report, took, cpu := gate(b, out)
		bare.measure(b)
		starts := startsIn(b, out, report.Counts.ProcessStarts)
		var expected time.Duration
		var parts []string
		for _, kind := range slices.Sorted(maps.Keys(starts)) {
			each, known := bare[kind]
			if !known {
				b.Fatalf("the run started %d processes of the kind %q, whose bare start is not measured here; add it to bareStarts", starts[kind], kind)
			}
			expected += time.Duration(starts[kind]) * median(each)
			parts = append(parts, fmt.Sprintf("%d %s × %s", starts[kind], kind, short(median(each))))
		}
		tell(b, measurement{name: "whole reference run ÷ process starts × bare start", bound: 4, value: took.Seconds() / expected.Seconds(),
			from: fmt.Sprintf("%.1f s ÷ (%s = %.1f s)", took.Seconds(), strings.Join(parts, " + "), expected.Seconds())})
		tell(b, measurement{name: "whole reference run", value: took.Seconds(), unit: "s",
			from: fmt.Sprintf("%d specs, %d process starts, %d workers on %d cores, %.1f s of processor time; wanted: under 60 s on 2 cores with nothing else to do",
				len(report.Specs), report.Counts.ProcessStarts, report.Environment.Procs, report.Environment.CPUs, cpu.Seconds())})
	}
}

// gate runs the binary; the gate must pass, else it is another run that was
// measured. cpu is what it used with all that it started: unlike took it grows
// little on a busy machine.
func gate(b *testing.B, out string) (report reports.Report, took, cpu time.Duration) {
	b.Helper()
	cmd := exec.Command(binary, "run", "reference", "--no-control", "--json", "--out", out)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Dir = &stdout, &stderr, b.TempDir()
	var err error
	took = timed(func() { err = cmd.Run() })
	if broken := json.Unmarshal(stdout.Bytes(), &report); broken != nil {
		b.Fatalf("the run gave no report (%v): %v\n%s", err, broken, stderr.Bytes())
	}
	if err != nil {
		b.Errorf("the gate on the reference did not pass (%v): %v", err, report.Gate.Reasons)
	}
	return report, took, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// control is a process that the spec of WR-38 starts to see that it would see: none
// of the target's, and nothing but a cat.
const control = "secret-control"

// startsIn counts the started processes of the target in the histories of a report,
// by kind. It must be as many as the report counts.
func startsIn(b *testing.B, folder string, want int) map[string]int {
	b.Helper()
	starts, all := map[string]int{}, 0
	err := filepath.WalkDir(filepath.Join(folder, reports.ArtifactsDir), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "history.jsonl" {
			return err
		}
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer in.Close()
		h, err := history.Read(in)
		for _, e := range h.Events {
			if e.Kind == history.KindProcess && e.Process.State == history.Started && e.Process.Name != control {
				starts[e.Process.Name]++
				all++
			}
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	if all != want {
		b.Errorf("the histories name %d process starts (%v), the report counts %d", all, starts, want)
	}
	return starts
}

// bareStarts are the times from nothing to ready, by kind.
type bareStarts map[string][]time.Duration

// worlds is how many fresh worlds are started, one process after the other.
const worlds = 10

// measure starts each kind as a run does, in a fresh folder and in the target
// file's order, with nothing beside it: the account service, the app that signs
// in there and makes the stores, the helper that opens the sidecar.
func (all bareStarts) measure(b *testing.B) {
	b.Helper()
	run := newRun(b)
	for range worlds {
		s := newStage(b, run)
		accounts := account.Generate()
		file, token := filepath.Join(s.folder, "accounts.json"), filepath.Join(s.folder, "a.token")
		s.ok(accounts.Write(file))
		first := accounts.Accounts[0]
		s.ok(os.WriteFile(token, []byte(first.Token), 0o600))

		accountURL, end := all.serve(s, "account", map[string]string{"ACCOUNT_FILE": file})
		appURL, endApp := all.serve(s, "app", map[string]string{
			"SIDECAR": s.sidecar(), "LIBRARY": filepath.Join(s.folder, "library", "library.db"),
			"STAGING_ROOT": filepath.Join(s.folder, "staging"), "ACCOUNT_URL": accountURL, "ACCOUNT_TOKEN_FILE": token,
		})
		all["helper"] = append(all["helper"], s.bareStart(s.command("helper", true, map[string]string{"SIDECAR": s.sidecar(), "APP_URL": appURL})))
		endApp()
		end()
	}
}

// serve starts a process that is ready when its /healthz answers 200.
func (all bareStarts) serve(s *stage, kind string, env map[string]string) (base string, end func()) {
	s.b.Helper()
	port, err := s.run.Ports.Next()
	s.ok(err)
	base, env["PORT"] = fmt.Sprintf("http://127.0.0.1:%d", port), fmt.Sprint(port)
	c := s.command(kind, false, env)
	began := time.Now()
	p := s.start(c)
	healthy(s, base+"/healthz")
	all[kind] = append(all[kind], time.Since(began))
	return base, func() { s.ok(p.Kill(s.b.Context())) }
}

// healthy asks far oftener than a run does, so that a bare start costs no more
// than it must.
func healthy(s *stage, url string) {
	s.b.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	again := time.NewTicker(500 * time.Microsecond)
	defer again.Stop()
	late := time.After(wait.Default().Ready)
	for {
		answer, err := client.Get(url)
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-again.C:
		case <-late:
			s.b.Fatalf("%s did not answer 200 within %v: %v", url, wait.Default().Ready, err)
		}
	}
}
