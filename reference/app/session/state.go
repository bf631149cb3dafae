// Package session is the app's account: it restores the session from the account
// service in the background, however late and however often that is refused, and
// asks the service for access at the moment of a write.
package session

import "errors"

// Phase is how far the account of the app is known.
type Phase string

// The phases. Only in Restored is anything decided that depends on the owner (WR-18).
const (
	Unresolved Phase = "unresolved" // not known yet: the service has not answered
	Restored   Phase = "restored"
	Denied     Phase = "denied"     // the account is known, its access is revoked
	SignedOut  Phase = "signed_out" // the person signed out
)

// State is the account at one moment.
type State struct {
	Phase   Phase
	Account string // in Restored and Denied
	Key     []byte // in Restored; never logged, stored or answered (WR-38)
	// Generation rises with every change of the account.
	Generation int64
	// Refusals counts the attempts to restore that failed since the last change.
	Refusals int
	// Reason is why the last attempt failed, for a person.
	Reason string
}

// Errors of an access check.
var (
	// ErrAccessDenied: the account service says that access is revoked (WR-20).
	ErrAccessDenied = errors.New("the access of the account is revoked")
	// ErrAccessUnknown: the account service could not be asked.
	ErrAccessUnknown = errors.New("the account service could not confirm the access of the account")
)
