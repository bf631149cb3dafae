package world

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// Openings is a watch on the files of a store: the kernel tells of every opening,
// however short, but not whose it is. So nobody else may use the store meanwhile.
type Openings struct {
	w      *World
	store  string
	fd     int
	inside map[int32]string // watched folders by watch descriptor
}

// WatchOpenings begins to watch the folders that hold a store's files.
func (w *World) WatchOpenings(store string) *Openings {
	var folders []string
	for _, file := range w.store(store) {
		folders = append(folders, filepath.Dir(file))
	}
	return w.WatchFolders(store, folders...)
}

// WatchFolders begins to watch folders in which a store's files are, or in which
// nobody has to look for them.
func (w *World) WatchFolders(store string, folders ...string) *Openings {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		Broken("watching the store %q: %v", store, err)
	}
	o := &Openings{w: w, store: store, fd: fd, inside: map[int32]string{}}
	seen := map[string]bool{}
	for _, folder := range folders {
		if seen[folder] {
			continue
		}
		seen[folder] = true
		watch, err := unix.InotifyAddWatch(fd, folder, unix.IN_OPEN)
		if err != nil {
			Broken("watching the folder %s: %v", folder, err)
		}
		o.inside[int32(watch)] = folder
	}
	if len(o.inside) == 0 {
		Inconclusive("the store %q has no file that could be watched", store)
	}
	return o
}

// Look records which files of the store were opened since the last look.
func (o *Openings) Look(when string) {
	look := history.Look{Surface: history.SurfaceStore, Probe: o.store + "-openings", When: when, Rows: []map[string]any{}}
	files, err := o.read()
	if err != nil {
		look.Error = err.Error()
	}
	for _, file := range files {
		look.Rows = append(look.Rows, map[string]any{"file": file})
	}
	o.w.config.Recorder.Record(history.Event{Kind: history.KindLook, Look: &look})
}

// Control opens a file of the store as a helper would, so that the next look has
// something to show if it sees anything at all.
func (o *Openings) Control() {
	files := o.w.store(o.store)
	if len(files) == 0 {
		Inconclusive("the store %q has no file left to open as a control", o.store)
	}
	f, err := os.Open(files[0])
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		Broken("opening %s as a control: %v", files[0], err)
	}
}

// Close ends the watch.
func (o *Openings) Close() { _ = unix.Close(o.fd) }

// read takes what the kernel has told since the last time.
func (o *Openings) read() ([]string, error) {
	var files []string
	seen := map[string]bool{}
	buffer := make([]byte, 64<<10)
	for {
		n, err := unix.Read(o.fd, buffer)
		if errors.Is(err, unix.EAGAIN) {
			return files, nil
		}
		if err != nil {
			return files, fmt.Errorf("reading what was opened of the store %q: %w", o.store, err)
		}
		for at := 0; at+unix.SizeofInotifyEvent <= n; {
			watch := int32(binary.NativeEndian.Uint32(buffer[at:]))
			mask := binary.NativeEndian.Uint32(buffer[at+4:])
			length := int(binary.NativeEndian.Uint32(buffer[at+12:]))
			name := unix.ByteSliceToString(buffer[at+unix.SizeofInotifyEvent : at+unix.SizeofInotifyEvent+length])
			at += unix.SizeofInotifyEvent + length
			if mask&unix.IN_Q_OVERFLOW != 0 {
				return files, fmt.Errorf("watching the store %q: the kernel lost count", o.store)
			}
			rel, err := filepath.Rel(o.w.dir, filepath.Join(o.inside[watch], name))
			if err == nil && mask&unix.IN_ISDIR == 0 && !seen[rel] {
				seen[rel] = true
				files = append(files, rel)
			}
		}
	}
}
