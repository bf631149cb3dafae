package world

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/fixtures/launch"
	"github.com/holdfast-mcp/holdfast/fixtures/mcp"
	"github.com/holdfast-mcp/holdfast/fixtures/postgres"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
)

// member is one process of the target file, with its present instance.
type member struct {
	name     string
	spec     target.Process
	running  *launch.Process
	instance int
}

// Choice says which processes a Launch is about.
type Choice func(name string) bool

// Only takes these processes and no other.
func Only(names ...string) Choice {
	return func(name string) bool { return slices.Contains(names, name) }
}

// Without takes all processes but these.
func Without(names ...string) Choice {
	return func(name string) bool { return !slices.Contains(names, name) }
}

// Launch starts the target's processes in their order, those that run already
// aside, and waits until each is ready. The helper is not among them: each
// caller starts its own.
func (w *World) Launch(which ...Choice) {
	w.openWires()
	for _, name := range w.Target.StartOrder() {
		if name == w.Target.Helper() || slices.ContainsFunc(which, func(c Choice) bool { return !c(name) }) {
			continue
		}
		if p := w.process(name); p.running == nil {
			w.start(p, manner{})
		}
	}
}

// process is the entry of a process, made when it is first asked for.
func (w *World) process(name string) *member {
	p, known := w.processes[name]
	if !known {
		spec, there := w.Target.Processes[name]
		if !there {
			Broken("the target file has no process %q", name)
		}
		p = &member{name: name, spec: spec}
		w.processes[name] = p
	}
	return p
}

// start starts one process and waits until it is ready.
func (w *World) start(p *member, as manner) {
	p.instance++
	running, err := w.spawn(p.name, p.spec, p.instance, nil, as)
	if err != nil {
		w.cannotStart(err)
	}
	p.running = running
}

// manner is how one instance of a process differs from the others: file is the
// target in the contract version that it is of, nil for the target as it stands,
// wrapped makes another command of its own, env is laid over its environment.
type manner struct {
	file    *target.File
	wrapped func([]string) []string
	env     map[string]string
	// revision to shake hands in, "" for the target's.
	revision string
}

// spawn starts an instance of a process. more adds to the templates that it may use.
func (w *World) spawn(name string, spec target.Process, instance int, more target.Scope, as manner) (*launch.Process, error) {
	if as.file == nil {
		as.file = w.Target
	} else {
		spec = as.file.Processes[name]
	}
	scope := w.known(more)
	command, err := w.command(name, spec, scope, as)
	if err != nil {
		return nil, err
	}
	if as.wrapped != nil {
		command.Argv = as.wrapped(command.Argv)
	}
	w.mu.Lock()
	w.starts++
	w.mu.Unlock()
	running, err := w.config.Run.Start(w.ctx, command, w.config.Recorder, instance)
	if err != nil {
		return nil, err
	}
	ready, err := expandReady(spec.Sign(), scope)
	if ready == (target.Ready{}) && spec.MCP.HTTP != "" {
		ready.Listens = "127.0.0.1:" + scope[name+".port"] // a request before that would be lost
	}
	if err == nil {
		err = launch.WaitReady(w.ctx, running, ready, w.config.Limits.Ready)
	}
	if err != nil {
		_ = running.Kill(context.WithoutCancel(w.ctx)) // the reason to be told is the first one
		return nil, err
	}
	return running, nil
}

// command is what is started for a process of the target file.
func (w *World) command(name string, spec target.Process, scope target.Scope, as manner) (launch.Command, error) {
	c := launch.Command{
		Name: name, Stdio: spec.MCP.Stdio, Dir: w.dir,
		Log: filepath.Join(w.config.Folder, fmt.Sprintf("%s.log", name)), Redact: w.config.Leaks.OfLog(name, w.config.Redact),
	}
	for _, word := range w.argv(spec) {
		expanded, err := scope.Expand(word)
		if err != nil {
			return c, fmt.Errorf("process %s: %w", name, err)
		}
		c.Argv = append(c.Argv, expanded)
	}
	extra, err := as.file.Environment(name, scope)
	if err != nil {
		return c, err
	}
	maps.Copy(extra, as.env)
	if folder := os.Getenv(postgres.FolderVariable); folder != "" && spec.Fixture == target.FixturePostgres {
		extra[postgres.FolderVariable] = folder
	}
	if spec.Dir != "" {
		dir, err := scope.Expand(spec.Dir)
		if err != nil {
			return c, fmt.Errorf("process %s: dir: %w", name, err)
		}
		c.Dir = dir
	}
	if spec.Stop.Grace != "" {
		grace, err := time.ParseDuration(spec.Stop.Grace)
		if err != nil {
			return c, fmt.Errorf("process %s: stop.grace: %w", name, err)
		}
		c.Grace = grace
	}
	env, err := launch.Private(w.dir, extra)
	c.Env = env
	return c, err
}

// argv is the command line of a process; those of the reference and the
// fixtures are verbs of this binary. A mutant is one of the current version.
func (w *World) argv(spec target.Process) []string {
	switch {
	case spec.Reference != "" && w.config.Mutant != "" && !strings.Contains(spec.Reference, "@"):
		return []string{w.config.Self, "mutant", w.config.Mutant, spec.Reference}
	case spec.Fixture == target.FixtureNotes && w.config.Mutant != "":
		return []string{w.config.Self, "mutant", w.config.Mutant, spec.Fixture}
	case spec.Reference != "":
		return []string{w.config.Self, "reference", spec.Reference}
	case spec.Fixture != "":
		return []string{w.config.Self, "reference", spec.Fixture}
	}
	return spec.Run
}

func expandReady(r target.Ready, scope target.Scope) (target.Ready, error) {
	var err error
	for _, field := range []*string{&r.HTTP, &r.File, &r.Line} {
		if *field, err = scope.Expand(*field); err != nil {
			return r, fmt.Errorf("ready: %w", err)
		}
	}
	return r, nil
}

// openWires hands out ports and opens the wires between processes, once.
func (w *World) openWires() {
	if len(w.wires) > 0 || w.scope["ports"] != "" {
		return
	}
	w.learn("ports", "given")
	for name := range w.Target.Processes {
		if w.Target.Serves(name) {
			w.givePort(name)
		}
	}
	for name, link := range w.Target.Wires {
		callee := w.scope[link.To+".url"]
		opened, err := wire.OpenHTTP(wire.Config{
			Name: name, Callee: callee, Recorder: w.config.Recorder, Limits: w.config.Limits, Fresh: w.Target.Processes[link.From].IsPage(),
		})
		if err != nil {
			Broken("opening wire %s to %s: %v", name, callee, err)
		}
		w.wires[name] = opened
		w.learn("wire."+name, opened.URL())
	}
}

func (w *World) givePort(name string) {
	port, err := w.config.Run.Ports.Next()
	if err != nil {
		Broken("finding a port for process %s: %v", name, err)
	}
	w.learn(name+".port", fmt.Sprint(port))
	w.learn(name+".url", (&url.URL{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", port)}).String())
}

// StopProcess ends a process in order.
func (w *World) StopProcess(name string) {
	p := w.process(name)
	if p.running == nil {
		return
	}
	if err := p.running.Stop(w.ctx); err != nil {
		Broken("stopping process %s: %v", name, err)
	}
	p.running = nil
}

// cannotStart ends the spec because a process did not come up. Once one of its
// kind had run in this world and was killed by a fault it is the target that does
// not start again on what the kill has left; before that it is no judgement.
func (w *World) cannotStart(err error) {
	if w.killed && ownFault(err) {
		Broke("after a kill the target does not start again: %v", err)
	}
	Broken("%v", err)
}

// ownFault says whether a process that did not come up ended or refused by itself.
func ownFault(err error) bool {
	var ended *launch.Failure
	var none *mcp.NoAnswer
	return errors.As(err, &ended) && ended.Err == nil || errors.As(err, &none) && none.Reason == mcp.ConnectionLost
}
