package reports

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// LockFile is in a report folder while somebody holds it, with the holder's process
// number in it. What counts is the lock on it, which ends with its holder.
const LockFile = "run.lock"

// Hold is a report folder that is held: by one run that writes it, or by any number
// of others that read what must not change under them.
type Hold struct {
	folder string
	file   *os.File // nil where nothing could be locked, because nobody may write there
	made   bool     // the folder was not there before
}

// errHeld: somebody else holds the folder.
var errHeld = errors.New("it is held")

// Take makes folder this run's own until Close. One that is there is taken when it
// is empty or was written by holdfast. Nothing in it is removed yet. The error says
// what to do.
func Take(folder string) (*Hold, error) {
	if err := usable(folder); err != nil {
		return nil, err
	}
	_, err := os.Stat(folder)
	h := &Hold{folder: folder, made: errors.Is(err, fs.ErrNotExist)}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, unwritable(folder, err)
	}
	err = h.lock(exclusive)
	if errors.Is(err, errHeld) {
		return nil, fmt.Errorf("another run, pid %s, is writing this folder: %q; name another --out, or wait until that one has ended", holder(folder), folder)
	}
	if err == nil {
		err = tryWriting(folder)
	}
	if err != nil {
		return nil, errors.Join(unwritable(folder, err), h.Close())
	}
	return h, nil
}

// Share keeps runs from replacing the report in folder until Close. A report that
// nobody may write needs no lock.
func Share(folder string) (*Hold, error) {
	h := &Hold{folder: folder}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return h, nil // what is not there is told by who reads it
	}
	switch err := h.lock(shared); {
	case errors.Is(err, errHeld):
		return nil, fmt.Errorf("another run, pid %s, is writing the report in %q; wait until it has ended", holder(folder), folder)
	case errors.Is(err, fs.ErrPermission), readOnly(err):
		return h, nil
	case err != nil:
		return nil, fmt.Errorf("locking the report in %q: %w", folder, err)
	}
	return h, nil
}

// Clear removes the earlier report, and no other file of the folder.
func (h *Hold) Clear() error {
	for _, name := range owned {
		if err := os.RemoveAll(filepath.Join(h.folder, name)); err != nil {
			return fmt.Errorf("removing the earlier report in %q: %w; remove it by hand or name another folder with --out", h.folder, err)
		}
	}
	return nil
}

// Withdraw takes back what a run that did not begin has made: its plan, where the
// folder was not there before. In a folder that was, the plan stays and says whose
// the folder is.
func (h *Hold) Withdraw() error {
	if !h.made {
		return nil
	}
	return os.RemoveAll(filepath.Join(h.folder, PlanFile))
}

// Close lets the folder go. One that Take has made goes as well if nothing is in it.
func (h *Hold) Close() error {
	if h.file == nil {
		return nil
	}
	file := h.file
	h.file = nil
	var err error
	// Others may share the lock; the last of them takes the file away.
	if flock(file, exclusive) == nil {
		err = os.Remove(filepath.Join(h.folder, LockFile))
		if h.made {
			_ = os.Remove(h.folder) // which leaves one that is not empty
		}
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("letting the report folder %q go: %w", h.folder, err)
	}
	return nil
}

// lock locks the folder's file. A holder takes its file away when it ends, so a
// lock counts only on the file that is there still.
func (h *Hold) lock(kind lockKind) error {
	path := filepath.Join(h.folder, LockFile)
	for {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return err
		}
		if err := flock(file, kind); err != nil {
			return errors.Join(err, file.Close())
		}
		if there, err := os.Stat(path); err == nil && isFile(file, there) {
			h.file = file
			return h.sign()
		}
		file.Close()
	}
}

func isFile(file *os.File, there os.FileInfo) bool {
	ours, err := file.Stat()
	return err == nil && os.SameFile(ours, there)
}

// sign writes who holds the folder, for the message to somebody else.
func (h *Hold) sign() error {
	if err := h.file.Truncate(0); err != nil {
		return err
	}
	_, err := h.file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// holder is the process number of who holds a folder.
func holder(folder string) string {
	text, err := os.ReadFile(filepath.Join(folder, LockFile))
	if pid := strings.TrimSpace(string(text)); err == nil && pid != "" {
		return pid
	}
	return "unknown"
}

// tryWriting says why a folder may not be written. That is tried, not guessed from
// its mode.
func tryWriting(folder string) error {
	probe, err := os.CreateTemp(folder, ".writable-*")
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}
