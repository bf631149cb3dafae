package world

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// StageFile puts a file below the target's staging root and returns its path
// relative to that root.
func (w *World) StageFile(name string) string {
	path := filepath.Join(w.staging(), name)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(w.Word("staged content")), 0o600)
	}
	if err != nil {
		Broken("staging the file %s: %v", name, err)
	}
	return name
}

// SwapForLink replaces a staged file by a symbolic link that leads out of the
// staging root.
func (w *World) SwapForLink(name string) {
	path, outside := filepath.Join(w.staging(), name), filepath.Join(w.dir, "outside.txt")
	err := os.WriteFile(outside, []byte(w.Word("outside content")), 0o600)
	if err == nil {
		err = os.Remove(path)
	}
	if err == nil {
		err = os.Symlink(outside, path)
	}
	if err != nil {
		Broken("swapping the staged file %s for a link: %v", name, err)
	}
	w.Mark("swapped for a link", map[string]any{"file": name, "leads to": outside})
}

func (w *World) staging() string {
	root, err := w.known(nil).Expand(w.Target.Profiles.WorkRecords.Staging)
	if err != nil {
		Broken("the target file's staging folder: %v", err)
	}
	return root
}

// store is the files of one of the target's stores, in the order of their names.
func (w *World) store(name string) []string {
	var files []string
	err := w.eachFile(func(rel, path string) error {
		for _, glob := range w.Target.Profiles.WorkRecords.Stores[name] {
			if target.MatchGlob(glob, rel) {
				files = append(files, path)
				break
			}
		}
		return nil
	})
	if err != nil {
		Broken("listing the files of the store %q: %v", name, err)
	}
	return files
}

// eachFile visits the regular files of the world's folder in the order of their
// names; rel is the path below it, with slashes. What vanishes meanwhile is left out.
func (w *World) eachFile(visit func(rel, path string) error) error {
	return filepath.WalkDir(w.dir, func(path string, entry os.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(w.dir, path)
		if err != nil {
			return err
		}
		return visit(filepath.ToSlash(rel), path)
	})
}

// SearchFiles searches the files of a store for a word and records what it found.
func (w *World) SearchFiles(store, word string) {
	look := history.Look{Surface: history.SurfaceStore, Probe: store + "-files", When: "converged", Params: map[string]string{"word": word}}
	for _, file := range w.store(store) {
		data, err := os.ReadFile(file)
		if err != nil {
			look.Error = fmt.Sprintf("searching %s: %v", file, err)
			break
		}
		name, _ := filepath.Rel(w.dir, file)
		look.Rows = append(look.Rows, map[string]any{"file": name, "found": bytes.Contains(data, []byte(word))})
	}
	w.config.Recorder.Record(history.Event{Kind: history.KindLook, Look: &look})
}

// LookAtOpenFiles records which files of the target's stores a helper holds
// open now, as the kernel has it. It sees a moment, not what was opened and
// closed between two looks.
func (w *World) LookAtOpenFiles(c *Caller) {
	look := history.Look{Surface: history.SurfaceStore, Probe: "open-files", Params: map[string]string{"process": c.name}}
	owners := map[string]string{}
	for store := range w.Target.Profiles.WorkRecords.Stores {
		for _, file := range w.store(store) {
			owners[file] = store
		}
	}
	folder := fmt.Sprintf("/proc/%d/fd", c.theProcess().PID())
	entries, err := os.ReadDir(folder)
	if err != nil {
		look.Error = fmt.Sprintf("looking at the open files of %s: %v", c.name, err)
	}
	for _, entry := range entries {
		file, err := os.Readlink(filepath.Join(folder, entry.Name()))
		if err != nil || owners[file] == "" {
			continue // closed meanwhile, or no store's
		}
		name, _ := filepath.Rel(w.dir, file)
		look.Rows = append(look.Rows, map[string]any{"store": owners[file], "file": name})
	}
	w.config.Recorder.Record(history.Event{Kind: history.KindLook, Look: &look})
}

// LookAtState records the digest of the declared state once it has come to rest.
func (w *World) LookAtState(when string, params map[string]string) {
	look := history.Look{Surface: history.SurfaceStore, Probe: "state", When: when, Params: params}
	look.Rows = []map[string]any{{"digest": w.quiet()}}
	w.config.Recorder.Record(history.Event{Kind: history.KindLook, Look: &look})
}

// Quiet waits until three digests of the declared state are equal in a row.
func (w *World) Quiet() { w.Mark("quiet", map[string]any{"digest": w.quiet()}) }

func (w *World) quiet() string {
	const equal = 3
	ctx, cancel := context.WithTimeout(w.ctx, w.config.Limits.Converge)
	defer cancel()
	last, run := "", 0
	beat := time.NewTicker(w.config.Limits.Digest)
	defer beat.Stop()
	for {
		digest, err := w.digest()
		switch {
		case err != nil || digest != last:
			last, run = digest, 1
		default:
			run++
		}
		if run == equal {
			return last
		}
		select {
		case <-beat.C:
		case <-ctx.Done():
			Inconclusive("the target's state did not come to rest: no three equal digests of it within %v", w.config.Limits.Converge)
		}
	}
}

// digest is the SHA-256 over the names and contents of what counts as state.
func (w *World) digest() (string, error) {
	sum := sha256.New()
	err := w.eachFile(func(rel, path string) error {
		if !w.Target.State.Counts(rel) {
			return nil
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(sum, "%s\x00%d\x00", rel, len(data))
		sum.Write(data)
		return err
	})
	return fmt.Sprintf("%x", sum.Sum(nil)), err
}
