package parallel

import (
	"os"

	"golang.org/x/sys/unix"
)

// takeOutput points stdout and stderr of this process at the log. The pipes that
// Ginkgo gave are let go: a process of a target that inherited one would keep
// Ginkgo waiting after its worker has died.
func takeOutput(path string) error {
	log, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	for _, fd := range []int{1, 2} {
		if err := unix.Dup3(int(log.Fd()), fd, 0); err != nil {
			return err
		}
	}
	return nil
}
