package main

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// output is stdout. It remembers that something could not be written, so that a
// table that nobody could read does not end as if it had been shown.
type output struct {
	to  io.Writer
	err error
}

// Write writes on. A reader that has left is the reader's choice and no error, and
// what it does not want is not written.
func (o *output) Write(text []byte) (int, error) {
	n, err := o.to.Write(text)
	if errors.Is(err, syscall.EPIPE) {
		return len(text), nil
	}
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// outliveReaders keeps the process going when who reads its stdout or stderr has
// left: what was begun is finished, and its report written. The signal is caught
// and not ignored, because what is started would inherit that it is ignored.
func outliveReaders() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
}
