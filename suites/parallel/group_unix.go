//go:build unix

package parallel

import (
	"os/exec"
	"syscall"
)

// ownGroup starts cmd as the leader of a process group, so that Ctrl-C on the
// terminal reaches the parent alone and one signal reaches all workers.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// killGroup kills the coordinator and its workers. There may be none left.
func killGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}
