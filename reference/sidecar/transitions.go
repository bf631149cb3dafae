package sidecar

// Event is something that happens to an intent or to an anchor.
type Event string

// The events. The executor's are the methods of Executing.
const (
	Accepted   Event = "accepted"    // OpenWork or Append stored it
	LateAgain  Event = "late again"  // TryLater with class transient
	BlockedNow Event = "blocked now" // TryLater with class blocked
	FailedOnce Event = "failed"      // Fail
	AppliedNow Event = "applied"     // Apply
	FoundThere Event = "found there" // MarkLive: the item is in the library
	FoundGone  Event = "found gone"  // MarkDead: the item was there and is gone
)

// IntentStep is one cell of the intents' table: what an event makes of a start
// or a follow-up in a state.
type IntentStep struct {
	Start bool        // of a start, else of a follow-up
	From  IntentState // "" before acceptance
	Event Event
	To    IntentState
	// Refused is the error that the event gets; nothing changes then.
	Refused error
}

// AnchorStep is one cell of the anchors' table. Spent stands for a provisional
// anchor whose start failed.
type AnchorStep struct {
	From    AnchorState // "" before the ID is issued
	Event   Event       // of the anchor, or of its start
	To      AnchorState
	Refused error
}

// Spent is how the tables name a provisional anchor whose start failed.
const Spent AnchorState = "provisional, start failed"

// IntentSteps is the whole table: every state, every event. Events of the anchor
// settle what is queued on it.
func IntentSteps() []IntentStep {
	var all []IntentStep
	for _, start := range []bool{true, false} {
		all = append(all, IntentStep{Start: start, Event: Accepted, To: Pending})
		for _, from := range []IntentState{Pending, Retrying} {
			found := from // a follow-up does not care that its item was found
			if start {
				found = Applied
			}
			all = append(all,
				IntentStep{Start: start, From: from, Event: LateAgain, To: Retrying},
				IntentStep{Start: start, From: from, Event: BlockedNow, To: Pending},
				IntentStep{Start: start, From: from, Event: FailedOnce, To: Failed},
				IntentStep{Start: start, From: from, Event: AppliedNow, To: Applied},
				IntentStep{Start: start, From: from, Event: FoundThere, To: found},
				IntentStep{Start: start, From: from, Event: FoundGone, To: Failed})
		}
		for _, from := range []IntentState{Failed, Applied} {
			all = append(all,
				IntentStep{Start: start, From: from, Event: LateAgain, To: from, Refused: ErrSettled},
				IntentStep{Start: start, From: from, Event: BlockedNow, To: from, Refused: ErrSettled},
				settled(start, from, FailedOnce, Failed),
				settled(start, from, AppliedNow, Applied))
		}
		all = append(all,
			IntentStep{Start: start, From: Applied, Event: FoundThere, To: Applied},
			IntentStep{Start: start, From: Applied, Event: FoundGone, To: Applied})
	}
	return append(all,
		IntentStep{From: Failed, Event: FoundThere, To: Failed},
		IntentStep{From: Failed, Event: FoundGone, To: Failed},
		IntentStep{Start: true, From: Failed, Event: FoundThere, To: Failed, Refused: ErrStartFailed},
		IntentStep{Start: true, From: Failed, Event: FoundGone, To: Failed, Refused: ErrStartFailed})
}

// settled is a second end of an intent: the same one changes nothing, the other
// is refused.
func settled(start bool, from IntentState, e Event, end IntentState) IntentStep {
	s := IntentStep{Start: start, From: from, Event: e, To: from}
	if from != end {
		s.Refused = ErrSettled
	}
	return s
}

// AnchorSteps is the whole table: every state, every event; what befalls a start
// can not befall an ID that was never issued. It only goes forward, and a dead anchor never comes back (WR-40).
func AnchorSteps() []AnchorStep {
	return []AnchorStep{
		{From: "", Event: Accepted, To: Provisional},
		{From: "", Event: FoundThere, To: "", Refused: ErrNeverIssued},
		{From: "", Event: FoundGone, To: "", Refused: ErrNeverIssued},
		{From: Provisional, Event: LateAgain, To: Provisional},
		{From: Provisional, Event: BlockedNow, To: Provisional},
		{From: Provisional, Event: FailedOnce, To: Spent},
		{From: Provisional, Event: AppliedNow, To: Live},
		{From: Provisional, Event: FoundThere, To: Live},
		{From: Provisional, Event: FoundGone, To: Dead},
		{From: Spent, Event: LateAgain, To: Spent, Refused: ErrSettled},
		{From: Spent, Event: BlockedNow, To: Spent, Refused: ErrSettled},
		{From: Spent, Event: AppliedNow, To: Spent, Refused: ErrSettled},
		{From: Spent, Event: FailedOnce, To: Spent},
		{From: Spent, Event: FoundThere, To: Spent, Refused: ErrStartFailed},
		{From: Spent, Event: FoundGone, To: Spent, Refused: ErrStartFailed},
		{From: Live, Event: LateAgain, To: Live, Refused: ErrSettled},
		{From: Live, Event: BlockedNow, To: Live, Refused: ErrSettled},
		{From: Live, Event: AppliedNow, To: Live},
		{From: Live, Event: FailedOnce, To: Live, Refused: ErrSettled},
		{From: Live, Event: FoundThere, To: Live},
		{From: Live, Event: FoundGone, To: Dead},
		{From: Dead, Event: LateAgain, To: Dead, Refused: ErrSettled},
		{From: Dead, Event: BlockedNow, To: Dead, Refused: ErrSettled},
		{From: Dead, Event: AppliedNow, To: Dead},
		{From: Dead, Event: FailedOnce, To: Dead, Refused: ErrSettled},
		{From: Dead, Event: FoundThere, To: Dead, Refused: ErrDead},
		{From: Dead, Event: FoundGone, To: Dead},
	}
}

// EventRule says of an event who may bring it about and when, and what its
// transaction does besides the step of the tables.
type EventRule struct {
	Event Event
	By    string // "helper", "app", or both
	Guard string
	Also  string
}

// EventRules is one rule an event.
func EventRules() []EventRule {
	return []EventRule{
		{Accepted, "helper", "the key is new to its owner; for a start the task key has no usable anchor, for a follow-up the anchor is usable",
			"remembers what the key stands for; a start stores its anchor with it, and its first note behind it"},
		{LateAgain, "app", "the executor tried, and time may help (class transient)", "counts the attempt, keeps the failure"},
		{BlockedNow, "app", "the executor tried, and only a person can help (class blocked)", "counts the attempt, keeps the failure"},
		{FailedOnce, "app", "the executor tried, and nothing can help (class permanent)",
			"counts the attempt, keeps the failure; a start marks its anchor start_failed and fails what is queued behind it (start_failed)"},
		{AppliedNow, "app", "the write is in the library", "counts the attempt, clears the failure; a start makes its anchor live"},
		{FoundThere, "app", "the owner is signed in, the anchor is provisional, the library has the item", "applies the start, if that is still open"},
		{FoundGone, "helper, app", "the owner is signed in, the item was made, and the library has it no more", "keeps the reason; fails everything that is queued on the item (item_deleted)"},
	}
}
