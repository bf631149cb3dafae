package trail

import "slices"

// numbers are the errors that can be returned instead of a call, by Linux's numbers.
var numbers = map[string]int64{
	"EIO": 5, "EACCES": 13, "EROFS": 30, "ENOSPC": 28, "EDQUOT": 122, "EMFILE": 24, "ENOSYS": 38, "EINTR": 4, "EPIPE": 32,
}

// Errors are the names of the errors that a Trigger can return.
func Errors() []string {
	var names []string
	for name := range numbers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Number is the number of an error, 0 if it is unknown.
func Number(name string) int64 { return numbers[name] }

// full are the calls that need room on the disk. fsync is among them, because
// some file systems find only then that there is none.
var full = []string{
	"write", "pwrite64", "writev", "pwritev", "pwritev2", "sendfile", "copy_file_range", "splice",
	"open", "openat", "openat2", "creat", "mkdir", "mkdirat", "link", "linkat", "symlink", "symlinkat",
	"rename", "renameat", "renameat2", "fallocate", "fsync", "fdatasync", "msync",
}

// CanFail says whether a file system may answer the call with the error: room
// runs out only where room is needed, a broken disk shows everywhere.
func CanFail(p Point, name string) bool {
	if p.Kind != State {
		return false
	}
	if name == "ENOSPC" || name == "EDQUOT" {
		return slices.Contains(full, p.Call)
	}
	return Number(name) != 0
}
