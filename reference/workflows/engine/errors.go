package engine

import (
	"errors"
	"fmt"

	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// ErrStopping: the server is leaving.
var ErrStopping = errors.New("the server is leaving; nothing was started")

// AdmissionError is a definition that is not taken.
type AdmissionError struct{ Code ports.Code }

func (e *AdmissionError) Error() string {
	return fmt.Sprintf("the definition is refused (%s); nothing was stored", e.Code)
}

// NotStoredError is a checkpoint that could not be written.
type NotStoredError struct{ Err error }

func (e *NotStoredError) Error() string {
	return fmt.Sprintf("a checkpoint is not stored: %v; make room and resume", e.Err)
}

func (e *NotStoredError) Unwrap() error { return e.Err }

// CodeOf is the safe code of an error.
func CodeOf(err error) ports.Code {
	var admission *AdmissionError
	var corrupt *ports.CorruptError
	var format *ports.FormatError
	var stored *NotStoredError
	switch {
	case errors.As(err, &admission):
		return admission.Code
	case errors.Is(err, ports.ErrNoSuch):
		return ports.CodeOperationUnknown
	case errors.Is(err, ports.ErrBusy):
		return ports.CodeOperationBusy
	case errors.Is(err, ErrStopping):
		return ports.CodeStopped
	case errors.Is(err, ports.ErrNotPrivate):
		return ports.CodeStoreRefused
	case errors.As(err, &corrupt):
		return ports.CodeCheckpointCorrupt
	case errors.As(err, &format):
		return ports.CodeCheckpointVersion
	case errors.As(err, &stored):
		return ports.CodeCheckpointNotStored
	}
	return ports.CodeStoreUnreadable
}
