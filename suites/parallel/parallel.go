// Package parallel runs specs in several worker processes of one binary. It is
// all that holdfast knows of Ginkgo: how its command line is driven from a plain
// binary is no documented interface, so it stands here alone, with a canary test.
//
// Three kinds of process take part. The parent (Run) starts one coordinator, in
// a process group of its own; the coordinator is Ginkgo's command line; it
// starts the workers, which run the specs. Every worker holds a lifeline to the
// parent: when the parent closes it, or dies, the worker stops.
package parallel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Spec is one spec as a worker runs it.
type Spec struct {
	// Text names the spec in Ginkgo's log; Labels are its clause IDs.
	Text   string
	Labels []string
	// Run runs the spec. ctx ends when the run is stopped; tell makes the parent
	// look at what was written. An error makes Ginkgo's own output say failed;
	// nothing else depends on it.
	Run func(ctx context.Context, tell func()) error
}

// Work reads a job that the parent wrote and makes the specs of it, and what is done
// once a worker has run all of its share; nil for nothing. It runs once
// in every worker and must give the same specs in the same order in each.
type Work func(job string) (specs []Spec, done func(), err error)

// Options say how Run runs.
type Options struct {
	// Job is the path of what the parent tells the workers; Work reads it.
	Job string
	// Folder takes the link to the executable that Ginkgo wants.
	Folder string
	// Log takes Ginkgo's output and whatever a worker prints.
	Log string
	// Procs is the number of workers, at least 1.
	Procs int
	// Env adds to the environment of coordinator and workers.
	Env []string
	// Grace is how long workers may take to leave once they are told to stop.
	Grace time.Duration
	// Nudge, if set, is called when a worker told of something, and when one
	// left. Calls do not overlap; after Run there are none.
	Nudge func()
}

// handoff travels from parent to coordinator to worker in one variable of the
// environment, which each of them takes out before it does anything else.
type handoff struct {
	Role  string        `json:"role"`
	Job   string        `json:"job"`
	Link  string        `json:"link"`
	Log   string        `json:"log"`
	Dir   string        `json:"dir"`  // the parent's working directory
	Path  string        `json:"path"` // the parent's PATH, see coordinate
	Procs int           `json:"procs"`
	Line  string        `json:"line"`  // address of the lifeline
	Token string        `json:"token"` // what a worker says first on it
	Grace time.Duration `json:"grace_ns"`
}

const (
	handoffVariable = "HOLDFAST_PARALLEL"
	roleCoordinator = "coordinator"
	roleWorker      = "worker"
)

// Main turns this process into a coordinator or a worker if Run started it as
// one, and does not return then. Every binary that calls Run must call it first.
func Main(work Work) {
	text, ok := os.LookupEnv(handoffVariable)
	if !ok {
		return
	}
	os.Unsetenv(handoffVariable)
	var h handoff
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		fmt.Fprintf(os.Stderr, "holdfast: %s is set and is not from a run of holdfast (%v); unset it\n", handoffVariable, err)
		os.Exit(2)
	}
	switch h.Role {
	case roleCoordinator:
		os.Exit(coordinate(h))
	case roleWorker:
		os.Exit(serve(h, work))
	}
	fmt.Fprintf(os.Stderr, "holdfast: %s names the role %q, which is unknown; unset it\n", handoffVariable, h.Role)
	os.Exit(2)
}

// Run runs the specs of o.Job in worker processes and returns when all of them
// have left. Ginkgo's own verdict is ignored: an error means that the workers
// could not be started. When ctx ends, the workers are told to stop and get
// o.Grace; when kill is closed, or the grace is over, they are killed.
func Run(ctx context.Context, kill <-chan struct{}, o Options) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("starting the workers: finding the own executable: %w", err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("starting the workers: finding the working directory: %w", err)
	}
	link := filepath.Join(o.Folder, "holdfast.test")
	if err := os.Symlink(self, link); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("starting the workers: linking the own executable: %w", err)
	}
	log, err := os.OpenFile(o.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("starting the workers: opening their log: %w", err)
	}
	defer log.Close()
	line, err := listen(o.Nudge)
	if err != nil {
		return fmt.Errorf("starting the workers: %w", err)
	}
	defer line.close()

	text, err := json.Marshal(handoff{
		Role: roleCoordinator, Job: o.Job, Link: link, Log: o.Log, Dir: dir, Path: os.Getenv("PATH"),
		Procs: max(o.Procs, 1), Line: line.address(), Token: line.token, Grace: o.Grace,
	})
	if err != nil {
		return fmt.Errorf("starting the workers: %w", err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(append(os.Environ(), o.Env...), handoffVariable+"="+string(text))
	cmd.Stdout, cmd.Stderr = log, log
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the workers: %w", err)
	}
	await(ctx, kill, cmd, line, o.Grace)
	return nil
}

// await waits until the coordinator has left, and sees to it that it does.
func await(ctx context.Context, kill <-chan struct{}, cmd *exec.Cmd, line *lifelines, grace time.Duration) {
	left := make(chan struct{})
	go func() {
		defer close(left)
		// Its exit status is Ginkgo's, which says nothing that counts here.
		_ = cmd.Wait()
	}()
	// Nothing of the group may outlive the run, whatever way it ends. The number
	// of the group is not used again while a member lives; when none does, the
	// kill finds nothing.
	defer func() { killGroup(cmd) }()
	var overdue <-chan time.Time
	stopped, deserted := ctx.Done(), line.deserted
	limit := func() {
		timer := time.NewTimer(grace)
		overdue = timer.C
	}
	for {
		select {
		case <-left:
			return
		case <-stopped:
			stopped = nil
			line.stop()
			limit()
		case <-deserted:
			// All workers are gone; the coordinator has nothing left to wait for.
			deserted = nil
			limit()
		case <-overdue:
			killGroup(cmd)
			<-left
			return
		case <-kill:
			killGroup(cmd)
			<-left
			return
		}
	}
}
