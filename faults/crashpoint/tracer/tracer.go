// Package tracer is the process that runs a target under ptrace and counts its
// state-changing system calls, and the shim that becomes the target.
//
// The tracer is a process of its own because it has to wait for every child that
// it has, and because the target must die with it: the kernel kills whoever is
// traced when the tracer ends, for whatever reason.
//
// The shim sets a seccomp filter that stops the target at the counted calls only,
// so that every other call runs at full speed, and then executes the target.
package tracer

import (
	"errors"
	"os"
)

// The first argument of this binary when it plays a part here.
const (
	Verb     = "tracer"      // tracer FOLDER -- COMMAND…
	shimVerb = "trace-shim"  // trace-shim -- COMMAND…
	Socket   = "tracer.sock" // in FOLDER: where the harness listens
)

// ErrUnavailable is why nothing is traced on this machine. Its text is the
// verdict's own.
var ErrUnavailable = errors.New("not-run (needs Linux x86-64 ptrace)")

// Become plays the tracer or the shim if this process was started as one, and
// does not return then. It must be the first thing that main does.
func Become() {
	if len(os.Args) < 2 {
		return
	}
	switch os.Args[1] {
	case Verb:
		if len(os.Args) >= 5 && os.Args[3] == "--" {
			runTracer(os.Args[2], os.Args[4:])
		}
	case shimVerb:
		if len(os.Args) >= 4 && os.Args[2] == "--" {
			runShim(os.Args[3:])
		}
	}
}
