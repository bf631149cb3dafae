//go:build unix && !solaris && !aix

package reports

import (
	"errors"
	"os"
	"syscall"
)

type lockKind int

const (
	exclusive lockKind = syscall.LOCK_EX
	shared    lockKind = syscall.LOCK_SH
)

// flock locks an open file and does not wait: errHeld where somebody else has it.
// The lock is the open file's, so that it ends with the process however that ends.
func flock(file *os.File, kind lockKind) error {
	for {
		err := syscall.Flock(int(file.Fd()), int(kind)|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errHeld
		case err != nil:
			return &os.PathError{Op: "locking", Path: file.Name(), Err: err}
		default:
			return nil
		}
	}
}

// readOnly says whether a file could not be made because its disk is read-only.
func readOnly(err error) bool { return errors.Is(err, syscall.EROFS) }
