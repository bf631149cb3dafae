package world

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/holdfast-mcp/holdfast/faults/disk"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// Swap says what is put in the place of what (WF-28).
type Swap struct {
	Store bool // the folder of the operation's checkpoint, else the checkpoint
	Owner bool // it is given to another user, else a link takes its place
}

// What names the thing for a person.
func (s Swap) What() string {
	if s.Store {
		return "store"
	}
	return "checkpoint"
}

// How says what became of it.
func (s Swap) How() string {
	if s.Owner {
		return "another user's"
	}
	return "a link"
}

// Swapped is what was swapped, until it is put back.
type Swapped struct {
	w     *World
	id    string
	place string // where it belongs
	reads Watched
	back  *Trouble
}

// SwappedProbe is the look at the place of what was swapped.
const SwappedProbe = "swapped"

// RefusedMark says that a server did not start on what was done to its store.
const RefusedMark = "server-refused"

// Swap swaps the checkpoint of an operation, or the folder that holds it, while
// nobody runs it. Reads of the checkpoint are watched from then on.
func (w *World) Swap(how Swap, id string) *Swapped {
	if how.Owner && os.Geteuid() != 0 {
		panic(Stop{Verdict: verdict.NotRun, Reason: "only root can give a file to another user"})
	}
	file := w.checkpointFile(id)
	s := &Swapped{w: w, id: id, place: file}
	if how.Store {
		s.place = filepath.Dir(file)
	}
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		Inconclusive("the checkpoint of operation %s is no file that could be swapped: %v", id, err)
	}
	var back func() error
	var err error
	if how.Owner {
		back, err = disk.GiveAway(s.place)
	} else {
		_, back, err = disk.LinkAway(s.place, filepath.Join(w.dir, "elsewhere"))
	}
	if err != nil {
		Broken("%v", err)
	}
	s.back = w.trouble(func() {
		if err := back(); err != nil {
			Broken("%v", err)
		}
	}, func() { _ = back() })
	s.reads = w.WatchReads(id, file)
	w.Mark(SwappedMark, map[string]any{"operation_id": id, "what": how.What(), "how": how.How()})
	return s
}

// Look records whether the checkpoint was read since the last look, and then what
// stands in the place of what was swapped, whose it is, and what it holds.
func (s *Swapped) Look(when string) {
	s.reads.LookAt(when)
	look := history.Look{Surface: history.SurfaceStore, Probe: SwappedProbe, When: when, Params: map[string]string{"operation_id": s.id}}
	info, err := os.Lstat(s.place)
	if err == nil {
		var content string
		var uid int
		uid, _, err = disk.OwnerOf(s.place)
		if err == nil {
			content, err = digestBelow(s.place)
		}
		look.Rows = []map[string]any{{"kind": disk.KindOf(info), "owner": uid, "content": content}}
	}
	if err != nil {
		look.Error = fmt.Sprintf("looking at the place of what was swapped: %v", err)
	}
	s.w.config.Recorder.Record(history.Event{Kind: history.KindLook, Look: &look})
	s.reads = s.w.WatchReads(s.id, s.w.checkpointFile(s.id)) // that was our own
}

// digestBelow is the digest of a file, or of the names and the contents of all
// files below a folder; a link at the beginning is followed.
func digestBelow(place string) (string, error) {
	place, err := filepath.EvalSymlinks(place)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	err = filepath.WalkDir(place, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(name)
		rel, _ := filepath.Rel(place, name) // it is below
		fmt.Fprintf(sum, "%s\x00%d\x00", rel, len(content))
		sum.Write(content)
		return err
	})
	return fmt.Sprintf("%x", sum.Sum(nil)), err
}

// Back puts everything where it was.
func (s *Swapped) Back() { s.back.Release() }

// Offered starts a helper that may refuse to start; nil where it did.
func (w *World) Offered() *Caller {
	c, err := w.newCaller()
	if err == nil {
		return c
	}
	if !ownFault(err) {
		w.cannotStart(err)
	}
	w.Mark(RefusedMark, map[string]any{"error": err.Error()})
	return nil
}
