// Package ports is what the app is made of: each decision and each outside thing
// behind one small interface, so that one of them can be decorated without a
// switch inside the app.
package ports

import (
	"context"
	"io"
	"time"

	"github.com/holdfast-mcp/holdfast/reference/app/library"
	"github.com/holdfast-mcp/holdfast/reference/app/session"
	"github.com/holdfast-mcp/holdfast/reference/sidecar"
)

// Ports are all ports of the app.
type Ports struct {
	Sidecar    sidecar.Executing
	Records    sidecar.Reading
	Changes    Changes
	Library    Library
	Account    Account
	Access     Access
	Guard      OwnerGuard
	Classifier Classifier
	Staging    Staging
	Face       Face
	Clock      Clock
	// Refused, when not nil, is why nothing is served or settled: the sidecar is
	// of a newer contract version. The other ports are nil then.
	Refused *sidecar.VersionError
}

// Changes tells cheaply whether another connection wrote to the sidecar.
type Changes interface {
	// Changed says whether the sidecar was written to since the last call; the
	// first call says true.
	Changed(ctx context.Context) (bool, error)
}

// Repository is the only way to change records.
type Repository interface {
	Create(ctx context.Context, g library.Grant, m library.Mark, d library.Draft) error
	Update(ctx context.Context, g library.Grant, m library.Mark, c library.Change) error
	Delete(ctx context.Context, g library.Grant, itemID string) error
}

// Library is the app's store of records; *library.Library is the real one.
type Library interface {
	Repository
	// Done says whether the write of an intent is in the library already.
	Done(ctx context.Context, m library.Mark) (bool, error)
	Present(ctx context.Context, itemID string) (bool, error)
	Item(ctx context.Context, g library.Grant, itemID string) (library.Item, error)
	Items(ctx context.Context, g library.Grant) ([]library.Item, error)
	Log(ctx context.Context) (library.Log, error)
	Locked(ctx context.Context) (bool, error)
	SetLocked(ctx context.Context, locked bool) error
}

// Account is who is signed in; *session.Session is the real one.
type Account interface {
	// Run restores the session in the background until ctx ends.
	Run(ctx context.Context)
	Current() session.State
	Changed() <-chan struct{}
	SignIn(token string)
	SignOut()
}

// Access asks for the right to write, at the moment of the write (WR-20).
type Access interface {
	// Check returns nil, session.ErrAccessDenied or session.ErrAccessUnknown.
	Check(ctx context.Context, account string) error
}

// Situation is what the guard judges an owner in.
type Situation struct {
	Account session.State
	Locked  bool // its user closed the library to commands
}

// OwnerGuard says whether an owner's records may be touched now.
type OwnerGuard interface {
	// Admit returns nil or one of the errors of this package.
	Admit(owner string, now Situation) error
}

// Classifier says what may help against what went wrong.
type Classifier interface {
	Classify(err error) sidecar.Failure
}

// Staging is the folder from which attachments are taken. Paths are relative to it.
type Staging interface {
	// Inspect says what is wrong with a staged file without reading it.
	// Errors: ErrAttachmentOutside, ErrAttachmentMissing, ErrContent.
	Inspect(path string) error
	// Read takes the file. Errors as Inspect.
	Read(path string) ([]byte, error)
}

// Face is how the page of cards looks; page.Template is the real one.
type Face interface {
	// Draw writes the page that shows what a person is to see.
	Draw(w io.Writer, shown any) error
}

// Clock is the app's time.
type Clock interface {
	Now() time.Time
	// Tick sends at every interval until stop is called.
	Tick(interval time.Duration) (ticks <-chan time.Time, stop func())
}

// GrantOf is the right to use the library as the account of a state, for as
// long as that state lasts.
func GrantOf(state session.State, account Account) library.Grant {
	return library.Grant{
		Account: state.Account,
		Key:     state.Key,
		Holds:   func() bool { return account.Current().Generation == state.Generation },
	}
}
