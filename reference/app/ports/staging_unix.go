//go:build unix

package ports

import "syscall"

// nonBlocking keeps an open from waiting on a pipe that was swapped in.
const nonBlocking = syscall.O_NONBLOCK
