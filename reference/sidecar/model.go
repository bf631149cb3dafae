// Package sidecar is the helper's and the app's shared durable store of anchors
// and intents. It owns the lifetime of an intent and never holds user records.
package sidecar

import (
	"context"
	"encoding/json"
	"errors"
)

// ContractVersion is what this build reads and writes; compared by handshake.
const ContractVersion = 3

// AnchorState is how far an issued item ID has come.
type AnchorState string

// The states of an anchor.
const (
	Provisional AnchorState = "provisional"
	Live        AnchorState = "live"
	Dead        AnchorState = "dead"
)

// IntentState is how far an accepted command has come.
type IntentState string

// The states of an intent.
const (
	Pending  IntentState = "pending"
	Retrying IntentState = "retrying"
	Failed   IntentState = "failed"
	Applied  IntentState = "applied"
)

// Terminal says that nothing more happens to an intent in this state.
func (s IntentState) Terminal() bool { return s == Failed || s == Applied }

// Class says what may help against a failure.
type Class string

// The failure classes.
const (
	Transient Class = "transient" // time helps: the same intent is tried again
	Permanent Class = "permanent" // nothing helps: tried once, then failed
	Blocked   Class = "blocked"   // a person helps: pending until they act
)

// Kind is what an intent asks for.
type Kind string

// The kinds of intent.
const (
	StartKind    Kind = "start"
	NoteKind     Kind = "note"
	StatusKind   Kind = "status"
	CompleteKind Kind = "complete"
	CancelKind   Kind = "cancel"
)

// Failure is a failure by structure (WR-25): no caller needs Reason to decide.
type Failure struct {
	Class  Class  `json:"class"`
	Code   string `json:"code"`   // stable word
	Reason string `json:"reason"` // for a person
}

// Error makes a Failure usable as an error.
func (f *Failure) Error() string { return f.Code + ": " + f.Reason }

// Anchor is the durable record of an issued item ID.
type Anchor struct {
	ItemID  string
	TaskKey string
	Owner   string // account, "" while none was ever bound
	State   AnchorState
	Reason  string // why it is dead
	// StartFailed says that the start failed for good: the anchor stays
	// provisional and can not be used; the next start gets a new item ID.
	StartFailed bool
}

// Usable says that follow-ups may still be accepted under this item ID.
func (a Anchor) Usable() bool { return a.State != Dead && !a.StartFailed }

// Intent is one accepted command.
type Intent struct {
	Seq      int64 // order of acceptance over the whole sidecar
	ItemID   string
	Kind     Kind
	Payload  json.RawMessage
	Key      string // idempotency key
	Digest   string // of the content that the key stands for
	Owner    string
	State    IntentState
	Failure  *Failure // the last failure, nil if none
	Attempts int
}

// Open asks for a record under a task key (work_start).
type Open struct {
	ItemID  string // freshly issued; used only if no record is there
	TaskKey string
	Key     string
	Digest  string
	Payload json.RawMessage
	// FirstNote, when not nil, is accepted in the same transaction after the
	// start, or as a follow-up where the task key already has a record.
	FirstNote json.RawMessage
}

// Opened is what a start found or made.
type Opened struct {
	Anchor   Anchor
	Start    Intent
	Note     *Intent // what this call's FirstNote became, nil if it had none
	Replayed bool    // the idempotency key had been accepted before
	Existing bool    // the task key already had a usable record, and no start was added
}

// Follow asks for a follow-up on an issued item ID.
type Follow struct {
	ItemID  string
	Kind    Kind
	Key     string
	Digest  string
	Payload json.RawMessage
}

// Appended is an accepted follow-up, with its item's anchor as it stood then.
type Appended struct {
	Anchor   Anchor
	Intent   Intent
	Replayed bool // the idempotency key had been accepted before
}

// Errors by structure. ErrBusy is transient with nothing stored (WR-32).
var (
	ErrNeverIssued = errors.New("never issued")
	ErrDead        = errors.New("dead")
	ErrStartFailed = errors.New("start failed")
	ErrKeyReused   = errors.New("idempotency key reused for different content")
	ErrBusy        = errors.New("sidecar busy")
	// ErrStorage: no room, or the file system refuses; transient, nothing stored (WR-33).
	ErrStorage = errors.New("sidecar storage refused the write")
	// ErrUnreadable: the file is no sidecar or is damaged; it is never taken for an empty one.
	ErrUnreadable = errors.New("sidecar unreadable")
	// ErrSettled: the intent is applied or failed already, and stays so.
	ErrSettled = errors.New("intent already settled")
	// ErrNoIntent: no intent has this sequence number.
	ErrNoIntent = errors.New("no such intent")
)

// Accepting is the helper's port: it accepts commands. Every method is one
// transaction; when it has returned without an error its effect is durable.
type Accepting interface {
	// OpenWork stores anchor and start intent together (WR-03), or returns what
	// the key (WR-06) or the task key (WR-16) already has. A key whose item is
	// dead, or whose start failed, is no error here: Opened.Anchor says it.
	// Errors: ErrKeyReused, ErrBusy, ErrStorage.
	OpenWork(ctx context.Context, o Open) (Opened, error)
	// Append stores a follow-up intent, or returns as replayed the one that the
	// key already has, however its item fared since. Errors: ErrNeverIssued,
	// ErrDead, ErrStartFailed, ErrKeyReused, ErrBusy, ErrStorage.
	Append(ctx context.Context, f Follow) (Appended, error)
}

// Reading looks without changing anything.
type Reading interface {
	Anchor(ctx context.Context, itemID string) (Anchor, error)              // ErrNeverIssued
	AnchorOfTask(ctx context.Context, taskKey string) (Anchor, bool, error) // the newest one
	IntentsOf(ctx context.Context, itemID string) ([]Intent, error)         // in order of acceptance
	BoundOwner(ctx context.Context) (string, error)                         // "" while none was ever bound
	Contract(ctx context.Context) (int, error)                              // the version that the file is of now
	Numbers(ctx context.Context) (Numbers, error)
}

// Numbers are the two counts of WR-34 and what stands behind them.
type Numbers struct {
	Retrying  int `json:"retrying"`
	Permanent int `json:"permanent"` // failed intents, and calls that were refused with nothing stored
	Pending   int `json:"pending"`
	Applied   int `json:"applied"`
}

// MarkingDead is what the helper may settle besides accepting (WR-16).
type MarkingDead interface {
	// MarkDead ends an anchor whose item existed and is gone, and fails what is
	// still queued on it (WR-13). A dead anchor keeps its first reason.
	MarkDead(ctx context.Context, itemID, reason string) error
}

// Executing is the app's port: it settles intents. Each method is one transaction.
//
// Settling an intent a second time in the same way changes nothing; in another
// way it is ErrSettled.
type Executing interface {
	MarkingDead
	// BindOwner binds the first restored account to the sidecar and to every
	// ownerless anchor and intent; a later different account changes nothing.
	BindOwner(ctx context.Context, account string) error
	// Runnable returns, in order of acceptance, the next unsettled intent of each
	// item: its start while the anchor is provisional, then its oldest follow-up.
	// A failed follow-up is passed over. Blocked intents are listed too, with
	// their failure: whether something changed since is for the executor to know.
	Runnable(ctx context.Context) ([]Intent, error)
	// TryLater counts an attempt and keeps the intent: transient becomes
	// retrying, blocked stays pending; both keep the failure.
	TryLater(ctx context.Context, seq int64, f Failure) error
	// Fail counts the one attempt and ends the intent. A failed start fails its followers.
	Fail(ctx context.Context, seq int64, f Failure) error
	// Apply counts the attempt and ends the intent as applied; for a start the
	// anchor becomes live in the same transaction.
	Apply(ctx context.Context, seq int64) error
	// MarkLive repairs a provisional anchor whose item is there (WR-11); its
	// start, if still unsettled, is applied with it.
	MarkLive(ctx context.Context, itemID string) error
	// LiveAnchors lists the live anchors of an owner, so that a deletion whose
	// anchor write was lost is found again.
	LiveAnchors(ctx context.Context, owner string) ([]Anchor, error)
	// ProvisionalAnchors lists those to be repaired or applied, without those
	// whose start failed.
	ProvisionalAnchors(ctx context.Context) ([]Anchor, error)
}
