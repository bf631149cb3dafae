package ports

import (
	"context"
	"io"
	"net/http"
	"time"
)

// Clock tells the time.
type Clock interface{ Now() time.Time }

// Store keeps drafts, receipts and fences. It knows no rules: who may see what, and
// which command is applied, is decided above it.
type Store interface {
	// Plant stores drafts of which there is none yet, and leaves those that are
	// there as they are.
	Plant(ctx context.Context, drafts []Draft) error
	// Drafts lists a user's drafts by name.
	Drafts(ctx context.Context, owner string) ([]Draft, error)
	// Draft reads a draft, whoever's it is: ErrNoDraft where there is none.
	Draft(ctx context.Context, draft string) (Draft, error)
	// Receipt reads the receipt of an owner's command on a draft: ErrNoReceipt where
	// there is none.
	Receipt(ctx context.Context, owner, draft, command string) (Receipt, error)
	// Change runs do once, as one transaction: all that it stored is there once
	// Change has returned nil, durably, and otherwise nothing is. What do reads
	// stays so until then: of two Changes at once, one sees all of the other or the
	// other all of it. An error of do comes back as it is; every other one is an
	// ErrStore. Once do has begun, a cancelled ctx does not cut it short.
	Change(ctx context.Context, do func(context.Context, Tx) error) error
}

// Tx is a transaction of a Store.
type Tx interface {
	// Draft is as the Store's.
	Draft(ctx context.Context, draft string) (Draft, error)
	// Receipt reads the receipt of an owner's command, on whichever draft it was:
	// ErrNoReceipt where there is none.
	Receipt(ctx context.Context, owner, command string) (Receipt, error)
	// Fenced says whether an owner's command was fenced (RC-28).
	Fenced(ctx context.Context, owner, command string) (bool, error)
	// SaveDraft replaces a draft that is there: ErrNoDraft where there is none. The
	// owner stays.
	SaveDraft(ctx context.Context, d Draft) error
	// StoreReceipt stores the receipt of a command that has none. A second one under
	// the same owner and command is an ErrStore.
	StoreReceipt(ctx context.Context, r Receipt) error
	// Fence shuts an owner's command out. A second time it changes nothing.
	Fence(ctx context.Context, owner, draft, command string) error
}

// SessionRows keeps sessions under a digest of their token, so that who reads the
// store can use none.
type SessionRows interface {
	AddSession(ctx context.Context, digest, owner string, began time.Time) error
	// Session reads whose session it is and when it began, to the millisecond:
	// ErrNoSession where there is none.
	Session(ctx context.Context, digest string) (owner string, began time.Time, err error)
	// RemoveSession removes one; one that is not there is what is wanted.
	RemoveSession(ctx context.Context, digest string) error
	// RemoveSessions removes all of an owner's.
	RemoveSessions(ctx context.Context, owner string) error
}

// Database is all that a server keeps.
type Database interface {
	Store
	SessionRows
	io.Closer
}

// Sessions says who is signed in. They survive a restart of the server.
type Sessions interface {
	// Begin makes a session and returns its token, which is stored nowhere.
	Begin(ctx context.Context, user string) (token string, err error)
	// Whose is the user of a session: ErrSignedOut where there is none.
	Whose(ctx context.Context, token string) (string, error)
	End(ctx context.Context, token string) error
	EndAll(ctx context.Context, user string) error
}

// Accounts says whether a password is a user's: ErrSignInRefused if it is not.
type Accounts interface {
	Check(ctx context.Context, user, password string) error
}

// Gate says who sends a request: ErrSignedOut where nobody is signed in. Every route
// below /api but the sign-in asks it first.
type Gate interface {
	Caller(r *http.Request) (user string, err error)
}

// Access says what a user may do with a draft. What may not be seen is answered like
// what is not there.
type Access interface {
	MayRead(user string, d Draft) bool
	MayChange(user string, d Draft) bool
}

// Attempt is a command on its way through the rules.
type Attempt struct {
	Command
	Digest string // of the command's content
	Saved  Draft  // the draft as it stands, once a rule has read it
	// Stored is the receipt of the command, where it was applied before. It ends the
	// way through the rules: the command is answered with it and changes nothing.
	Stored *Receipt
}

// Rule is one question that a command must pass, within its transaction. An error
// refuses the command, and nothing is stored.
type Rule struct {
	Name  string
	Check func(ctx context.Context, tx Tx, a *Attempt) error
}

// Refusal is how an error is told over HTTP.
type Refusal struct {
	Status   int    `json:"-"`
	Code     string `json:"code"`
	Reason   string `json:"reason"`
	Revision int64  `json:"revision,omitempty"` // of the draft; with revision_conflict only
}

// Refusals tells errors by structure. What is no error of this package is one of the
// server's own, and its text is not told.
type Refusals interface{ Of(err error) Refusal }
