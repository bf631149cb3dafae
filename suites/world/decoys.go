package world

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// Decoys are copies of an operation's files where no server has to look for them:
// beside the store's folder, and in a folder of their own.
type Decoys struct {
	// Relative leads from the store's folder to the decoys' one, Absolute from the
	// root: both with the operation's ID as the last name, as a server would get it.
	Relative, Absolute string
	w                  *World
	watched            []string // folders
	files              []string
}

// Decoys puts them down for an operation that is stored.
func (w *World) Decoys(id string) *Decoys {
	d := &Decoys{w: w, Absolute: filepath.Join(w.dir, "decoys", id)}
	store := ""
	for _, path := range w.operationFiles() {
		name := filepath.Base(path)
		if !strings.Contains(name, id) || strings.HasPrefix(name, ".") {
			continue
		}
		store = filepath.Dir(path)
		raw, err := os.ReadFile(path)
		if err != nil {
			Broken("copying %s as a decoy: %v", path, err)
		}
		for _, copied := range []string{filepath.Join(w.dir, "decoys", name), filepath.Join(filepath.Dir(store), name), d.Absolute} {
			d.put(copied, raw)
		}
	}
	rel, err := filepath.Rel(store, d.Absolute)
	if store == "" || err != nil {
		Inconclusive("the store has no file named after operation %s, so that it is not known where a forged reference would lead to", id)
	}
	d.Relative = filepath.ToSlash(rel)
	d.watched = []string{store, filepath.Dir(store), filepath.Dir(d.Absolute)}
	return d
}

func (d *Decoys) put(path string, raw []byte) {
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, raw, 0o600)
	}
	if err != nil {
		Broken("putting a decoy down: %v", err)
	}
	if rel, err := filepath.Rel(d.w.dir, path); err == nil && !slices.Contains(d.files, rel) {
		d.files = append(d.files, rel)
	}
}

// Watch begins to watch who opens the decoys, and the files of the store. The judges
// are told which files are decoys.
func (d *Decoys) Watch() *Openings {
	d.w.Mark("decoys", map[string]any{"files": d.files})
	return d.w.WatchFolders("operations", d.watched...)
}

// Open opens a decoy as a server would that is led astray, so that the next look has
// something to show if it sees anything at all.
func (d *Decoys) Open() {
	f, err := os.Open(filepath.Join(d.w.dir, d.files[0]))
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		Broken("opening a decoy as a control: %v", err)
	}
}

// LookAtNames records the names of all files below the world's folder but those of
// the store of operations.
func (w *World) LookAtNames(when string) {
	look := history.Look{Surface: history.SurfaceStore, Probe: "names", When: when, Rows: []map[string]any{}}
	private := w.operationFiles()
	err := w.eachFile(func(rel, path string) error {
		if !slices.Contains(private, path) {
			look.Rows = append(look.Rows, map[string]any{"file": rel})
		}
		return nil
	})
	if err != nil {
		look.Error = err.Error()
	}
	w.config.Recorder.Record(history.Event{Kind: history.KindLook, Look: &look})
}
