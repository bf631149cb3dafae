//go:build !unix

package parallel

import "os/exec"

func ownGroup(*exec.Cmd) {}

// killGroup kills the coordinator; its workers see their lifeline end.
func killGroup(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
}
