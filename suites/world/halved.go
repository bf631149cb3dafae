package world

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// HurtMark says that a file of a store was damaged while the server was stopped, and
// HurtProbe is the look for what it held then, behind what the server did with it.
const (
	HurtMark  = "store-damaged"
	HurtProbe = "damaged-file"
)

// Hurting is what is done about a store of which one file after another is damaged.
type Hurting struct {
	// Emptied: the file is emptied to 0 bytes, where it held something before the
	// first write and is no SQLite database, which is a file of 0 bytes until its first
	// page is written (a server that is killed then has to start again on it, DU-03);
	// else it is cut in half.
	Emptied bool
	// Write makes half of the writes that are to be kept.
	Write func(*Caller)
	// Whole reads the undamaged copy, Hurt reads and writes on a damaged one.
	Whole func(*Caller)
	Hurt  func(run string, c *Caller)
}

// EachFileHurt writes, stops the target, and starts it again for every file of the
// store with that file damaged, each time on a fresh copy. The files of the store are
// those that the target file's state includes, else those that the writes changed.
// The journals of SQLite are none: of a torn one it drops the end by design.
func (w *World) EachFileHurt(h Hurting) {
	w.Quiet()
	fresh := w.contents()
	c := w.NewCaller()
	h.Write(c)
	w.Quiet()
	early := w.contents()
	h.Write(c)
	w.Quiet()
	w.stopAll()
	full := w.contents()
	base, err := w.snapshot()
	if err != nil {
		Broken("copying the stores: %v", err)
	}
	w.onRestored(base, "", nil, h.Whole)
	run := 0
	for _, file := range w.storeFiles(fresh, full) {
		was := full[file]
		is := firstHalf(was)
		if h.Emptied {
			is = nil
		}
		if len(is) == len(was) || h.Emptied && (len(fresh[file]) == 0 || bytes.HasPrefix(was, []byte("SQLite format 3\x00"))) {
			continue
		}
		run++
		name := fmt.Sprintf("r%d", run)
		w.onRestored(base, name, func() {
			if err := os.WriteFile(filepath.Join(w.dir, filepath.FromSlash(file)), is, 0o600); err != nil {
				Broken("damaging %s: %v", file, err)
			}
			w.Mark(HurtMark, map[string]any{
				"run": name, "file": file, "was": len(was), "is": len(is),
				// Of a log the end is dropped by design where a kill has torn it.
				"log": len(early[file]) > 0 && bytes.HasPrefix(was, early[file]),
			})
		}, func(c *Caller) { h.Hurt(name, c) })
		w.lookForBytes(name, is)
	}
	if run == 0 && h.Emptied {
		Inapplicable("every file of the store is missing or empty before the first write, or an SQLite database, so that a file of 0 bytes may be what an empty store of this server looks like")
	}
	if run == 0 {
		Inconclusive("no file below {{dir}} was changed by the writes, so that none can be damaged; name the files of the store in the target file's state.include, or keep the store below {{dir}}")
	}
}

// firstHalf is a file whose end was cut off: about half of it, which ends within a
// line, because a file of whole lines does not show that there were more.
func firstHalf(was []byte) []byte {
	half := was[:len(was)/2]
	if len(half) > 0 && half[len(half)-1] != '\n' && was[len(half)] != '\n' {
		return half
	}
	lines := bytes.TrimRight(half, "\n")
	last := bytes.LastIndexByte(lines, '\n') + 1
	return lines[:(last+len(lines))/2]
}

// contents are the files that count as state, by their path below {{dir}}.
func (w *World) contents() map[string][]byte {
	all := map[string][]byte{}
	err := w.eachFile(func(rel, path string) error {
		if !w.Target.State.Counts(rel) {
			return nil
		}
		content, err := os.ReadFile(path)
		if err == nil {
			all[rel] = content
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
	if err != nil {
		Broken("reading the files of the store: %v", err)
	}
	return all
}

func (w *World) storeFiles(fresh, full map[string][]byte) []string {
	var files []string
	for file, content := range full {
		journal := slices.ContainsFunc([]string{"-wal", "-shm", "-journal"}, func(end string) bool { return strings.HasSuffix(file, end) })
		if !journal && (len(w.Target.State.Include) > 0 || !bytes.Equal(content, fresh[file])) {
			files = append(files, file)
		}
	}
	slices.Sort(files)
	return files
}

// onRestored starts the target on a copy of its stores, to which something is done
// before, and ends it. A process that ends by itself on that has refused it.
func (w *World) onRestored(base, run string, hurt func(), do func(*Caller)) {
	if err := w.restore(base); err != nil {
		Broken("restoring the stores: %v", err)
	}
	if hurt != nil {
		hurt()
	}
	for _, name := range w.Target.StartOrder() {
		if name == w.Target.Helper() {
			continue
		}
		if err := w.startAs(w.process(name), manner{}); err != nil {
			w.refused(run, name, err)
		}
	}
	c, err := w.newCaller()
	if err == nil {
		do(c)
	} else {
		w.refused(run, w.Target.Helper(), err)
	}
	w.stopAll()
}

func (w *World) refused(run, name string, err error) {
	if run == "" || !ownFault(err) {
		w.cannotStart(err)
	}
	w.Mark(RefusedMark, map[string]any{"run": run, "process": name, "error": err.Error()})
}

// stopAll ends every process in order; one that has ended by itself is gone already.
func (w *World) stopAll() {
	w.stopCallers()
	order := w.Target.StartOrder()
	slices.Reverse(order)
	for _, name := range order {
		if p := w.process(name); p.running != nil {
			if err := gone(p.running.Stop(w.ctx)); err != nil {
				Broken("stopping process %s: %v", name, err)
			}
			p.running = nil
		}
	}
}

func (w *World) stopCallers() {
	w.mu.Lock()
	callers := append([]*Caller(nil), w.callers...)
	w.mu.Unlock()
	for _, c := range callers {
		w.forget(c)
		if err := c.close(w.ctx, func(ctx context.Context) error { return gone(c.process.Stop(ctx)) }); err != nil {
			Broken("ending %s: %v", c.name, err)
		}
	}
}

// lookForBytes records which files hold the bytes of a damaged one: it may have been
// put aside.
func (w *World) lookForBytes(run string, held []byte) {
	look := history.Look{Surface: history.SurfaceStore, Probe: HurtProbe, Params: map[string]string{"run": run}, Rows: []map[string]any{}}
	sum := sha256.Sum256(held)
	err := w.eachFile(func(rel, path string) error {
		content, err := os.ReadFile(path)
		if err == nil && sha256.Sum256(content) == sum {
			look.Rows = append(look.Rows, map[string]any{"file": rel})
		}
		return err
	})
	if err != nil {
		look.Error = fmt.Sprintf("looking for the bytes of the damaged file: %v", err)
	}
	w.config.Recorder.Record(history.Event{Kind: history.KindLook, Look: &look})
}
