package world

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/faults/disk"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// What the judges know of a store of checkpoints (profile WF), beside its probes.
const (
	ModesProbe  = "store-modes"     // the mode of everything in it
	FileProbe   = "checkpoint-file" // the file of one operation's checkpoint
	UmaskMark   = "umask"           // under which a server runs
	DamagedMark = "damaged"
	SwappedMark = "swapped"
)

// NewCallerUnder starts a helper under a umask and shakes hands. That it is so is
// the kernel's word.
func (w *World) NewCallerUnder(umask int) *Caller {
	if runtime.GOOS != "linux" {
		panic(Stop{Verdict: verdict.NotRun, Reason: "only Linux tells the umask of another process"})
	}
	under := fmt.Sprintf(`umask %04o; exec "$0" "$@"`, umask)
	c, err := w.newCallerAs(manner{wrapped: func(argv []string) []string { return append([]string{"/bin/sh", "-c", under}, argv...) }})
	if err != nil {
		w.cannotStart(err)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.theProcess().PID()))
	if err != nil {
		Broken("looking at the umask of %s: %v", c.name, err)
	}
	is := ""
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "Umask:"); ok {
			is = strings.TrimSpace(rest)
		}
	}
	w.Mark(UmaskMark, map[string]any{"process": c.name, "wanted": fmt.Sprintf("%04o", umask), "is": is})
	return c
}

// storeEntries visits everything in the store of checkpoints, and the folders that
// hold it, in the order of their names; no link is followed. What vanishes
// meanwhile is left out.
func (w *World) storeEntries(visit func(rel string, info fs.FileInfo)) error {
	entries := map[string]fs.FileInfo{}
	err := filepath.WalkDir(w.dir, func(name string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(w.dir, name)
		rel = filepath.ToSlash(rel)
		if err != nil || !slices.ContainsFunc(w.Target.Profiles.Workflows.Store, func(glob string) bool { return target.MatchGlob(glob, rel) }) {
			return err
		}
		for _, one := range []string{path.Dir(rel), rel} {
			if one == "." {
				continue // the world's own folder
			}
			info, err := os.Lstat(filepath.Join(w.dir, filepath.FromSlash(one)))
			if err == nil {
				entries[one] = info
			} else if !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	})
	names := make([]string, 0, len(entries))
	for rel := range entries {
		names = append(names, rel)
	}
	slices.Sort(names)
	for _, rel := range names {
		visit(rel, entries[rel])
	}
	return err
}

// LookAtModes records the mode of everything in the store of checkpoints.
func (w *World) LookAtModes(when string) {
	look := history.Look{Surface: history.SurfaceStore, Probe: ModesProbe, When: when, Rows: []map[string]any{}}
	err := w.storeEntries(func(rel string, info fs.FileInfo) {
		look.Rows = append(look.Rows, map[string]any{"file": rel, "kind": disk.KindOf(info), "mode": fmt.Sprintf("%04o", info.Mode().Perm())})
	})
	if err != nil {
		look.Error = fmt.Sprintf("looking at the modes of the store: %v", err)
	}
	w.config.Recorder.Record(history.Event{Kind: history.KindLook, Look: &look})
}

// checkpointFile is the file of an operation's checkpoint, as its probe reads it.
func (w *World) checkpointFile(id string) string {
	file, err := w.known(target.Scope{"operation_id": id}).Expand(w.Target.Profiles.Workflows.Probes["checkpoint"].File)
	if err != nil || file == "" {
		Inconclusive("the target file's probe checkpoint reads no file, so that nothing can be done to the checkpoint of an operation: %v", err)
	}
	return file
}

// LookAtCheckpointFile records what stands in the place of an operation's
// checkpoint, without following a link, and the digest of its content.
func (w *World) LookAtCheckpointFile(id, when string) {
	look := history.Look{Surface: history.SurfaceStore, Probe: FileProbe, When: when, Params: map[string]string{"operation_id": id}, Rows: []map[string]any{}}
	row, err := fileRow(w.checkpointFile(id))
	switch {
	case err == nil:
		look.Rows = append(look.Rows, row)
	case !errors.Is(err, fs.ErrNotExist):
		look.Error = fmt.Sprintf("looking at the checkpoint of operation %s: %v", id, err)
	}
	w.config.Recorder.Record(history.Event{Kind: history.KindLook, Look: &look})
}

func fileRow(file string) (map[string]any, error) {
	info, err := os.Lstat(file)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(file)
	return map[string]any{"kind": disk.KindOf(info), "size": len(content), "sha256": fmt.Sprintf("%x", sha256.Sum256(content))}, err
}

// Damage damages the checkpoint of an operation that nobody runs. other is an
// operation whose content is put there by disk.AnothersContent.
func (w *World) Damage(how disk.Damage, id, other string) {
	file := w.checkpointFile(id)
	before, err := fileRow(file)
	if err == nil {
		err = how.Do(file, w.checkpointFile(other))
	}
	var after map[string]any
	if err == nil {
		after, err = fileRow(file)
	}
	if err != nil {
		Inconclusive("damaging the checkpoint of operation %s (%s): %v; is there one, as the target file's probe has it?", id, how, err)
	}
	w.Mark(DamagedMark, map[string]any{"operation_id": id, "how": string(how), "was": before["sha256"], "is": after["sha256"]})
}

// rootsOf are the folders whose files count at crash points.
func (w *World) rootsOf(c Crash) []string {
	if !c.StoreOnly {
		return []string{w.dir}
	}
	var roots []string
	for _, glob := range w.Target.Profiles.Workflows.Store {
		fixed := w.dir
		for part := range strings.SplitSeq(path.Clean(glob), "/") {
			if strings.ContainsAny(part, `*?[\`) {
				break
			}
			fixed = filepath.Join(fixed, part)
		}
		if !slices.Contains(roots, fixed) {
			roots = append(roots, fixed)
		}
	}
	return roots
}
