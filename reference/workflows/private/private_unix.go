//go:build unix

package private

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Open makes the folder if it is missing, and tightens one of this user's.
func Open(path string) (Folder, error) {
	f := Folder{path}
	if err := os.MkdirAll(filepath.Dir(path), folderMode); err != nil {
		return f, fmt.Errorf("make the folder above %s: %w", path, err)
	}
	err := unix.Mkdir(path, folderMode)
	switch {
	case err == nil:
		if err := syncFolder(filepath.Dir(path)); err != nil {
			return f, err
		}
	case !errors.Is(err, unix.EEXIST):
		return f, &os.PathError{Op: "mkdir", Path: path, Err: err}
	}
	dir, err := openFolder(path)
	if err != nil {
		return f, err
	}
	defer unix.Close(dir)
	// The umask may have taken bits that are needed, an older program may have
	// left some that are too many.
	if err := unix.Fchmod(dir, folderMode); err != nil {
		return f, &os.PathError{Op: "chmod", Path: path, Err: err}
	}
	return f, nil
}

func syncFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// openFolder opens a folder of this user's that is no link.
func openFolder(path string) (int, error) {
	dir, err := retried(func() (int, error) {
		return unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	switch {
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENOTDIR):
		return -1, notPrivate(path, "a link or no folder")
	case err != nil:
		return -1, &os.PathError{Op: "open", Path: path, Err: err}
	}
	if err := mine(dir, path, unix.S_IFDIR); err != nil {
		return -1, errors.Join(err, unix.Close(dir))
	}
	return dir, nil
}

// dir opens the folder for one use. Here a mode that is too wide is refused:
// somebody has changed it since Open.
func (f Folder) dir() (int, error) {
	dir, err := openFolder(f.path)
	if err != nil {
		return -1, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(dir, &st); err != nil {
		return -1, errors.Join(&os.PathError{Op: "stat", Path: f.path, Err: err}, unix.Close(dir))
	}
	if st.Mode&0o077 != 0 {
		return -1, errors.Join(notPrivate(f.path, fmt.Sprintf("open to others (mode %#o)", st.Mode&0o777)), unix.Close(dir))
	}
	return dir, nil
}

// mine refuses what is not of the kind, or not this user's.
func mine(fd int, path string, kind uint32) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	switch {
	case uint32(st.Mode)&unix.S_IFMT != kind:
		return notPrivate(path, "of another kind")
	case int(st.Uid) != os.Geteuid():
		return notPrivate(path, fmt.Sprintf("owned by user %d", st.Uid))
	case kind == unix.S_IFREG && st.Nlink > 1:
		return notPrivate(path, "known under a second name")
	}
	return nil
}

// open opens a file of the folder that is this user's alone.
func (f Folder) open(dir int, name string, flags int) (*os.File, error) {
	path := filepath.Join(f.path, name)
	fd, err := retried(func() (int, error) {
		// O_NONBLOCK keeps a pipe that was put there from holding the open.
		return unix.Openat(dir, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, fileMode)
	})
	switch {
	case errors.Is(err, unix.ENOENT):
		return nil, ErrNotThere
	case errors.Is(err, unix.EEXIST):
		return nil, ErrThere
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENXIO), errors.Is(err, unix.EISDIR):
		return nil, notPrivate(path, "a link or no file")
	case err != nil:
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	file := os.NewFile(uintptr(fd), path)
	if err := mine(fd, path, unix.S_IFREG); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// private opens a file that others must not be able to read.
func (f Folder) private(dir int, name string, flags int) (*os.File, error) {
	file, err := f.open(dir, name, flags)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || info.Mode().Perm()&0o077 != 0 {
		found := "open to others"
		if err != nil {
			found = err.Error()
		}
		return nil, errors.Join(notPrivate(filepath.Join(f.path, name), found), file.Close())
	}
	return file, nil
}

// Read reads a whole file: ErrNotThere where there is none.
func (f Folder) Read(name string) ([]byte, error) {
	dir, err := f.dir()
	if err != nil {
		return nil, err
	}
	defer unix.Close(dir)
	file, err := f.private(dir, name, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}

// Names lists what is in the folder, of whatever kind.
func (f Folder) Names() ([]string, error) {
	dir, err := f.dir()
	if err != nil {
		return nil, err
	}
	folder := os.NewFile(uintptr(dir), f.path)
	names, err := folder.Readdirnames(-1)
	return names, errors.Join(err, folder.Close())
}

// Has says whether there is a file, of whatever kind.
func (f Folder) Has(name string) (bool, error) {
	dir, err := f.dir()
	if err != nil {
		return false, err
	}
	defer unix.Close(dir)
	var st unix.Stat_t
	err = unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.ENOENT) {
		return false, nil
	}
	return err == nil, err
}

// Replace writes a file as a whole: whoever reads it sees the old content or the
// new one, also after the process was killed in between. It is durable when
// Replace returns. The writer of a name is alone with it.
func (f Folder) Replace(name string, content []byte) error {
	dir, err := f.dir()
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	if err := f.replaceable(dir, name); err != nil {
		return err
	}
	fresh := "." + name + ".new" // one name, so that kills leave one file behind at most
	if err := f.write(dir, fresh, content); err != nil {
		return err
	}
	if err := unix.Renameat(dir, fresh, dir, name); err != nil {
		return errors.Join(&os.LinkError{Op: "rename", Old: fresh, New: name, Err: err}, unix.Unlinkat(dir, fresh, 0))
	}
	return f.sync(dir)
}

// replaceable refuses to rename over what is not this user's file.
func (f Folder) replaceable(dir int, name string) error {
	var st unix.Stat_t
	err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	path := filepath.Join(f.path, name)
	switch {
	case errors.Is(err, unix.ENOENT):
		return nil
	case err != nil:
		return &os.PathError{Op: "stat", Path: path, Err: err}
	case uint32(st.Mode)&unix.S_IFMT != unix.S_IFREG:
		return notPrivate(path, "a link or no file")
	case int(st.Uid) != os.Geteuid():
		return notPrivate(path, fmt.Sprintf("owned by user %d", st.Uid))
	}
	return nil
}

// write makes a synced file; where it fails there is none.
func (f Folder) write(dir int, name string, content []byte) error {
	if err := unix.Unlinkat(dir, name, 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return &os.PathError{Op: "unlink", Path: filepath.Join(f.path, name), Err: err}
	}
	file, err := f.open(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL)
	if err != nil {
		return err
	}
	err = fill(file, content)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, unix.Unlinkat(dir, name, 0))
	}
	return nil
}

func fill(file *os.File, content []byte) error {
	if err := file.Chmod(fileMode); err != nil {
		return err
	}
	if _, err := file.Write(content); err != nil {
		return err
	}
	return file.Sync()
}

func (f Folder) sync(dir int) error {
	if err := unix.Fsync(dir); err != nil {
		return &os.PathError{Op: "fsync", Path: f.path, Err: err}
	}
	return nil
}

// Make makes a file that is not there yet, ErrThere otherwise, and leaves it open.
func (f Folder) Make(name string, content []byte) (*os.File, error) {
	dir, err := f.dir()
	if err != nil {
		return nil, err
	}
	defer unix.Close(dir)
	file, err := f.open(dir, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL)
	if err != nil {
		return nil, err
	}
	err = fill(file, content)
	if err == nil {
		err = f.sync(dir)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close(), unix.Unlinkat(dir, name, 0))
	}
	return file, nil
}

// Edit opens a file that is there for reading and writing.
func (f Folder) Edit(name string) (*os.File, error) { return f.there(name, unix.O_RDWR) }

// View opens a file that is there for reading.
func (f Folder) View(name string) (*os.File, error) { return f.there(name, unix.O_RDONLY) }

func (f Folder) there(name string, flags int) (*os.File, error) {
	dir, err := f.dir()
	if err != nil {
		return nil, err
	}
	defer unix.Close(dir)
	return f.private(dir, name, flags)
}

// Append opens a file to write at its end, and makes it if it is missing.
func (f Folder) Append(name string) (*os.File, error) {
	dir, err := f.dir()
	if err != nil {
		return nil, err
	}
	defer unix.Close(dir)
	file, err := f.open(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_APPEND)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && info.Size() == 0 { // it may be new: its name is to last as well
		err = errors.Join(file.Chmod(fileMode), f.sync(dir))
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Remove takes a file away for good: true for the one caller who did.
func (f Folder) Remove(name string) (bool, error) {
	dir, err := f.dir()
	if err != nil {
		return false, err
	}
	defer unix.Close(dir)
	err = unix.Unlinkat(dir, name, 0)
	switch {
	case errors.Is(err, unix.ENOENT):
		return false, nil
	case err != nil:
		return false, &os.PathError{Op: "unlink", Path: filepath.Join(f.path, name), Err: err}
	}
	return true, f.sync(dir)
}

func retried(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
