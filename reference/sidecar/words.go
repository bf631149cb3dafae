package sidecar

// Code is the stable word of a failure; callers decide by it and its class.
type Code = string

// The codes that an executor settles intents with.
const (
	CodeAccountUnresolved     Code = "account_unresolved"      // transient: no session restored yet
	CodeLibraryBusy           Code = "library_busy"            // transient: another writer holds the library
	CodeLibraryUnavailable    Code = "library_unavailable"     // transient: the library cannot be reached or written
	CodeOwnerMismatch         Code = "owner_mismatch"          // blocked: another account is signed in
	CodeLibraryLocked         Code = "library_locked"          // blocked: its user locked the library
	CodeAccessDenied          Code = "access_denied"           // permanent: access revoked
	CodeItemDeleted           Code = "item_deleted"            // permanent: the person deleted the item
	CodeStartFailed           Code = "start_failed"            // permanent: the item's start failed
	CodeAttachmentMissing     Code = "attachment_missing"      // permanent: no such staged file
	CodeAttachmentOutsideRoot Code = "attachment_outside_root" // permanent: path leaves the staging root
	CodeInvalidContent        Code = "invalid_content"         // permanent: only the executor could see it
	CodeVersionMismatch       Code = "version_mismatch"        // permanent: contract versions disagree
	// CodeUnclassified: an older contract version told the failure and kept no
	// class of it; transient if it was to be tried again, else permanent.
	CodeUnclassified Code = "unclassified"
)

// ExecutorCodes are all codes that a stored failure may carry.
func ExecutorCodes() []Code {
	return []Code{
		CodeAccountUnresolved, CodeLibraryBusy, CodeLibraryUnavailable, CodeOwnerMismatch,
		CodeLibraryLocked, CodeAccessDenied, CodeItemDeleted, CodeStartFailed,
		CodeAttachmentMissing, CodeAttachmentOutsideRoot, CodeInvalidContent, CodeVersionMismatch,
		CodeUnclassified,
	}
}

// StartPayload is what a start asks for.
type StartPayload struct {
	TaskKey string `json:"task_key"`
	Title   string `json:"title"`
}

// NotePayload is what a note asks for.
type NotePayload struct {
	Text       string `json:"text"`
	Attachment string `json:"attachment,omitempty"` // path relative to the staging root
}

// StatusPayload is what a change of status asks for.
type StatusPayload struct {
	Status Status `json:"status"`
}

// Status is where the work on an item stands.
type Status string

// The statuses of an item.
const (
	Todo      Status = "todo"
	Doing     Status = "doing"
	Waiting   Status = "waiting"
	Done      Status = "done"      // also what work_complete sets
	Cancelled Status = "cancelled" // only what work_cancel sets; the item stays
)

// SettableStatuses are those that a status change may name (WR-26, WR-41).
func SettableStatuses() []Status { return []Status{Todo, Doing, Waiting, Done} }
