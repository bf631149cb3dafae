package world

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/holdfast-mcp/holdfast/fixtures/probe"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// OutsideFile puts a file with a canary outside of the staging root and returns
// its path.
func (w *World) OutsideFile() string {
	folder := filepath.Join(w.dir, "outside")
	path, canary := filepath.Join(folder, "outside.txt"), w.Word("outside content")
	err := os.MkdirAll(folder, 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(canary), 0o600)
	}
	if err != nil {
		Broken("writing a file outside of the staging root: %v", err)
	}
	w.Mark("outside", map[string]any{"file": path, "text": canary})
	return path
}

// FromStaging is the way from the staging root to a path, as a relative path.
func (w *World) FromStaging(path string) string {
	way, err := filepath.Rel(w.staging(), path)
	if err != nil {
		Broken("the way from the staging root to %s: %v", path, err)
	}
	return filepath.ToSlash(way)
}

// StageLink puts a symbolic link below the staging root, in the place of what may
// be there, and returns its path relative to that root.
func (w *World) StageLink(name, to string) string {
	path := filepath.Join(w.staging(), name)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.Remove(path)
	}
	if err == nil || errors.Is(err, os.ErrNotExist) {
		err = os.Symlink(to, path)
	}
	if err != nil {
		Broken("staging a link to %s: %v", to, err)
	}
	w.Mark("link", map[string]any{"file": name, "leads to": to})
	return name
}

// Staged is the path of a staged file on this machine.
func (w *World) Staged(name string) string { return filepath.Join(w.staging(), name) }

// Watched is a file of which it is known whether somebody reads it.
type Watched struct {
	w     *World
	name  string
	reads probe.Reads
}

// WatchReads watches a file from now on; the judges know it by name.
func (w *World) WatchReads(name, path string) Watched {
	reads, err := probe.WatchReads(path)
	if errors.Is(err, probe.ErrNoWatch) {
		panic(Stop{Verdict: verdict.NotRun, Reason: err.Error()})
	}
	if err != nil {
		Broken("%v", err)
	}
	w.trouble(func() {}, func() { _ = reads.Close() })
	return Watched{w, name, reads}
}

// Look records whether the file was read so far.
func (f Watched) Look() { f.LookAt("converged") }

// LookAt records at a moment whether the file was read so far.
func (f Watched) LookAt(when string) {
	look := history.Look{Surface: history.SurfaceStore, Probe: "reads", When: when, Params: map[string]string{"file": f.name}}
	read, err := f.reads.Seen()
	look.Rows = []map[string]any{{"read": read}}
	if err != nil {
		look.Error = fmt.Sprint(err)
	}
	f.w.config.Recorder.Record(history.Event{Kind: history.KindLook, Look: &look})
}
