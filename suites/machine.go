package suites

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/holdfast-mcp/holdfast/fixtures/launch"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// killNote stands in every report, so that nobody reads more into it.
const killNote = "kills are SIGKILL, which is not power loss: what the kernel holds survives them"

// environment describes the machine.
func environment(procs int) reports.Environment {
	e := reports.Environment{
		OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Procs: procs,
		TimeScale: os.Getenv("HOLDFAST_TIME_SCALE"), Kill: killNote,
	}
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		e.Kernel = strings.TrimSpace(string(text))
	}
	return e
}

// placesOf are the templates that can be told without starting anything.
func placesOf(scratch string) target.Scope {
	scope := target.Scope{"dir": scratch, "home": filepath.Join(scratch, "home")}
	if self, err := os.Executable(); err == nil {
		scope["self"] = self
	}
	if dir, err := target.Thirdparty(); err == nil {
		scope["thirdparty"] = dir
	}
	return scope
}

// identify fills in which program is under test: its version, as it says
// itself, and the digest of what is started. Both may be unknown.
func identify(ctx context.Context, l Loaded, run *launch.Run) reports.Target {
	f := l.File
	t := reports.Target{
		Name: f.Name, Command: helperCommand(f), File: l.Path, Digest: f.Digest, Revision: f.Revision, Profiles: []string{},
	}
	scope := placesOf(run.Folder())
	if argv, ok := expandAll(scope, f.Version.Command); ok {
		t.Version = versionOf(ctx, argv, run)
	}
	p := f.Processes[f.Helper()]
	argv, ok := expandAll(scope, p.Run)
	if p.Reference != "" {
		argv, ok = []string{scope["self"]}, scope["self"] != ""
	}
	if ok {
		t.SHA256 = digestOf(argv[0])
	}
	return t
}

func expandAll(scope target.Scope, words []string) ([]string, bool) {
	var out []string
	for _, w := range words {
		expanded, err := scope.Expand(w)
		if err != nil {
			return nil, false
		}
		out = append(out, expanded)
	}
	return out, len(out) > 0
}

// versionOf runs the version command in a private environment and takes the
// first line that it prints. What it leaves running is ended with the run, whose
// mark it carries.
func versionOf(ctx context.Context, argv []string, run *launch.Run) string {
	ctx, cancel := context.WithTimeout(ctx, wait.Default().Answer)
	defer cancel()
	dir, err := run.Scratch("version")
	if err != nil {
		return ""
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(target.PrivateEnv(dir, nil), run.Environ()...)
	cmd.WaitDelay = wait.Default().Stop
	for _, folder := range []string{target.Home(dir), target.Temp(dir)} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return ""
		}
	}
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if len(line) > 200 {
		line = line[:200]
	}
	return strings.ToValidUTF8(strings.TrimSpace(line), "�")
}

// digestOf is the SHA-256 of a program that is found as a shell would find it.
func digestOf(program string) string {
	path, err := exec.LookPath(program)
	if err != nil {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}
