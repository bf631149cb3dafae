package world

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// FirstStartsMark says how many helpers shook hands of those that were started at once
// on a store that did not exist.
const FirstStartsMark = "first-starts"

// gate holds a process before its program: it says that it is there, and goes on once
// the gate is open. It is a matter of milliseconds, so that it asks without a pause.
const gate = `: > "$HOLDFAST_READY"; until [ -e "$HOLDFAST_GATE" ]; do :; done; exec "$0" "$@"`

// FirstStarts starts n helpers at once on a store that does not exist: each stands
// right before its program until all do. It returns those that shook hands; one that
// ended by itself has refused, which is recorded.
func (w *World) FirstStarts(n int, round string) []*Caller {
	folder, err := w.config.Run.Scratch(folderName(w.config.Name) + "-gate-" + round)
	if err != nil {
		Broken("making the folder of the gate: %v", err)
	}
	w.openWires()
	w.process(w.Target.Helper())
	callers, errs := make([]*Caller, n), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			env := map[string]string{"HOLDFAST_READY": filepath.Join(folder, fmt.Sprint(i)), "HOLDFAST_GATE": filepath.Join(folder, "open")}
			callers[i], errs[i] = w.newCallerAs(manner{env: env, wrapped: func(argv []string) []string { return append([]string{"/bin/sh", "-c", gate}, argv...) }})
		})
	}
	held := wait.For(w.ctx, "every server to stand before its program", w.config.Limits.Ready, func(context.Context) (bool, error) {
		there, err := os.ReadDir(folder)
		return len(there) == n, err
	})
	opened := os.WriteFile(filepath.Join(folder, "open"), nil, 0o600)
	all.Wait()
	if held != nil || opened != nil {
		Inconclusive("the servers could not be held together before their start: %v %v", held, opened)
	}
	var came []*Caller
	for i, c := range callers {
		if errs[i] == nil {
			came = append(came, c)
		} else {
			w.refused(round, w.Target.Helper(), errs[i])
		}
	}
	w.Mark(FirstStartsMark, map[string]any{"round": round, "held": n, "came": len(came)})
	return came
}

// Fresh is the target before anything of it was started. Again makes it so once more.
type Fresh struct {
	w    *World
	base string
}

// Fresh remembers the world as it is; nothing of the target has been started yet.
func (w *World) Fresh() Fresh {
	base, err := w.snapshot()
	if err != nil {
		Broken("copying the folder of a fresh target: %v", err)
	}
	return Fresh{w, base}
}

// Again ends everything and makes the target as it was, with its other processes
// started.
func (f Fresh) Again() {
	f.w.stopAll()
	if err := f.w.restore(f.base); err != nil {
		Broken("making the target fresh again: %v", err)
	}
	f.w.Launch()
}

// Later ends every helper and starts one more, which may refuse; nil where it did.
func (w *World) Later(round string) *Caller {
	w.stopCallers()
	c, err := w.newCaller()
	if err == nil {
		return c
	}
	w.refused(round, "later "+w.Target.Helper(), err)
	return nil
}
