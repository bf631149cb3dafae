package tracer

import "golang.org/x/sys/unix"

// none: the call has no such argument.
const none = -1

// call says where a system call has what is noted down of it: positions of
// arguments, or none.
type call struct {
	name string
	// fd is the descriptor that it works on; dir and path name its file otherwise
	// (dir none: relative to the working directory).
	fd, dir, path int
	// dir2 and path2 are the new name of a rename or a link.
	dir2, path2 int
	// size is how much is to be written, or the new length.
	size int
	// flags are those of an open; how is where openat2 has them.
	flags, how int
	// text and vector are where the written bytes begin, directly or by an iovec;
	// message is a msghdr.
	text, vector, message int
	// address is where the mapping of msync begins.
	address int
	// follows: a link at the end of the path is followed.
	follows bool
}

func of(name string) call {
	return call{name, none, none, none, none, none, none, none, none, none, none, none, none, false}
}

func (c call) on(fd int) call           { c.fd = fd; return c }
func (c call) sized(size int) call      { c.size = size; return c }
func (c call) named(dir, path int) call { c.dir, c.path = dir, path; return c }
func (c call) to(dir, path int) call    { c.dir2, c.path2 = dir, path; return c }
func (c call) opening(flags int) call   { c.flags, c.follows = flags, true; return c }
func (c call) from(text int) call       { c.text = text; return c }
func (c call) vectored(vector int) call { c.vector = vector; return c }
func (c call) messaged(at int) call     { c.message = at; return c }

// calls are the counted system calls.
var calls = map[uint64]call{
	unix.SYS_WRITE:    of("write").on(0).from(1).sized(2),
	unix.SYS_PWRITE64: of("pwrite64").on(0).from(1).sized(2),
	unix.SYS_WRITEV:   of("writev").on(0).vectored(1),
	unix.SYS_PWRITEV:  of("pwritev").on(0).vectored(1),
	unix.SYS_PWRITEV2: of("pwritev2").on(0).vectored(1),

	unix.SYS_SENDTO:   of("sendto").on(0).from(1).sized(2),
	unix.SYS_SENDMSG:  of("sendmsg").on(0).messaged(1),
	unix.SYS_SENDMMSG: of("sendmmsg").on(0).messaged(1),

	unix.SYS_SENDFILE:        of("sendfile").on(0).sized(3),
	unix.SYS_COPY_FILE_RANGE: of("copy_file_range").on(2).sized(4),
	unix.SYS_SPLICE:          of("splice").on(2).sized(4),
	unix.SYS_IOCTL:           of("ioctl").on(0),

	unix.SYS_RENAME:    of("rename").named(none, 0).to(none, 1),
	unix.SYS_RENAMEAT:  of("renameat").named(0, 1).to(2, 3),
	unix.SYS_RENAMEAT2: of("renameat2").named(0, 1).to(2, 3),
	unix.SYS_LINK:      of("link").named(none, 0).to(none, 1),
	unix.SYS_LINKAT:    of("linkat").named(0, 1).to(2, 3),
	unix.SYS_SYMLINK:   of("symlink").named(none, 1),
	unix.SYS_SYMLINKAT: of("symlinkat").named(1, 2),
	unix.SYS_UNLINK:    of("unlink").named(none, 0),
	unix.SYS_UNLINKAT:  of("unlinkat").named(0, 1),
	unix.SYS_RMDIR:     of("rmdir").named(none, 0),
	unix.SYS_MKDIR:     of("mkdir").named(none, 0),
	unix.SYS_MKDIRAT:   of("mkdirat").named(0, 1),

	unix.SYS_TRUNCATE:  follow(of("truncate").named(none, 0).sized(1)),
	unix.SYS_FTRUNCATE: of("ftruncate").on(0).sized(1),
	unix.SYS_FALLOCATE: of("fallocate").on(0).sized(3),
	unix.SYS_FSYNC:     of("fsync").on(0),
	unix.SYS_FDATASYNC: of("fdatasync").on(0),
	unix.SYS_MSYNC:     mapped(of("msync").sized(1), 0),

	unix.SYS_OPEN:    of("open").named(none, 0).opening(1),
	unix.SYS_OPENAT:  of("openat").named(0, 1).opening(2),
	unix.SYS_CREAT:   follow(of("creat").named(none, 0)),
	unix.SYS_OPENAT2: opens2(of("openat2").named(0, 1), 2),
}

func follow(c call) call              { c.follows = true; return c }
func mapped(c call, address int) call { c.address = address; return c }
func opens2(c call, how int) call     { c.how, c.follows = how, true; return c }

// opens says whether the call opens a file, and with which flags.
func (c call) opens() bool {
	return c.flags != none || c.how != none || c.name == "creat"
}

// The ioctls that copy a file by sharing its blocks.
const (
	ficlone      = 0x40049409
	ficloneRange = 0x4020940d
)
