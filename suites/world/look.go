package world

import (
	"context"
	"maps"

	"github.com/holdfast-mcp/holdfast/fixtures/probe"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// Look looks through a probe at a moment and records what is there. A look that
// fails is recorded as such; it says nothing about the target.
func (w *World) Look(name, when string, params map[string]string) history.Look {
	return w.look(w.Target, name, when, params)
}

// look looks through a probe of the target as it is in some contract version.
func (w *World) look(of *target.File, name, when string, params map[string]string) history.Look {
	look := history.Look{Surface: surfaceOf(name), Probe: name, When: when, Params: maps.Clone(params)}
	if w.config.Seams.Skip != nil && w.config.Seams.Skip(name, when) {
		return look
	}
	w.record(of, &look, params)
	return look
}

// LookAtRest looks at a store whose owners are dead or stopped: a database is
// copied and the copy is read, so that nothing of it is repaired or changed.
func (w *World) LookAtRest(name, when string, params map[string]string) history.Look {
	return w.lookAtRest(w.Target, name, when, params)
}

func (w *World) lookAtRest(of *target.File, name, when string, params map[string]string) history.Look {
	look := history.Look{Surface: surfaceOf(name), Probe: name, When: when, Params: maps.Clone(params)}
	w.record(of, &look, params, probe.Quiet())
	return look
}

func (w *World) record(of *target.File, look *history.Look, params map[string]string, options ...probe.Option) {
	rows, err := w.rowsOf(of, look.Probe, params, options...)
	look.Rows = rows
	if err != nil {
		look.Error = err.Error()
	}
	w.config.Recorder.Record(history.Event{Kind: history.KindLook, Look: look})
}

// LookIfThere looks through a probe that a target may lack.
func (w *World) LookIfThere(name, when string, params map[string]string) {
	if _, there := w.probes()[name]; there {
		w.Look(name, when, params)
	}
}

// Peek looks without recording, for waiting; a failed look shows nothing.
func (w *World) Peek(name string, params map[string]string) []map[string]any {
	rows, err := w.rows(name, params)
	if err != nil {
		return nil
	}
	return rows
}

func (w *World) rows(name string, params map[string]string) ([]map[string]any, error) {
	return w.rowsOf(w.Target, name, params)
}

// rows looks as World.rows does, with the templates of the caller's own helper.
func (c *Caller) rows(name string, params map[string]string) ([]map[string]any, error) {
	return c.w.rowsKnowing(c.w.Target, name, params, c.known)
}

func (w *World) rowsOf(of *target.File, name string, params map[string]string, options ...probe.Option) ([]map[string]any, error) {
	return w.rowsKnowing(of, name, params, nil, options...)
}

func (w *World) rowsKnowing(of *target.File, name string, params map[string]string, more target.Scope, options ...probe.Option) ([]map[string]any, error) {
	spec, there := w.probesOf(of)[name]
	if !there {
		Inconclusive("the target file has no probe %q in profile %s", name, w.config.Profile)
	}
	prober, err := probe.New(spec, func() target.Scope { return w.known(more) }, options...)
	if err != nil {
		Broken("making the probe %s: %v", name, err)
	}
	ctx, cancel := context.WithTimeout(w.ctx, w.config.Limits.Answer)
	defer cancel()
	rows, err := prober.Look(ctx, params)
	return w.config.Seams.rows(name, rows), err
}

func (w *World) probes() map[string]target.Probe { return w.probesOf(w.Target) }

func (w *World) probesOf(of *target.File) map[string]target.Probe {
	switch {
	case w.config.Profile == target.ProfileWorkRecords && of.Profiles.WorkRecords != nil:
		return of.Profiles.WorkRecords.Probes
	case w.config.Profile == target.ProfileReceipts && of.Profiles.Receipts != nil:
		return of.Profiles.Receipts.Probes
	case w.config.Profile == target.ProfileWorkflows && of.Profiles.Workflows != nil:
		return of.Profiles.Workflows.Probes
	case w.config.Profile == target.ProfileDurability && of.Profiles.Durability != nil:
		return of.Profiles.Durability.Probes
	}
	return nil
}

// surfaceOf says which surface a probe looks at.
func surfaceOf(name string) history.Surface {
	if name == "card" || name == "editor" {
		return history.SurfacePerson
	}
	return history.SurfaceStore
}

// Await waits until a fact shows, for as long as a healed world may take to come
// to rest. It does not stop the spec when the fact stays away: whether that is
// wrong is for the judges to say.
func (w *World) Await(what string, fact func() bool) bool {
	err := wait.For(w.ctx, what, w.config.Limits.Converge, func(context.Context) (bool, error) { return fact(), nil })
	if err != nil {
		w.Mark("awaited in vain", map[string]any{"what": what})
	}
	return err == nil
}

// Number reads a column as a number; anything else is 0.
func Number(v any) int {
	switch v := v.(type) {
	case float64:
		return int(v)
	case int64:
		return int(v)
	case int:
		return v
	}
	return 0
}
