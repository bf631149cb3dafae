package tracer

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// start makes the shim and takes hold of the thread that becomes the target. why
// gives afterwards what kept it from that.
func (p *process) start(argv []string) (why *os.File, err error) {
	goRead, goWrite, err := pipe()
	if err != nil {
		return nil, err
	}
	defer goRead.Close()
	defer goWrite.Close()
	tellRead, tellWrite, err := pipe()
	if err != nil {
		return nil, err
	}
	defer tellWrite.Close()
	self := append([]string{os.Args[0], shimVerb, "--"}, argv...)
	pid, err := syscall.ForkExec("/proc/self/exe", self, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{0, 1, 2, goRead.Fd(), tellWrite.Fd()},
		Sys:   &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return nil, fmt.Errorf("starting the shim: %w", err)
	}
	tellWrite.Close()
	p.loop.root = pid
	p.letGoOfStreams()

	var said [5]byte
	if _, err := io.ReadFull(tellRead, said[:1]); err != nil {
		return nil, fmt.Errorf("waiting for the shim: %w", err)
	}
	if said[0] != saysThread {
		return tellRead, nil
	}
	if _, err := io.ReadFull(tellRead, said[1:]); err != nil {
		return nil, fmt.Errorf("waiting for the shim: %w", err)
	}
	tid := int(binary.LittleEndian.Uint32(said[1:]))
	if err := seize(tid); err != nil {
		return nil, fmt.Errorf("%w: ptrace was refused: %w; in a container, allow it (SYS_PTRACE)", ErrUnavailable, err)
	}
	p.loop.know(tid)
	_, err = goWrite.Write([]byte{1})
	return tellRead, err
}

// pipe makes a pipe whose ends block, as the shim needs them.
func pipe() (r, w *os.File, err error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, fmt.Errorf("making a pipe to the shim: %w", err)
	}
	return os.NewFile(uintptr(ends[0]), "pipe"), os.NewFile(uintptr(ends[1]), "pipe"), nil
}

// letGoOfStreams gives up this process's share of the target's stdin and stdout:
// where the target closes one, its other end must see that.
func (p *process) letGoOfStreams() {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer null.Close()
	unix.Dup3(int(null.Fd()), 0, 0)
	unix.Dup3(int(null.Fd()), 1, 0)
}
