package ports

import (
	"errors"

	"github.com/holdfast-mcp/holdfast/reference/app/library"
	"github.com/holdfast-mcp/holdfast/reference/app/session"
	"github.com/holdfast-mcp/holdfast/reference/sidecar"
)

// Classes is the real Classifier. What it does not know is transient, because a
// transient failure loses nothing.
type Classes struct{}

type class struct {
	err    error
	class  sidecar.Class
	code   sidecar.Code
	reason string
}

var classes = []class{
	{ErrAccountUnresolved, sidecar.Transient, sidecar.CodeAccountUnresolved, "No account is signed in yet; this is applied once its owner is."},
	{library.ErrAccountChanged, sidecar.Transient, sidecar.CodeAccountUnresolved, "The account changed during the write; this is tried again."},
	{session.ErrAccessUnknown, sidecar.Transient, sidecar.CodeAccountUnresolved, "The account service could not confirm the access of the account; this is tried again."},
	{library.ErrBusy, sidecar.Transient, sidecar.CodeLibraryBusy, "Another program is writing to the library; this is tried again."},
	{library.ErrFull, sidecar.Transient, sidecar.CodeLibraryUnavailable, "There is no room for the library; this is tried again."},
	{library.ErrSealed, sidecar.Transient, sidecar.CodeLibraryUnavailable, "The library does not open with the key of the account; this is tried again."},
	{library.ErrForeign, sidecar.Blocked, sidecar.CodeOwnerMismatch, "The item belongs to another account; sign in with that one."},
	{ErrLibraryLocked, sidecar.Blocked, sidecar.CodeLibraryLocked, "The library is locked by its user; unlock it."},
	{session.ErrAccessDenied, sidecar.Permanent, sidecar.CodeAccessDenied, "The access of the account was revoked."},
	{library.ErrNoItem, sidecar.Permanent, sidecar.CodeItemDeleted, DeletionReason},
	{ErrAttachmentOutside, sidecar.Permanent, sidecar.CodeAttachmentOutsideRoot, "The attachment lies outside the staging folder; nothing of it was read."},
	{ErrAttachmentMissing, sidecar.Permanent, sidecar.CodeAttachmentMissing, "There is no such file in the staging folder."},
}

// DeletionReason is what a dead anchor, and all that was queued on it, says.
const DeletionReason = "The item was deleted from the library by its user; start the task again for a new one."

// Classify gives an error its class, its stable code and a reason for a person.
func (Classes) Classify(err error) sidecar.Failure {
	var mismatch OwnerMismatch
	var version VersionMismatch
	switch {
	case errors.As(err, &mismatch):
		// The accounts are not named: one is not told of the other.
		return sidecar.Failure{Class: sidecar.Blocked, Code: sidecar.CodeOwnerMismatch, Reason: "Another account than the owner's is signed in; sign in with the owner's."}
	case errors.As(err, &version):
		return sidecar.Failure{Class: sidecar.Permanent, Code: sidecar.CodeVersionMismatch, Reason: version.Error() + "; update the older of the two."}
	case errors.Is(err, ErrContent):
		return sidecar.Failure{Class: sidecar.Permanent, Code: sidecar.CodeInvalidContent, Reason: err.Error()}
	}
	for _, c := range classes {
		if errors.Is(err, c.err) {
			return sidecar.Failure{Class: c.class, Code: c.code, Reason: c.reason}
		}
	}
	return sidecar.Failure{Class: sidecar.Transient, Code: sidecar.CodeLibraryUnavailable, Reason: "The library could not be written; this is tried again."}
}
