package ports

import (
	"errors"
	"fmt"
)

// Errors that turn a write away. Classifier gives each its class and code.
var (
	// ErrAccountUnresolved: nobody is signed in, so nothing about owners is decided (WR-18).
	ErrAccountUnresolved = errors.New("no account is signed in")
	// ErrLibraryLocked: its user closed the library to commands.
	ErrLibraryLocked = errors.New("the library is locked by its user")
	// ErrAttachmentOutside: the staged path leaves the staging root (WR-28).
	ErrAttachmentOutside = errors.New("the attachment lies outside the staging root")
	// ErrAttachmentMissing: there is no such staged file.
	ErrAttachmentMissing = errors.New("there is no such staged attachment")
	// ErrContent: the command asks for something that cannot be written.
	ErrContent = errors.New("the content cannot be written")
)

// OwnerMismatch is another account than the owner's being signed in (WR-19).
type OwnerMismatch struct{ Owner, Account string }

func (e OwnerMismatch) Error() string {
	return fmt.Sprintf("the record belongs to account %q, account %q is signed in", e.Owner, e.Account)
}

// VersionMismatch is an app that does not speak the sidecar's contract version (WR-31).
type VersionMismatch struct{ App, Sidecar int }

func (e VersionMismatch) Error() string {
	return fmt.Sprintf("the app supports contract version %d, the command was accepted in version %d", e.App, e.Sidecar)
}
