package tracer

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// The shim's descriptors: where it is told to go on, and where it tells its
// thread's number and then, if it could not become the target, why.
const (
	shimGo   = 3
	shimTell = 4
)

// How what the shim tells begins.
const (
	saysThread = 'T' // 4 bytes follow
	saysError  = 'E' // text follows
)

// refused is the exit code of a shim that could not become the target, like that
// of a shell.
const refused = 127

// runShim becomes the target once the tracer has taken hold of this thread.
func runShim(argv []string) {
	runtime.LockOSThread()
	unix.CloseOnExec(shimGo)
	unix.CloseOnExec(shimTell)

	path, err := exec.LookPath(argv[0])
	if err != nil {
		giveUp(fmt.Errorf("there is no command %q: %w; install it, or write its full path", argv[0], err))
	}
	env := os.Environ()
	program := filter()
	tell(binary.LittleEndian.AppendUint32([]byte{saysThread}, uint32(unix.Gettid())))
	var word [1]byte
	if n, err := retry(func() (int, error) { return unix.Read(shimGo, word[:]) }); n != 1 || err != nil {
		os.Exit(refused) // the tracer is gone
	}
	if err := install(program); err != nil {
		giveUp(fmt.Errorf("setting the seccomp filter: %w; in a container, allow seccomp", err))
	}
	err = syscall.Exec(path, argv, env)
	giveUp(fmt.Errorf("executing %s: %w; start the same command by hand", path, err))
}

func giveUp(err error) {
	tell(append([]byte{saysError}, err.Error()...))
	os.Exit(refused)
}

func tell(text []byte) {
	retry(func() (int, error) { return unix.Write(shimTell, text) })
}

func retry(do func() (int, error)) (int, error) {
	for {
		n, err := do()
		if err != unix.EINTR {
			return n, err
		}
	}
}
