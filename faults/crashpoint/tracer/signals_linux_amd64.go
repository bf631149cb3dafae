package tracer

import (
	"os"
	"os/signal"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// heedSignals: what is sent to the process group reaches the target by itself, so
// here it must only not be deadly. It is heeded, not ignored, because an ignored
// signal would stay ignored in the target.
func heedSignals() {
	heard := make(chan os.Signal, 1) // nobody reads it: what does not fit is dropped
	signal.Notify(heard, unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM)
	interruptible(unix.SIGUSR1)
}

// action is the kernel's struct sigaction.
type action struct {
	handler  uintptr
	flags    uint64
	restorer uintptr
	mask     uint64
}

const saRestart = 0x10000000

// interruptible makes a wait that the signal meets end with EINTR. The runtime
// asks the kernel to go on waiting instead.
func interruptible(number syscall.Signal) {
	var a action
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(number), 0, uintptr(unsafe.Pointer(&a)), 8, 0, 0)
	a.flags &^= saRestart
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(number), uintptr(unsafe.Pointer(&a)), 0, 8, 0, 0)
}

// deadly gives a signal its default action back.
func deadly(number syscall.Signal) {
	var a action
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(number), uintptr(unsafe.Pointer(&a)), 0, 8, 0, 0)
}
