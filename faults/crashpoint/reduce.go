package crashpoint

import "github.com/holdfast-mcp/holdfast/faults/crashpoint/trail"

// Moment is one side of a point.
type Moment struct {
	Point Point `json:"point"`
	Side  Side  `json:"side"`
}

// Moments are both sides of every point that changed durable state or told
// somebody something.
func Moments(r Record) []Moment {
	var all []Moment
	for _, p := range r.changes() {
		all = append(all, Moment{p, Before}, Moment{p, After})
	}
	return all
}

// Reduce keeps one of the moments between which neither durable state nor
// acknowledgements changed. Behind a call and before the next one of the same
// thread nothing happens that could be seen, so the second is kept; between two
// threads both are, because another run may interleave them in another way.
func Reduce(r Record) []Moment {
	points := r.changes()
	var kept []Moment
	for i, p := range points {
		kept = append(kept, Moment{p, Before})
		if i == len(points)-1 || points[i+1].Thread != p.Thread {
			kept = append(kept, Moment{p, After})
		}
	}
	return kept
}

// Run is one run to be made on a fresh copy of the state.
type Run struct {
	Moment
	// Error is the error to be returned instead of executing the call; "" is a kill.
	Error string `json:"error,omitempty"`
}

// Variants that Enumerate knows by default.
var Variants = []string{"", "ENOSPC", "EIO"}

// Enumerate lists the runs to be made: a kill at each of the reduced moments, and
// for each other variant the calls that can return that error. Those are the calls
// that change state, and those that force it to disk: a kill does not tell them
// apart, but a disk reports its errors there. With no variants it takes Variants.
func Enumerate(r Record, variants ...string) []Run {
	if len(variants) == 0 {
		variants = Variants
	}
	var runs []Run
	for _, variant := range variants {
		if variant == "" {
			for _, m := range Reduce(r) {
				runs = append(runs, Run{Moment: m})
			}
			continue
		}
		for _, p := range r.inOrder() {
			if trail.CanFail(p, variant) && (p.Changes() || p.Syncs() && p.Result == 0) {
				runs = append(runs, Run{Moment{p, Before}, variant})
			}
		}
	}
	return runs
}

// ByNumber strikes at the point's number: exact where the calls come in the
// recorded order.
func (r Run) ByNumber() *Trigger { return r.at(Address{N: r.Point.N}) }

// ByAddress strikes at the call, name and occurrence of the point: where ByNumber
// has drifted, because threads interleaved in another way.
func (r Run) ByAddress() *Trigger {
	return r.at(Address{Call: r.Point.Call, Name: r.Point.Name, Occurrence: r.Point.Occurrence})
}

func (r Run) at(a Address) *Trigger {
	if r.Error != "" {
		return &Trigger{At: a, Side: r.Side, Do: Fail, Error: r.Error}
	}
	return &Trigger{At: a, Side: r.Side, Do: Kill}
}

// Variant is what happens there, for a person.
func (r Run) Variant() string {
	if r.Error != "" {
		return r.Error + " instead"
	}
	return "killed " + string(r.Side)
}

// AcksBefore are the acknowledgements that had been made by the moment, as far as
// the target knew: what its other end has read is the harness's to say.
func (r Record) AcksBefore(m Moment) []Point {
	var acks []Point
	for _, p := range r.changes() {
		if p.Kind == Ack && (p.N < m.Point.N || p.N == m.Point.N && m.Side == After) {
			acks = append(acks, p)
		}
	}
	return acks
}
