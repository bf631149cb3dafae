package tracer

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// options of every tracee. EXITKILL: no tracee outlives the tracer.
const options = unix.PTRACE_O_TRACESECCOMP | unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_EXITKILL |
	unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEEXEC

// seize takes hold of a running thread without stopping it. Unlike an attach it
// lets a stopped target stay stopped (see listen).
func seize(tid int) error { return ptrace(unix.PTRACE_SEIZE, tid, 0, options) }

// listen leaves a thread in the stop that its process was put into, until SIGCONT.
func listen(tid int) { ptrace(unix.PTRACE_LISTEN, tid, 0, 0) }

// resume lets a stopped thread run, to its next stop of any kind or, with
// toExit, to the end of the call that it stands at. A thread that was killed
// meanwhile is not there any more; its end is reported by wait4.
func resume(tid, signal int, toExit bool) {
	request := unix.PTRACE_CONT
	if toExit {
		request = unix.PTRACE_SYSCALL
	}
	ptrace(request, tid, 0, uintptr(signal))
}

func ptrace(request, tid int, address, data uintptr) error {
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), address, data, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// stop is struct ptrace_syscall_info of a seccomp stop. At the end of a call
// only nr is set, and holds what was returned.
type stop struct {
	op   uint8
	_    [3]byte
	arch uint32
	ip   uint64
	sp   uint64
	nr   uint64
	args [6]uint64
	data uint32
	_    uint32
}

func (s *stop) result() int64 { return int64(s.nr) }

func (s *stop) foreign() bool { return s.arch != unix.AUDIT_ARCH_X86_64 || s.nr&x32 != 0 }

// arg is an argument that is an int.
func (s *stop) arg(i int) int { return int(int32(s.args[i])) }

func look(tid int) (*stop, error) {
	var s stop
	return &s, ptrace(unix.PTRACE_GET_SYSCALL_INFO, tid, unsafe.Sizeof(s), uintptr(unsafe.Pointer(&s)))
}

// skip makes a thread at a seccomp stop not execute its call but return errno.
func skip(tid int, errno int64) error {
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &regs); err != nil {
		return err
	}
	regs.Orig_rax = ^uint64(0)
	regs.Rax = uint64(-errno)
	return unix.PtraceSetRegs(tid, &regs)
}

// message is what belongs to a ptrace event: a new thread's number, a former one.
func message(tid int) int {
	msg, err := unix.PtraceGetEventMsg(tid)
	if err != nil {
		return 0
	}
	return int(msg)
}

// Available says whether targets can be traced on this machine; the error is
// ErrUnavailable with the reason.
func Available() error {
	if scope, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope"); err == nil {
		if n, err := strconv.Atoi(strings.TrimSpace(string(scope))); err == nil && n >= 3 {
			return fmt.Errorf("%w: kernel.yama.ptrace_scope is %d; set it to 2 or less, which takes a reboot", ErrUnavailable, n)
		}
	}
	action := uint32(unix.SECCOMP_RET_TRACE)
	_, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	if errno != 0 {
		return fmt.Errorf("%w: the kernel's seccomp cannot stop a call for a tracer: %w", ErrUnavailable, errno)
	}
	return nil
}
