package ports

import (
	"errors"
	"fmt"
)

// How a request can end without being done. All but ErrStore are definite: nothing
// was stored.
var (
	ErrSignedOut     = errors.New("nobody is signed in; sign in and try again")
	ErrSignInRefused = errors.New("user and password do not belong together; nobody was signed in")
	ErrNoDraft       = errors.New("there is no such draft for this user")
	ErrNoReceipt     = errors.New("there is no receipt of this command on this draft for this user; that alone does not say that it will never be applied")
	ErrSubmitted     = errors.New("the draft is submitted and takes no further command; nothing was stored")
	ErrFenced        = errors.New("this command was fenced: it was declared not applied and never will be; use a new commandId")
	ErrReused        = errors.New("this commandId was used for another draft, kind or content; nothing was stored; use a new commandId")
	ErrNoSession     = errors.New("there is no such session")
	// ErrStore says that the store did not do what it was asked to. Where that was a
	// Change, the error also says whether it is known that nothing was stored.
	ErrStore = errors.New("the store did not answer")
)

// ConflictError says that a command was meant for another revision than the draft
// has (RC-06). Nothing was stored.
type ConflictError struct{ Expected, Current int64 }

func (e *ConflictError) Error() string {
	return fmt.Sprintf("the command expects revision %d, the draft is at revision %d; nothing was stored; read the draft and decide again", e.Expected, e.Current)
}

// InvalidError says what is wrong with a request. Nothing was stored (RC-01).
type InvalidError struct{ Reason string }

func (e *InvalidError) Error() string { return e.Reason }

// Invalid makes an InvalidError.
func Invalid(format string, args ...any) error {
	return &InvalidError{Reason: fmt.Sprintf(format, args...)}
}
