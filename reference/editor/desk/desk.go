// Package desk is the editor of one draft: what is saved, what is visible, what is
// in flight and what is not known. It is a pure state machine: it sends nothing,
// waits for nothing and knows no clock. Callers take turns.
package desk

import (
	"maps"

	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
)

// Rules are what a desk decides by.
type Rules struct {
	Admission  ports.Admission
	Merging    ports.Merging
	Showing    ports.Showing
	Operations ports.Operations
}

// Desk is the editor of one draft.
type Desk struct {
	place       ports.Place
	rules       Rules
	generations ports.Generations

	loaded  bool
	saved   ports.Draft
	visible ports.Fields
	edits   int // the edit version
	typed   map[ports.Field]int
	// turns rises with whatever makes a read that is under way out of date.
	turns int

	dispatched *ports.Unresolved // the mutation in flight, once its request may leave
	unresolved *ports.Unresolved
}

// New is an editor in which nothing was read yet.
func New(at ports.Place, g ports.Generations, rules Rules) *Desk {
	return &Desk{place: at, rules: rules, generations: g, typed: map[ports.Field]int{}}
}

// Standing is all that is known here.
func (d *Desk) Standing() ports.Standing {
	s := ports.Standing{
		Place: d.place, Generations: d.generations, Loaded: d.loaded,
		Saved: d.saved, Visible: d.visible, Edits: d.edits, Unresolved: d.unresolved,
	}
	if op, held := d.rules.Operations.Current(d.place); held {
		s.InFlight = &op
	}
	return s
}

// View is what is shown.
func (d *Desk) View() ports.View { return d.rules.Showing.Show(d.Standing()) }

func (d *Desk) snapshot() ports.Snapshot {
	return ports.Snapshot{Saved: d.saved.Fields, Visible: d.visible, Edits: d.edits}
}

// Reading is the moment at which a read of the draft began.
type Reading struct {
	generations ports.Generations
	turns       int
}

// Read begins a read.
func (d *Desk) Read() Reading { return Reading{d.generations, d.turns} }

// Refreshable says whether values of the server may be shown as they come: not
// while an outcome is open, whose revision the person must go on seeing (RC-07).
func (d *Desk) Refreshable() bool {
	s := d.Standing()
	return s.InFlight == nil && (s.Unresolved == nil || s.Stale())
}

// Load takes what was read. The first values of an editor are taken whole; later
// ones leave alone what the person typed, and change nothing if anything else
// happened since the read began.
func (d *Desk) Load(begun Reading, draft ports.Draft) {
	switch {
	case begun.generations != d.generations:
		return
	case !d.loaded:
		d.first(draft)
		return
	case begun.turns != d.turns || !d.Refreshable() || draft.Revision < d.saved.Revision:
		return
	}
	for _, f := range ports.FieldNames() {
		if d.visible.Of(f) == d.saved.Of(f) {
			d.visible = d.visible.With(f, draft.Of(f))
		}
	}
	d.saved = draft
}

// first takes the first values, all but those of fields that the person was faster with.
func (d *Desk) first(draft ports.Draft) {
	for _, f := range ports.FieldNames() {
		if d.typed[f] == 0 {
			d.visible = d.visible.With(f, draft.Of(f))
		}
	}
	d.loaded, d.saved = true, draft
}

// Loaded says whether the values were read.
func (d *Desk) Loaded() bool { return d.loaded }

// Type is what the person types into a field.
func (d *Desk) Type(field ports.Field, text string) ports.Code {
	if code := d.rules.Admission.Typing(field, d.Standing()); code != "" {
		return code
	}
	d.edits++
	d.typed[field] = d.edits
	d.visible = d.visible.With(field, text)
	return ""
}

// Begin takes the desk for a mutation. Nothing may be sent unless the code is "".
func (d *Desk) Begin(op ports.Operation) ports.Code {
	if code := d.rules.Admission.Mutation(op.Command.Kind, d.Standing()); code != "" {
		return code
	}
	return d.take(op)
}

// Recheck takes the desk for a recheck of what is asked for.
func (d *Desk) Recheck(id int64, ask ports.Recheck) (ports.Operation, ports.Code) {
	u, code := d.rules.Admission.Recheck(ask, d.Standing())
	if code != "" {
		return ports.Operation{}, code
	}
	op := ports.Operation{ID: id, Command: u.Command, Recheck: true}
	return op, d.take(op)
}

func (d *Desk) take(op ports.Operation) ports.Code {
	if !d.rules.Operations.Begin(d.place, op) {
		return ports.CodeBusy
	}
	d.turns++
	return ""
}

// Dispatch takes the snapshots: from now on the request may leave. It returns false
// for an operation that is over, whose request must not leave.
func (d *Desk) Dispatch(op ports.Operation) bool {
	if now, held := d.rules.Operations.Current(d.place); !held || now.ID != op.ID {
		return false
	}
	u := d.now(op.Command)
	d.dispatched = &u
	return true
}

func (d *Desk) now(c ports.Command) ports.Unresolved {
	return ports.Unresolved{Command: c.Clone(), Dispatched: d.snapshot(), Generations: d.generations}
}

// Dispatched says whether the request of a mutation may have left.
func (d *Desk) Dispatched() bool { return d.dispatched != nil }

// Settle ends an operation. It returns false, and changes nothing, for one that is
// over: an answer behind its deadline, or of an earlier editor (RC-29).
func (d *Desk) Settle(op ports.Operation, how ports.Ending) (ports.Answer, bool) {
	if !d.rules.Operations.End(d.place, op.ID, how) {
		return ports.Answer{}, false
	}
	d.turns++
	u := d.about(op)
	if !op.Recheck {
		d.dispatched = nil
	}
	switch how.Outcome {
	case ports.Confirmed:
		d.confirm(u, *how.Receipt)
		d.resolve(op)
	case ports.NotApplied:
		d.resolve(op)
	case ports.Unknown:
		if !op.Recheck {
			d.unresolved = &u
		}
	}
	return answer(op.Command, how), true
}

// about is what was taken at the dispatch of an operation's command. A recheck
// takes no new baseline (RC-16).
func (d *Desk) about(op ports.Operation) ports.Unresolved {
	switch {
	case op.Recheck && d.unresolved != nil && d.unresolved.Command.ID == op.Command.ID:
		return *d.unresolved
	case !op.Recheck && d.dispatched != nil:
		return *d.dispatched
	}
	return d.now(op.Command)
}

// resolve takes the outcome off. A recheck resolves its own command; a mutation
// that is confirmed also what an earlier editor left open (RC-23).
func (d *Desk) resolve(op ports.Operation) {
	if d.unresolved != nil && (!op.Recheck || d.unresolved.Command.ID == op.Command.ID) {
		d.unresolved = nil
	}
}

// confirm takes what a receipt says. One that is older than what is known, as a
// replayed command has, changes no value.
func (d *Desk) confirm(u ports.Unresolved, r ports.Receipt) {
	if r.Draft.Revision < d.saved.Revision {
		return
	}
	d.visible = d.rules.Merging.Merge(ports.Recovery{
		Patch: u.Command.Patch, Dispatched: u.Dispatched, Now: d.snapshot(),
		TypedAt: maps.Clone(d.typed), Server: r.Draft.Fields,
	})
	d.loaded, d.saved = true, r.Draft
}

// Renew begins a new editor or session: values are read anew, and what is in
// flight is over. A mutation that may have left stays unknown and can no longer be
// rechecked (RC-23). It returns the operation that it ended, if there was one.
func (d *Desk) Renew(g ports.Generations) (ended ports.Operation, a ports.Answer, was bool) {
	if op, held := d.rules.Operations.Current(d.place); held {
		how := ports.Ending{Outcome: ports.Unknown, Code: ports.CodeStaleGeneration}
		if !op.Recheck && d.dispatched == nil {
			how = ports.Ending{Outcome: ports.NotSent, Code: ports.CodeCancelled, Detail: "the editor was reloaded, or its session ended"}
		}
		ended = op
		a, was = d.Settle(op, how)
	}
	d.generations = g
	d.turns++
	d.loaded, d.saved, d.visible, d.typed = false, ports.Draft{}, ports.Fields{}, map[ports.Field]int{}
	return ended, a, was
}

// Place is whose editor it is, and of which draft.
func (d *Desk) Place() ports.Place { return d.place }
