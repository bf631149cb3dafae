package world

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/holdfast-mcp/holdfast/faults/crashpoint"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// traced is a process under the tracer.
type traced struct {
	trace  *crashpoint.Trace
	caller *Caller // the helper's, nil where another process is traced
	other  *member // another process than the helper, else nil
	kept   bool    // whoever called it stays
}

// onCopy starts a traced process on a fresh copy of the stores.
func (w *World) onCopy(c Crash, base string) traced {
	if err := w.restore(base); err != nil {
		Broken("restoring the stores: %v", err)
	}
	return w.underTrace(c, filepath.Dir(base))
}

// underTrace starts a traced process on the stores as they are; folder takes what the
// tracer needs.
func (w *World) underTrace(c Crash, folder string) traced {
	if c.Process == "" && w.onPage() {
		Inconclusive("the helper is a page in the browser, so there is no process of it to be traced")
	}
	trace, err := crashpoint.Prepare(folder, crashpoint.Plan{
		Naming:  crashpoint.Naming{Roots: w.rootsOf(c), Exclude: []string{"tmp/*", "runtime/*", "*-shm"}, Patterns: []string{operationID.String()}},
		NoRings: true,
	})
	if err != nil {
		Broken("preparing the tracer: %v", err)
	}
	t, as := traced{trace: trace, kept: c.Kept}, manner{wrapped: trace.Argv}
	if c.Of != nil {
		as.file = c.Of.file
	}
	if c.Process == "" {
		if t.caller, err = w.newCallerAs(as); err == nil {
			trace.Watch(t.caller.process.Done())
		}
	} else {
		t.other = w.process(c.Process)
		if err = w.startAs(t.other, as); err == nil {
			trace.Watch(t.other.running.Done())
		}
	}
	if err != nil {
		_ = trace.Close() // the first reason is the one to be told
		w.cannotStart(err)
	}
	if c.Led.Ready != nil {
		c.Led.Ready()
	}
	if t.caller != nil {
		t.caller.answersEnded()
	}
	return t
}

// lead leads the traced process through its writes, and says how that ended.
func (t traced) lead(c Crash, run string) (outcome history.Outcome, reason string) {
	if t.other != nil {
		return c.Led.Act(run), ""
	}
	op := t.caller.Do(c.Act.With("run", run))
	return op.Outcome(), ": " + reasonOf(op)
}

// end ends the traced process in order.
func (t traced) end(w *World) {
	if t.other == nil {
		t.caller.end()
		return
	}
	w.EndCallers()
	w.StopProcess(t.other.name)
}

// close ends the traced process in any way, and with it whoever called.
func (t traced) close(w *World) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), w.config.Limits.Reap)
	defer cancel()
	var err error
	switch {
	case t.caller != nil:
		w.forget(t.caller)
		err = t.caller.discard(ctx)
	case t.other.running != nil:
		err = gone(t.other.running.Kill(ctx))
		t.other.running = nil
	}
	if err := errors.Join(err, t.trace.Close()); err != nil {
		Broken("ending the traced process: %v", err)
	}
	if t.other != nil && !t.kept {
		w.EndCallers()
	}
}

// snapshot copies the world's folder beside itself.
func (w *World) snapshot() (string, error) {
	folder, err := w.config.Run.Scratch(folderName(w.config.Name) + "-base")
	if err != nil {
		return "", err
	}
	base := filepath.Join(folder, "stores")
	return base, copyTree(base, w.dir)
}

// copyTree copies a folder with the modes of what is in it: a store that is to be
// private is refused by its owner where they are lost.
func copyTree(to, from string) error {
	if err := os.CopyFS(to, lasting{os.DirFS(from).(fs.ReadLinkFS)}); err != nil {
		return err
	}
	return filepath.WalkDir(from, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.Type()&os.ModeSymlink != 0 || !lasts(entry) {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		return os.Chmod(filepath.Join(to, rel), info.Mode().Perm())
	})
}

// lasting is a folder without what ends with its process: sockets, pipes and devices
// keep nothing, and the next server makes its own.
type lasting struct{ fs.ReadLinkFS }

// ReadDir lists what lasts.
func (l lasting) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(l.ReadLinkFS, name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !lasts(e) }), err
}

func lasts(entry fs.DirEntry) bool {
	return entry.Type()&^(fs.ModeDir|fs.ModeSymlink) == 0
}

// restore makes the world's folder what it was at the snapshot.
func (w *World) restore(base string) error {
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := os.RemoveAll(filepath.Join(w.dir, entry.Name())); err != nil {
			return err
		}
	}
	return copyTree(w.dir, base)
}
