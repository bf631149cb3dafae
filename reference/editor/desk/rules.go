package desk

import (
	"slices"

	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
)

// Admission is the rule of what may begin.
type Admission struct{}

// Mutation refuses a second mutation, and one while an outcome is unknown that can
// be rechecked: nobody could tell then what it started from (RC-22). One of an
// earlier editor can no longer be rechecked, so it stands in nobody's way.
func (Admission) Mutation(_ ports.Kind, s ports.Standing) ports.Code {
	switch {
	case s.Unresolved != nil && !s.Stale():
		return ports.CodeUnresolved
	case s.InFlight != nil:
		return ports.CodeBusy
	}
	return ""
}

// Recheck serves the attached command of the asked kind and draft, and no other.
func (Admission) Recheck(ask ports.Recheck, s ports.Standing) (ports.Unresolved, ports.Code) {
	u := s.Unresolved
	switch {
	case u == nil, u.Command.ID != ask.Command, u.Command.Kind != ask.Kind, u.Command.Draft != ask.Draft:
		return ports.Unresolved{}, ports.CodeNoSuchOutcome
	case s.Stale():
		return ports.Unresolved{}, ports.CodeStaleGeneration
	case s.InFlight != nil:
		return ports.Unresolved{}, ports.CodeBusy
	}
	return *u, ""
}

// Typing is always admitted into a field that there is (RC-22).
func (Admission) Typing(field ports.Field, _ ports.Standing) ports.Code {
	if !slices.Contains(ports.FieldNames(), field) {
		return ports.CodeInvalid
	}
	return ""
}

// Merging is the rule of what is visible once a receipt is there (RC-14, RC-16).
type Merging struct{}

// Merge keeps what was typed after the dispatch. A field that the command set takes
// the server's value otherwise; one that it did not set does so only if it showed
// the saved value at the dispatch: what was typed before that was never saved.
func (Merging) Merge(r ports.Recovery) ports.Fields {
	visible := r.Now.Visible
	for _, f := range ports.FieldNames() {
		_, set := r.Patch[f]
		untouched := r.Dispatched.Visible.Of(f) == r.Dispatched.Saved.Of(f)
		if r.TypedAt[f] <= r.Dispatched.Edits && (set || untouched) {
			visible = visible.With(f, r.Server.Of(f))
		}
	}
	return visible
}

// Showing is the rule of what is shown.
type Showing struct{}

// Show gives the values that the editor holds. A patch is no part of them before
// it is confirmed (RC-07).
func (Showing) Show(s ports.Standing) ports.View {
	v := ports.View{
		Draft: s.Draft, User: s.User, Fields: s.Visible, Saved: s.Saved.Fields, Revision: s.Saved.Revision, Status: s.Saved.Status,
		HasUnsavedChanges: s.HasUnsavedChanges(), State: label(s),
	}
	if u := s.Unresolved; u != nil {
		v.Unresolved = &ports.Attached{CommandID: u.Command.ID, Kind: u.Command.Kind}
	}
	return v
}

func label(s ports.Standing) ports.State {
	switch {
	case s.InFlight != nil:
		return ports.Saving
	case s.Unresolved != nil:
		return ports.OutcomeUnknown
	case s.HasUnsavedChanges():
		return ports.UnsavedChanges
	}
	return ports.Saved
}

// Slots are operations in memory. They are not safe for callers at once: who holds
// the desks holds them too.
type Slots struct {
	held map[ports.Place]ports.Operation
}

// NewSlots makes a place for operations.
func NewSlots() *Slots { return &Slots{map[ports.Place]ports.Operation{}} }

// Begin takes a place that nobody has.
func (s *Slots) Begin(at ports.Place, op ports.Operation) bool {
	if _, held := s.held[at]; held {
		return false
	}
	s.held[at] = op
	return true
}

// Current is the operation at a place.
func (s *Slots) Current(at ports.Place) (ports.Operation, bool) {
	op, held := s.held[at]
	return op, held
}

// End releases an operation, however it ended.
func (s *Slots) End(at ports.Place, id int64, _ ports.Ending) bool {
	op, held := s.held[at]
	if !held || op.ID != id {
		return false
	}
	delete(s.held, at)
	return true
}
