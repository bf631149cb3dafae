package world

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The names of what a spec that did not pass keeps of the target's stores.
const (
	// StateFolder is below the spec's folder, its files as they lay below {{dir}}.
	StateFolder = "state"
	// LeftOutFile is in it and names what is not there, a line each, and why.
	LeftOutFile = "left-out.txt"
)

// keptAtMost is how much of one state is kept, in bytes.
const keptAtMost = 64 << 20

// KeepState copies what counts as the target's state into the spec's folder, for
// a person who wants to see what a spec has left. Everything that the spec
// started has ended by then. A file that holds a secret is left out and named:
// nothing can be taken out of a database. Where the target has secrets of its own
// nothing is kept, since a store may hold them in a form that nobody knows; the
// accounts' are made for one spec and are void after it.
func (w *World) KeepState() error {
	folder := filepath.Join(w.config.Folder, StateFolder)
	var leftOut []string
	room := int64(keptAtMost)
	err := w.eachFile(func(rel, path string) error {
		if !w.Target.State.Counts(rel) {
			return nil
		}
		size, why, err := w.keep(path, filepath.Join(folder, filepath.FromSlash(rel)), room)
		if why != "" {
			leftOut = append(leftOut, fmt.Sprintf("%s: %s", rel, why))
		}
		room -= size
		return err
	})
	if len(leftOut) > 0 {
		slices.Sort(leftOut)
		list := w.config.Redact([]byte(strings.Join(leftOut, "\n") + "\n"))
		err = errors.Join(err, os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, LeftOutFile), list, 0o600))
	}
	if err != nil {
		return fmt.Errorf("keeping the target's state in %s: %w", folder, err)
	}
	return nil
}

// keep copies one file that has room and holds no secret, and says how much that
// took, or why it did not.
func (w *World) keep(from, to string, room int64) (size int64, why string, err error) {
	if len(w.config.Secrets) > 0 {
		return 0, "the target file names secrets, and a store may hold them in a form that nobody knows; run with --keep to have the whole folder", nil
	}
	info, err := os.Stat(from)
	if err != nil {
		return 0, "", err
	}
	if info.Size() > room {
		return 0, fmt.Sprintf("%d bytes, and of one state %d are kept at most; run with --keep to have the whole folder", info.Size(), int64(keptAtMost)), nil
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return 0, "", err
	}
	if name := []byte(to); !bytes.Equal(w.config.Redact(data), data) || !bytes.Equal(w.config.Redact(name), name) {
		return 0, "it holds a secret", nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return 0, "", err
	}
	return info.Size(), "", os.WriteFile(to, data, 0o600)
}
