package desk

import "github.com/holdfast-mcp/holdfast/reference/editor/ports"

// Position is where an editor stands, without what was typed.
type Position string

// The positions.
const (
	Idle       Position = "idle"
	Preparing  Position = "preparing"  // a mutation is in flight; no request has left
	Sent       Position = "sent"       // its request may have left
	Doubtful   Position = "unknown"    // its outcome is not known and can be rechecked
	Rechecking Position = "rechecking" // a lookup is in flight
	// The same, while the outcome of a command of an earlier editor or session is
	// not known; it can no longer be rechecked.
	Stale          Position = "stale"
	StalePreparing Position = "stale, preparing"
	StaleSent      Position = "stale, sent"
)

// Positions lists the positions.
func Positions() []Position {
	return []Position{Idle, Preparing, Sent, Doubtful, Rechecking, Stale, StalePreparing, StaleSent}
}

// Event is something that befalls an editor.
type Event string

// The events.
const (
	MutationBegins Event = "mutation begins"
	Dispatched     Event = "dispatched"
	Confirmed      Event = "confirmed"
	NotDone        Event = "refused" // or a conflict
	NotSent        Event = "not sent"
	AnswerLost     Event = "answer lost"
	RecheckBegins  Event = "recheck begins"
	StillUnknown   Event = "still unknown"
	NotApplied     Event = "not applied"
	NewGeneration  Event = "new generation"
)

// Events lists the events.
func Events() []Event {
	return []Event{MutationBegins, Dispatched, Confirmed, NotDone, NotSent, AnswerLost, RecheckBegins, StillUnknown, NotApplied, NewGeneration}
}

// Step is one cell of the table.
type Step struct {
	From  Position
	Event Event
	To    Position
}

// Steps is the whole table. An event that is not in it cannot befall an editor
// there: what would begin is refused, and what would end is over already.
func Steps() []Step {
	return []Step{
		{Idle, MutationBegins, Preparing},
		{Idle, NewGeneration, Idle},

		{Preparing, Dispatched, Sent},
		{Preparing, NotDone, Idle},
		{Preparing, NotSent, Idle},
		{Preparing, NewGeneration, Idle},

		{Sent, Confirmed, Idle},
		{Sent, NotDone, Idle},
		{Sent, NotSent, Idle}, // no connection was to be had
		{Sent, AnswerLost, Doubtful},
		{Sent, NewGeneration, Stale},

		{Doubtful, RecheckBegins, Rechecking},
		{Doubtful, NewGeneration, Stale},

		{Rechecking, Confirmed, Idle},
		{Rechecking, NotApplied, Idle},
		{Rechecking, StillUnknown, Doubtful},
		{Rechecking, NewGeneration, Stale},

		{Stale, MutationBegins, StalePreparing},
		{Stale, NewGeneration, Stale},

		{StalePreparing, Dispatched, StaleSent},
		{StalePreparing, NotDone, Stale},
		{StalePreparing, NotSent, Stale},
		{StalePreparing, NewGeneration, Stale},

		{StaleSent, Confirmed, Idle},
		{StaleSent, NotDone, Stale},
		{StaleSent, NotSent, Stale},
		{StaleSent, AnswerLost, Doubtful},
		{StaleSent, NewGeneration, Stale},
	}
}

// Position says where the editor stands.
func (d *Desk) Position() Position {
	s := d.Standing()
	mutating := s.InFlight != nil && !s.InFlight.Recheck
	switch {
	case mutating && s.Stale() && d.dispatched != nil:
		return StaleSent
	case mutating && s.Stale():
		return StalePreparing
	case mutating && d.dispatched != nil:
		return Sent
	case mutating:
		return Preparing
	case s.InFlight != nil:
		return Rechecking
	case s.Stale():
		return Stale
	case s.Unresolved != nil:
		return Doubtful
	}
	return Idle
}

// EventRule says when an event comes.
type EventRule struct {
	Event Event
	When  string
}

// EventRules is one rule an event.
func EventRules() []EventRule {
	return []EventRule{
		{MutationBegins, "an update or a submission was admitted: nothing is in flight at this draft, and no outcome is unresolved that could be rechecked"},
		{Dispatched, "the draft is loaded and the call was not cancelled; the snapshots are taken, and only then a request may leave"},
		{Confirmed, "a receipt of this command came, with the answer or with a lookup"},
		{NotDone, "the server refused: 409 revision_conflict is a conflict, every other 4xx is refused"},
		{NotSent, "the call was cancelled, ran out of time or found no server before the dispatch; or there was no connection"},
		{AnswerLost, "after the dispatch: 5xx, a cut, the deadline, a cancel, or an answer that is no receipt of this command"},
		{RecheckBegins, "the attached command was asked for, by its own kind, draft and generation, and nothing is in flight"},
		{StillUnknown, "the lookup ended with 404, 401, 403, 5xx, a cut, its deadline or a cancel"},
		{NotApplied, "the lookup found no receipt, the caller gave up, and the server fenced the command"},
		{NewGeneration, "the editor was reloaded, somebody signed out, or another user signed in"},
	}
}

// LabelOf is what the person sees at a position while nothing unsaved is visible.
func LabelOf(p Position) ports.State {
	switch p {
	case Idle:
		return ports.Saved
	case Doubtful, Stale:
		return ports.OutcomeUnknown
	}
	return ports.Saving
}
