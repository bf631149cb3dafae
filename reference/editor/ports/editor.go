package ports

// Place is one draft in the editor of one user. What is known of it is never
// shown at another place (RC-27).
type Place struct{ User, Draft string }

// Generations say which editor and which session something belongs to. A reload
// begins a new editor; a sign-out, or another user, a new session (RC-23).
type Generations struct{ Session, Editor int }

// Snapshot is what the editor held at one moment.
type Snapshot struct {
	Saved   Fields
	Visible Fields
	Edits   int // the edit version: how often the person has typed
}

// Unresolved is a command whose outcome is not known, with what was taken as it
// was dispatched.
type Unresolved struct {
	Command     Command
	Dispatched  Snapshot
	Generations Generations
}

// Operation is a mutation or a recheck in flight.
type Operation struct {
	ID      int64
	Command Command // of a recheck, the one that it rechecks
	Recheck bool
}

// Standing is all that is known at a place: what labels and admission are made of.
type Standing struct {
	Place
	Generations Generations
	Loaded      bool // the values below were read
	Saved       Draft
	Visible     Fields
	Edits       int
	InFlight    *Operation  // nil while there is none
	Unresolved  *Unresolved // nil while every outcome is known
}

// Stale says whether the unresolved outcome is of an earlier editor or session.
func (s Standing) Stale() bool {
	return s.Unresolved != nil && s.Unresolved.Generations != s.Generations
}

// HasUnsavedChanges says whether the person sees something that is not saved.
func (s Standing) HasUnsavedChanges() bool { return s.Visible != s.Saved.Fields }

// Recovery is what visible values are made of once a receipt is there.
type Recovery struct {
	Patch      Patch
	Dispatched Snapshot
	Now        Snapshot
	// TypedAt is the edit version at which the person last typed into a field.
	TypedAt map[Field]int
	// Server are the values that the command left.
	Server Fields
}

// Recheck is what a caller asks to have rechecked.
type Recheck struct {
	Kind    Kind
	Draft   string
	Command string
	GiveUp  bool // fence the command if there is no receipt (RC-28)
}

// Ending is how a request ended, by what came of it.
type Ending struct {
	Outcome Outcome
	Code    Code
	// Detail adds to the code's meaning; "" adds nothing.
	Detail  string
	Receipt *Receipt // of Confirmed
}

// Answer is what a mutation or a recheck answers.
type Answer struct {
	Outcome      Outcome  `json:"outcome"`
	CommandID    string   `json:"commandId,omitempty"`
	DraftID      string   `json:"draftId,omitempty"`
	FromRevision int      `json:"fromRevision,omitempty"`
	ToRevision   int      `json:"toRevision,omitempty"`
	Code         Code     `json:"code,omitempty"`
	Reason       string   `json:"reason,omitempty"`
	Recheck      *Pointer `json:"recheck,omitempty"`
}

// Pointer says how an unknown outcome is rechecked.
type Pointer struct {
	Tool    string `json:"tool"`
	Draft   string `json:"draftId"`
	Command string `json:"commandId"`
}

// View is what is shown of a place.
type View struct {
	Draft             string
	User              string // who is signed in, "" for nobody
	Fields            Fields // visible
	Saved             Fields
	Revision          int
	Status            string
	State             State
	HasUnsavedChanges bool
	Unresolved        *Attached // nil while every outcome is known
	// Code and Reason say why the values could not be read anew; "" where they were,
	// or did not have to be.
	Code   Code
	Reason string
}

// Attached names the command whose outcome is unknown.
type Attached struct {
	CommandID string `json:"commandId"`
	Kind      Kind   `json:"kind"`
}
