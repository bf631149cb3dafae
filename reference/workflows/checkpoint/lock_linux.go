package checkpoint

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// held is a lock on an open file description: it is exclusive between processes
// and within one, can be asked about without being taken, and ends with the
// process that holds it, however that ends (WF-11).
type held struct{ file *os.File }

func (h held) Release() error { return h.file.Close() }

func whole() *unix.Flock_t { return &unix.Flock_t{Type: unix.F_WRLCK} }

// lockNow locks the file or says ErrBusy. Closing the file unlocks it.
func lockNow(file *os.File) (ports.Lock, error) {
	err := fcntl(file, unix.F_OFD_SETLK, whole())
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EACCES):
		return nil, ports.ErrBusy
	case err != nil:
		return nil, fmt.Errorf("lock %s: %w", file.Name(), err)
	}
	return held{file}, nil
}

func locked(file *os.File) (bool, error) {
	l := whole()
	if err := fcntl(file, unix.F_OFD_GETLK, l); err != nil {
		return false, fmt.Errorf("look at the lock of %s: %w", file.Name(), err)
	}
	return l.Type != unix.F_UNLCK, nil
}

func fcntl(file *os.File, what int, l *unix.Flock_t) error {
	for {
		err := unix.FcntlFlock(file.Fd(), what, l)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
