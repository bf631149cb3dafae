package world

import (
	"maps"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/fixtures/targets"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// VersionMark tells that a process was started in another contract version.
const VersionMark = "version"

// Version is one process of the target in a contract version, with the words and
// the probes that fit it. The process as the file has it is version "".
type Version struct {
	w             *World
	process, name string
	file          *target.File
}

// Version is a process of the target in a contract version.
func (w *World) Version(process, version string) Version {
	file, err := targets.InVersion(w.Target, process, version)
	if err != nil {
		Inconclusive("%v", err)
	}
	return Version{w: w, process: process, name: version, file: file}
}

// Launch starts the process in this version, which no instance of it runs in, and
// waits until it is ready. What is launched later is the process as the file has it.
func (v Version) Launch() {
	v.w.openWires()
	p := v.w.process(v.process)
	if p.running != nil {
		Broken("process %s is to be started in contract version %q and runs already", v.process, v.name)
	}
	v.w.start(p, v.manner())
}

// NewCaller starts a helper in this version on the target's stores and shakes hands.
func (v Version) NewCaller() *Caller {
	c, err := v.w.newCallerAs(v.manner())
	if err != nil {
		v.w.cannotStart(err)
	}
	return c
}

func (v Version) manner() manner {
	if v.name == "" {
		return manner{}
	}
	v.w.Mark(VersionMark, map[string]any{"process": v.process, "instance": v.w.process(v.process).instance + 1, "version": v.name})
	return manner{file: v.file}
}

// Look is World.Look through this version's probe.
func (v Version) Look(name, when string, params map[string]string) history.Look {
	return v.w.look(v.file, name, when, params)
}

// LookAtRest is World.LookAtRest through this version's probe.
func (v Version) LookAtRest(name, when string, params map[string]string) history.Look {
	return v.w.lookAtRest(v.file, name, when, params)
}

// Peek is World.Peek through this version's probe.
func (v Version) Peek(name string, params map[string]string) []map[string]any {
	rows, err := v.w.rowsOf(v.file, name, params)
	if err != nil {
		return nil
	}
	return rows
}

// Saying is an act with one more argument than the target file gives its tool, or
// another value of one.
func (c *Caller) Saying(act Act, argument string, value any) Act {
	tool := c.tool(act)
	tool.Arguments = maps.Clone(tool.Arguments)
	tool.Arguments[argument] = value
	act.Tool = &tool
	return act
}
