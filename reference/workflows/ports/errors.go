package ports

import (
	"errors"
	"fmt"
	"time"
)

// The errors that a port's caller tells apart.
var (
	// ErrNoSuch: there is no such operation, or the reference can be none.
	ErrNoSuch = errors.New("there is no such operation")
	// ErrBusy: somebody else has the operation's lock.
	ErrBusy = errors.New("somebody else runs this operation")
	// ErrApproval: the confirmation is not one that is open for this write.
	ErrApproval = errors.New("the confirmation is missing, wrong, used up or expired; ask the tool for a new preview")
	// ErrUnsent: no request left.
	ErrUnsent = errors.New("no request left")
	// ErrNotPrivate: a file or folder that is not one's own alone.
	ErrNotPrivate = errors.New("not private")
)

// CorruptError is a checkpoint that is there and is none. It is kept as it is.
type CorruptError struct {
	Operation string
	Why       string // says nothing of the content
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("the checkpoint of operation %s is damaged: %s; the file is kept as it is, look at it before anything else", e.Operation, e.Why)
}

// FormatError is a checkpoint of a format that this build does not read.
type FormatError struct {
	Operation    string
	Found, Reads int
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("the checkpoint of operation %s has format %d, and this server reads format %d; use a server that reads it, the file is kept as it is", e.Operation, e.Found, e.Reads)
}

// RefusedError is the chat service's definite no.
type RefusedError struct {
	Status     int           // HTTP
	RetryAfter time.Duration // 0 where it says nothing
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the chat service answered %d and applied nothing", e.Status)
}
