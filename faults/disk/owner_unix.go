//go:build unix

package disk

import (
	"errors"
	"os"
	"syscall"
)

// OwnerOf is the user and the group that own what stands under a name.
func OwnerOf(path string) (uid, gid int, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, 0, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, errors.ErrUnsupported
	}
	return int(st.Uid), int(st.Gid), nil
}
