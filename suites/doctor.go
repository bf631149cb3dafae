package suites

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/fixtures/launch/browser"
	"github.com/holdfast-mcp/holdfast/fixtures/postgres"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/gate"
	"github.com/holdfast-mcp/holdfast/reports/progress"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// Diagnosis is what `holdfast doctor` shows.
type Diagnosis struct {
	Schema string `json:"schema"`
	// Machine is what this machine has; what it lacks is no fault as long as no
	// spec needs it.
	Machine []Step `json:"machine"`
	// Target is what was tried on the target, in order; it ends with the first
	// step that is not OK.
	Target   []Step `json:"target"`
	ExitCode int    `json:"exit_code"`
}

// DiagnosisSchema names the form of a diagnosis.
const DiagnosisSchema = "holdfast.doctor/1"

// Diagnose looks at the machine and, when nameOrPath is not empty, tries a target.
func (h Harness) Diagnose(ctx context.Context, nameOrPath string, allowOutside []string, watch progress.Watch) (Diagnosis, error) {
	if err := scaled(); err != nil {
		return Diagnosis{}, err
	}
	d := Diagnosis{Schema: DiagnosisSchema, Machine: []Step{}, Target: []Step{}}
	if nameOrPath == "" {
		d.Machine = h.machine(ctx, nil)
		return d, nil
	}
	l, err := h.Load(nameOrPath)
	if err != nil {
		return d, err
	}
	d.Machine = h.machine(ctx, l.File)
	if err := fit(l.File, allowOutside); err != nil {
		return d, Usage("the target %s cannot be run: %w", nameOrPath, err)
	}
	if lacks := lacking(l.File); lacks != "" {
		return d, Usage("the target %s cannot be tried: %s", nameOrPath, lacks)
	}
	if h.Doctor == nil {
		return d, fmt.Errorf("this build of holdfast cannot try a target")
	}
	scratch, err := openScratch(false, watch)
	if err != nil {
		return d, err
	}
	d.Target = h.Doctor(ctx, h.trialOf(l, scratch.Folder()))
	for _, s := range d.Target {
		if !s.OK {
			d.ExitCode = gate.Usage
		}
	}
	if ctx.Err() != nil {
		d.ExitCode = gate.Interrupted
	}
	return d, scratch.Close()
}

// lacking says all that this machine lacks for a target, "" where it lacks nothing.
func lacking(f *target.File) string {
	var all []string
	if why := notHere(f); why != "" {
		all = append(all, why)
	}
	if _, err := browser.Find(); err != nil && anyProcess(f, onPage) {
		all = append(all, "it needs Chromium: "+err.Error())
	}
	return strings.Join(all, "; ")
}

// machine looks for what specs may need. What it lacks is a fault where the
// target needs it; f is nil where none is asked about.
func (h Harness) machine(ctx context.Context, f *target.File) []Step {
	steps := []Step{
		docker(ctx),
		program("Chromium", "only specs that open a page need it; install "+browser.Package+", such as with apt-get install "+browser.Package, browser.Programs()...),
		postgreSQL(ctx),
		ptrace(),
	}
	needed := []bool{anyProcess(f, boxed), anyProcess(f, onPage) || h.openedInBrowser(f), anyProcess(f, onPostgres), h.struckAtCrashPoints(f)}
	for i := range steps {
		s := &steps[i]
		if s.OK || needed[i] {
			continue
		}
		s.NotNeeded = true
		if f != nil {
			s.Detail += "; not needed by this target"
			s.Advice = ""
		}
	}
	return steps
}

func boxed(p target.Process) bool      { return p.Image != "" }
func onPostgres(p target.Process) bool { return p.Fixture == target.FixturePostgres }
func onPage(p target.Process) bool     { return p.IsPage() }

// anyProcess says whether a target has a process of a kind.
func anyProcess(f *target.File, kind func(target.Process) bool) bool {
	return f != nil && slices.ContainsFunc(slices.Collect(maps.Values(f.Processes)), kind)
}

// openedInBrowser says whether a spec that applies to the target opens its page in
// a browser, be there one or not.
func (h Harness) openedInBrowser(f *target.File) bool {
	return f != nil && slices.ContainsFunc(h.Tests, func(t Test) bool {
		if !t.Browser {
			return false
		}
		t.Browser = false // what else there is to say of it
		v, _ := settled(t, f)
		return v == ""
	})
}

// struckAtCrashPoints says whether a spec that applies to the target enumerates
// the crash points of its processes.
func (h Harness) struckAtCrashPoints(f *target.File) bool {
	return f != nil && slices.ContainsFunc(h.Tests, func(t Test) bool {
		v, _ := settled(t, f)
		return v == "" && slices.Contains(t.Faults, "crash-point")
	})
}

func program(name, advice string, candidates ...string) Step {
	for _, c := range candidates {
		if path, err := exec.LookPath(c); err == nil {
			return Step{Name: name, OK: true, Detail: path}
		}
	}
	return Step{Name: name, Detail: "not found", Advice: advice}
}

// postgreSQL looks for a server that the fixture can start.
func postgreSQL(ctx context.Context) Step {
	const advice = "only targets with the fixture postgres need it; install " + postgres.Package + ", such as with apt-get install " + postgres.Package
	s := Step{Name: "PostgreSQL", Detail: "not found", Advice: advice}
	server, err := postgres.Find()
	if err != nil {
		if named := os.Getenv(postgres.FolderVariable); named != "" {
			s.Detail = "not in " + named + " (" + postgres.FolderVariable + ")"
		}
		return s
	}
	version, err := server.Version(ctx)
	if err != nil {
		s.Detail = err.Error()
		return s
	}
	return Step{Name: s.Name, OK: true, Detail: version + " in " + server.Bin}
}

func docker(ctx context.Context) Step {
	const advice = "targets with an image need it; install docker.io and start it"
	s := program("Docker", advice, "docker")
	if !s.OK {
		return s
	}
	ctx, cancel := context.WithTimeout(ctx, wait.Default().Answer)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.Detail, "version", "--format", "{{.Server.Version}}")
	cmd.WaitDelay = wait.Default().Stop
	out, err := cmd.Output()
	if err != nil {
		return Step{Name: s.Name, Detail: s.Detail + " is there, and no engine answers it", Advice: advice}
	}
	s.Detail = "engine " + strings.TrimSpace(string(out))
	return s
}

func ptrace() Step {
	s := Step{Name: "ptrace", Advice: "crash points are enumerated with it, on Linux"}
	if runtime.GOOS != "linux" {
		s.Detail = "this is " + runtime.GOOS
		return s
	}
	// A child may be traced by its parent under every scope but 3.
	scope, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	value := strings.TrimSpace(string(scope))
	switch {
	case err != nil:
		s.OK, s.Detail, s.Advice = true, "no restriction by Yama", ""
	case value == "3":
		s.Detail, s.Advice = "switched off (yama/ptrace_scope is 3)", "set kernel.yama.ptrace_scope to 2 or less; that takes a reboot"
	default:
		s.OK, s.Detail, s.Advice = true, "yama/ptrace_scope is "+value, ""
	}
	return s
}
