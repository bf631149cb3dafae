package tracer

import (
	"maps"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data.
const (
	offCall = 0
	offArch = 4
	offArgs = 16
)

// x32 marks the calls of the x32 ABI, which share the architecture's number.
const x32 = 0x40000000

// filter is the seccomp program: it stops the counted calls, and those of which
// the target shall be asked whether they can be seen at all, and allows the rest.
// The kernel remembers which calls it allows whatever their arguments are.
func filter() []unix.SockFilter {
	b := &block{}
	b.load(offArch)
	b.jump(unix.BPF_JEQ, unix.AUDIT_ARCH_X86_64, 1, 0)
	b.ret(unix.SECCOMP_RET_TRACE)
	b.load(offCall)
	b.jump(unix.BPF_JSET, x32, 0, 1)
	b.ret(unix.SECCOMP_RET_TRACE)

	conditions := map[uint64]block{
		unix.SYS_OPEN:   anyOf(1, unix.O_CREAT|unix.O_TRUNC),
		unix.SYS_OPENAT: anyOf(2, unix.O_CREAT|unix.O_TRUNC),
		unix.SYS_IOCTL:  oneOf(1, ficlone, ficloneRange),
		unix.SYS_MMAP:   sharedWritable(),
	}
	numbers := slices.Sorted(maps.Keys(calls))
	for _, nr := range append(numbers, unix.SYS_MMAP, unix.SYS_IO_URING_SETUP) {
		body, ok := conditions[nr]
		if !ok {
			body = block{}
			body.ret(unix.SECCOMP_RET_TRACE)
		}
		b.jump(unix.BPF_JEQ, uint32(nr), 0, uint8(len(body)))
		*b = append(*b, body...)
	}
	b.ret(unix.SECCOMP_RET_ALLOW)
	return *b
}

// block is a piece of a program. A conditional one ends in both returns.
type block []unix.SockFilter

func (b *block) load(offset uint32) {
	*b = append(*b, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset})
}

func (b *block) jump(op uint16, k uint32, yes, no uint8) {
	*b = append(*b, unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, Jt: yes, Jf: no, K: k})
}

func (b *block) ret(k uint32) {
	*b = append(*b, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k})
}

// low is where the low half of an argument is.
func low(arg int) uint32 { return uint32(offArgs + 8*arg) }

func anyOf(arg int, mask uint32) block {
	var b block
	b.load(low(arg))
	b.jump(unix.BPF_JSET, mask, 1, 0)
	b.ret(unix.SECCOMP_RET_ALLOW)
	b.ret(unix.SECCOMP_RET_TRACE)
	return b
}

func oneOf(arg int, first, second uint32) block {
	var b block
	b.load(low(arg))
	b.jump(unix.BPF_JEQ, first, 2, 0)
	b.jump(unix.BPF_JEQ, second, 1, 0)
	b.ret(unix.SECCOMP_RET_ALLOW)
	b.ret(unix.SECCOMP_RET_TRACE)
	return b
}

// sharedWritable: mmap of a file, shared and writable. MAP_SHARED_VALIDATE has
// the bit of MAP_SHARED, MAP_PRIVATE has not.
func sharedWritable() block {
	var b block
	b.load(low(2))
	b.jump(unix.BPF_JSET, unix.PROT_WRITE, 0, 4)
	b.load(low(3))
	b.jump(unix.BPF_JSET, unix.MAP_SHARED, 0, 2)
	b.jump(unix.BPF_JSET, unix.MAP_ANONYMOUS, 1, 0)
	b.ret(unix.SECCOMP_RET_TRACE)
	b.ret(unix.SECCOMP_RET_ALLOW)
	return b
}

// install sets the filter on this thread, from which the target comes. The other
// threads of the shim end when it executes the target; they are not traced, and
// under the filter they could not even write.
func install(program []unix.SockFilter) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return errno
	}
	return nil
}
