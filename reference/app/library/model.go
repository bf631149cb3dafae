// Package library is the app's own store of user records. It is changed only
// through Create, Update and Delete, each of which is one transaction that
// leaves one sync envelope and one refresh event (WR-29). Content is sealed with
// the key of the account that owns it.
package library

import "errors"

// Errors by structure.
var (
	// ErrBusy: another writer holds the library; nothing was written.
	ErrBusy = errors.New("the library is busy")
	// ErrFull: there is no room for the write; nothing was written.
	ErrFull = errors.New("there is no room for the library")
	// ErrNoItem: the library has no such item.
	ErrNoItem = errors.New("the library has no such item")
	// ErrExists: an item of that ID is already there, of the same owner.
	ErrExists = errors.New("the item is already there")
	// ErrForeign: the item belongs to another account.
	ErrForeign = errors.New("the item belongs to another account")
	// ErrAccountChanged: the account of the grant is no longer signed in; nothing was written.
	ErrAccountChanged = errors.New("the account changed during the write")
	// ErrSealed: the content does not open with this account's key.
	ErrSealed = errors.New("the content does not open with this key")
)

// Grant is the right to use one account's part of the library now.
type Grant struct {
	Account string
	Key     []byte
	// Holds says whether the account is still the one signed in; it is asked
	// within the transaction, right before it commits. nil means that it is.
	Holds func() bool
}

// Mark names the intent behind a write. It is stored with the write, so that
// the same intent, tried again after a kill, writes nothing (WR-05).
type Mark struct {
	ItemID string
	Seq    int64
}

// Draft is a new item.
type Draft struct {
	Title  string
	Status string
}

// Change is what one Update does; zero fields change nothing.
type Change struct {
	Note   *Note
	Status string
}

// Note is one note of an item.
type Note struct {
	Text       string
	Attachment *Attachment
	// Seq is the sequence number of the intent that it came from. Update sets it.
	Seq int64
}

// Attachment is a staged file that was taken into the library.
type Attachment struct {
	Name    string
	Content []byte
}

// Item is an item as its owner sees it.
type Item struct {
	ID    string
	Owner string
	Title string
	// Statuses holds exactly one word (WR-30); it is a list so that a defect is seen.
	Statuses []string
	Notes    []Note
	Revision int64
}

// Operation is what a write did to its item.
type Operation string

// The three operations of the repository.
const (
	Created Operation = "create"
	Updated Operation = "update"
	Deleted Operation = "delete"
)

// Entry is one write, envelope or event in the Log.
type Entry struct {
	Seq       int64     `json:"seq"`
	ItemID    string    `json:"item_id"`
	Revision  int64     `json:"revision"`
	Operation Operation `json:"operation"`
}

// Log is what the library keeps of its own writes. Writes come from triggers of
// the database, so they are seen whoever wrote; Envelopes and Events come from
// the repository. For a sound library all three name the same item revisions.
type Log struct {
	Writes    []Entry
	Envelopes []Entry
	Events    []Entry
}
