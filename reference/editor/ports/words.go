// Package ports holds the words of receipts and what the editor stands on. Each
// port can be decorated by itself.
package ports

// State is the label that the person sees: one of four, in this order of precedence.
type State string

// The labels.
const (
	Saving         State = "Saving…"         // an operation is in flight
	OutcomeUnknown State = "Outcome unknown" // an unresolved outcome is attached
	UnsavedChanges State = "Unsaved changes" // what is visible is not what is saved
	Saved          State = "Saved"
)

// States lists the labels.
func States() []State { return []State{Saving, OutcomeUnknown, UnsavedChanges, Saved} }

// Outcome is how a mutation or a recheck ended.
type Outcome string

// The outcomes. All but Unknown are definite.
const (
	Confirmed  Outcome = "confirmed"       // a receipt says so
	Conflict   Outcome = "conflict"        // expectedRevision was stale; nothing was applied
	Refused    Outcome = "refused"         // nothing was applied
	NotSent    Outcome = "not_sent"        // no request left
	Unknown    Outcome = "OUTCOME_UNKNOWN" // it may have been applied, and may still be
	NotApplied Outcome = "not_applied"     // fenced: it never will be (RC-28)
)

// Outcomes lists the outcomes.
func Outcomes() []Outcome {
	return []Outcome{Confirmed, Conflict, Refused, NotSent, Unknown, NotApplied}
}

// IsError says whether the answer is one of something not done.
func (o Outcome) IsError() bool { return o != Confirmed && o != NotApplied }

// Kind is what a command does, as its receipt says it.
type Kind string

// The kinds of commands.
const (
	Update     Kind = "update"
	Submission Kind = "submit"
)

// Kinds lists the kinds of commands.
func Kinds() []Kind { return []Kind{Update, Submission} }

// The tools.
const (
	GetDraft          = "get_trip_draft"
	UpdateDraft       = "update_trip_draft"
	SubmitTrip        = "submit_trip"
	RecheckUpdate     = "recheck_trip_update"
	RecheckSubmission = "recheck_trip_submission"
)

// RecheckTool is what rechecks a command of a kind (RC-20).
func (k Kind) RecheckTool() string {
	if k == Submission {
		return RecheckSubmission
	}
	return RecheckUpdate
}

// Code is why something ended as it did, for who decides by structure.
type Code string

// The codes.
const (
	// Of a definite refusal, by the server.
	CodeInvalid          Code = "invalid"
	CodeSignedOut        Code = "signed_out"
	CodeForbidden        Code = "forbidden"
	CodeNotFound         Code = "not_found"
	CodeRevisionConflict Code = "revision_conflict"
	CodeSubmitted        Code = "submitted"
	CodeFenced           Code = "fenced"
	CodeCommandReused    Code = "command_reused"
	CodeRefused          Code = "refused"
	CodeSignInRefused    Code = "sign_in_refused"

	// Of a refusal by the editor: nothing was sent.
	CodeBusy            Code = "busy"
	CodeUnresolved      Code = "unresolved"
	CodeNoSuchOutcome   Code = "no_such_outcome"
	CodeStaleGeneration Code = "stale_generation"

	// Of a request that did not leave, and of an answer that did not come.
	CodeUnreachable Code = "unreachable"
	CodeCancelled   Code = "cancelled"
	CodeDeadline    Code = "deadline"
	CodeAnswerLost  Code = "answer_lost"
	CodeUnavailable Code = "unavailable"
	CodeNoReceipt   Code = "no_receipt"
)

// Meaning says in one sentence what a code stands for and what to do next.
type Meaning struct {
	Code    Code
	Meaning string
}

// Meanings is one sentence a code.
func Meanings() []Meaning {
	return []Meaning{
		{CodeInvalid, "the arguments are not what the tool takes; nothing was applied; mend them and call again"},
		{CodeSignedOut, "nobody is signed in at the server, or the session has ended; sign in through the editor, then call again"},
		{CodeForbidden, "the server forbids this to the user who is signed in; ask the draft's owner"},
		{CodeNotFound, "the user who is signed in has no such draft; look at the draft ID"},
		{CodeRevisionConflict, "the draft has moved on since expectedRevision; nothing was applied; read it again, then decide"},
		{CodeSubmitted, "the draft is submitted and takes no update; nothing was applied"},
		{CodeFenced, "the command was given up before and is refused for good; use a new command ID"},
		{CodeCommandReused, "the command ID was used for something else; nothing was applied; use a new one"},
		{CodeRefused, "the server refused the request; nothing was applied"},
		{CodeSignInRefused, "the server knows no such user with that password; nothing changed"},

		{CodeBusy, "an operation on this draft is in flight; nothing was sent; wait for its answer"},
		{CodeUnresolved, "an outcome on this draft is unknown; nothing was sent; recheck it first"},
		{CodeNoSuchOutcome, "no unresolved outcome of this kind and command is attached to this draft's editor; nothing was sent; get_trip_draft names what is attached"},
		{CodeStaleGeneration, "the outcome belongs to an earlier editor or session and cannot be rechecked here; read the draft again, then decide"},

		{CodeUnreachable, "the server could not be reached; the request did not leave; call again later"},
		{CodeCancelled, "the call was cancelled"},
		{CodeDeadline, "the deadline passed and no answer had come"},
		{CodeAnswerLost, "the request left and no whole answer came"},
		{CodeUnavailable, "the server did not say anything that can be relied on"},
		{CodeNoReceipt, "the server shows no receipt; that alone does not say that the command was not applied"},
	}
}

// MeaningOf is the sentence of a code.
func MeaningOf(code Code) string {
	for _, m := range Meanings() {
		if m.Code == code {
			return m.Meaning
		}
	}
	return ""
}

// Codes lists the codes.
func Codes() []Code {
	var all []Code
	for _, m := range Meanings() {
		all = append(all, m.Code)
	}
	return all
}
