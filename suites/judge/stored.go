package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// parts is how much of a start or of a note a store holds: of is what belongs to
// it, twice says that something of it is there more than once.
type parts struct {
	is, of int
	twice  bool
}

func (p parts) none() bool  { return p.is == 0 }
func (p parts) whole() bool { return p.is == p.of && !p.twice }

// half says that some of it is there and some is not.
func (p parts) half() bool { return p.is > 0 && p.is < p.of }

func (p parts) String() string {
	switch {
	case p.none():
		return "nothing of it"
	case p.twice:
		return "it more than once"
	case p.whole():
		return "all of it"
	}
	return fmt.Sprintf("%d of its %d parts", p.is, p.of)
}

// partsOf says how much of a start (its anchor, its start intent, its first
// note) or of a note a look at anchors and intents shows.
func partsOf(o history.Operation, anchors, intents []map[string]any) parts {
	notes := countIf(intents, func(row map[string]any) bool { return o.Param("text") != "" && text(row, "text") == o.Param("text") })
	if o.Invoked.Role != "start" {
		return partsFrom(notes)
	}
	own := slices.DeleteFunc(slices.Clone(anchors), func(row map[string]any) bool { return text(row, "task_key") != o.Param("task_key") })
	ids := columns(own, "item_id")
	starts := countIf(intents, func(row map[string]any) bool {
		return text(row, "kind") == "start" && slices.Contains(ids, text(row, "item_id"))
	})
	if o.Param("text") == "" {
		return partsFrom(len(own), starts)
	}
	return partsFrom(len(own), starts, notes)
}

func partsFrom(counts ...int) parts {
	p := parts{of: len(counts)}
	for _, n := range counts {
		p.is += min(n, 1)
		p.twice = p.twice || n > 1
	}
	return p
}

func countIf(rows []map[string]any, fits func(map[string]any) bool) (n int) {
	for _, row := range rows {
		if fits(row) {
			n++
		}
	}
	return n
}

// partsAt is partsOf at a moment, false where the store was not seen then.
func partsAt(h history.History, o history.Operation, when string, of map[string]string) (parts, bool) {
	anchors, okA := lastLook(h, "anchors", when, of)
	intents, okI := lastLook(h, "intents", when, of)
	return partsOf(o, anchors.Rows, intents.Rows), okA && okI
}

// The moments behind a lock on the sidecar.
const (
	whenReleased = "released" // the lock is gone
	whenAgain    = "again"    // the same calls were made again
)

// LockedOut (WR-32): a call that met a locked sidecar (parameter "under") was
// accepted, and is stored as a whole, or was refused as transient, and nothing of
// it is stored. A refused one that is made again without the lock (parameter
// "again") is accepted and stored. The control is that the lock held somebody up:
// a refusal, or an answer that came only behind the lock's end.
func LockedOut(h history.History) Ruling {
	var r Ruling
	heldUp, judged := false, 0
	released := releasedAt(h)
	for _, o := range h.Operations("") {
		if o.Param("under") != "lock" || o.Param("again") != "" {
			continue
		}
		call := fmt.Sprintf("call %s (%s)", o.Invoked.ID, o.Invoked.Role)
		if o.Outcome() == history.Unknown {
			r.doubted("%s got no answer while the sidecar was locked", call)
			continue
		}
		left, ok := partsAt(h, o, whenReleased, nil)
		again, made := madeAgain(h, o)
		switch {
		case !ok:
			r.doubted("the store was not seen behind the lock")
			continue
		case o.Outcome() == history.Refused && !made:
			r.doubted("%s was refused and not made again without the lock", call)
			continue
		case o.Outcome() == history.Refused && forGood(o) && again.Text("failure_code") == o.Text("failure_code"):
			r.doubted("%s was refused without the lock as well, code %q", call, o.Text("failure_code"))
			continue
		}
		judged++
		heldUp = heldUp || o.Outcome() == history.Refused || released > 0 && o.ReturnedAt.Seq > released
		r.lockedOut(o, call, left)
		if made {
			r.acceptedAgain(h, again)
		}
	}
	if judged == 0 && r.silent() {
		r.doubted("no call was made while the sidecar was locked")
	} else if !heldUp && r.silent() {
		r.doubted("the lock held nobody up: every call was acknowledged under it")
	}
	return r
}

func (r *Ruling) lockedOut(o history.Operation, call string, left parts) {
	stored := "the store holds " + left.String()
	switch {
	case left.half():
		r.broke("WR-32", "a call that met a locked sidecar is stored in part", call, stored)
	case o.Outcome() == history.Done && left.none():
		r.broke("WR-32", "a call that met a locked sidecar was acknowledged and is not stored", call, stored)
	case o.Outcome() == history.Refused && !left.none():
		r.broke("WR-32", "a call that met a locked sidecar was refused and is stored", call, stored)
	case o.Outcome() == history.Refused && o.Text("failure_class") != "transient":
		r.broke("WR-32", "a locked sidecar was not told as a transient error", call,
			fmt.Sprintf("class %q, code %q", o.Text("failure_class"), o.Text("failure_code")))
	}
}

// releasedAt is the number of the event at which the lock was given back, 0 if
// it never was.
func releasedAt(h history.History) int64 {
	for _, f := range h.Faults() {
		if e, ok := f.Reached(history.Healed); ok && f.Name == "store-busy" {
			return e.Seq
		}
	}
	return 0
}

// madeAgain is the same call as it was made without the lock.
func madeAgain(h history.History, o history.Operation) (history.Operation, bool) {
	for _, again := range h.Operations(o.Invoked.Role) {
		if again.Param("again") != "" && again.Param("key") == o.Param("key") {
			return again, true
		}
	}
	return history.Operation{}, false
}

// acceptedAgain rules over the same call without the lock.
func (r *Ruling) acceptedAgain(h history.History, o history.Operation) {
	call := fmt.Sprintf("call %s (%s)", o.Invoked.ID, o.Invoked.Role)
	left, ok := partsAt(h, o, whenAgain, nil)
	switch {
	case o.Outcome() == history.Unknown || !ok:
		r.doubted("%s was made again, and its answer or the store behind it was not seen", call)
	case o.Outcome() == history.Refused:
		r.broke("WR-32", "a call is not accepted although the sidecar is free again", call, "answer: "+answerOf(o))
	case !left.whole():
		r.broke("WR-32", "a call that was made again behind a lock is not stored once", call, "the store holds "+left.String())
	}
}

// FullDisk (WR-33): wherever the sidecar has no room a call is answered, it is
// stored as a whole or not at all, as a whole where it was acknowledged; what was
// acknowledged before is there; and with room again a restarted helper accepts
// the same call under the same key and stores it once.
func FullDisk(h history.History) Ruling {
	var r Ruling
	var earlier []history.Operation
	refused := 0
	for _, o := range h.Operations("") {
		switch {
		case o.Param("run") == "" && o.Outcome() == history.Done:
			earlier = append(earlier, o)
		case o.Param("again") == "" && o.Outcome() == history.Refused:
			refused++
		}
	}
	if len(earlier) == 0 {
		r.doubted("nothing was acknowledged before the disk was full")
	}
	if refused == 0 {
		r.doubted("no call was answered with an error, so that no full disk was met")
	}
	all, err := crashes(h)
	if err != nil || !slices.ContainsFunc(all, Crash.Counts) {
		r.doubted("of %s at a full disk none was struck where it should have been", reports.Plural(len(all), "run"))
	}
	return eachRun(h, r, "WR-33", "a full disk was no clean error", func(c Crash) (string, string, error) { return fullDiskAt(h, c, earlier) })
}

func fullDiskAt(h history.History, c Crash, earlier []history.Operation) (left, wrong string, err error) {
	run := map[string]string{"run": c.Run}
	var first, again *history.Operation
	for _, o := range h.Operations("") {
		switch {
		case o.Param("run") != c.Run:
		case o.Param("again") == "":
			first = &o
		default:
			again = &o
		}
	}
	if first == nil {
		return "", "", fmt.Errorf("the call of the run is not recorded")
	}
	is, ok := partsAt(h, *first, whenCrashed, run)
	if !ok {
		return "", "", fmt.Errorf("the store was not seen behind it")
	}
	left = is.String()
	switch {
	case first.Outcome() == history.Unknown:
		return left, "it got no answer", nil
	case is.half() || is.twice:
		return left, "the store holds " + left, nil
	case first.Outcome() == history.Done && !is.whole():
		return left, "it was acknowledged, and the store holds " + left, nil
	}
	for _, moment := range []string{whenCrashed, whenRestarted} {
		for _, o := range earlier {
			if before, ok := partsAt(h, o, moment, run); ok && !before.whole() {
				return left, fmt.Sprintf("of the earlier call %s the store holds %s", o.Invoked.ID, before), nil
			}
		}
	}
	return left, roomAgain(h, c, again), nil
}

// roomAgain says what is wrong with the same call once there is room.
func roomAgain(h history.History, c Crash, again *history.Operation) string {
	for _, m := range h.Marks("restart-failed") {
		if m.Data["run"] == c.Run {
			return fmt.Sprintf("with room again the helper does not start: %v", m.Data["error"])
		}
	}
	switch {
	case again == nil:
		return "with room again the call was not made"
	case again.Outcome() != history.Done:
		return "with room again the same call is not accepted: " + answerOf(*again)
	}
	if is, ok := partsAt(h, *again, whenRestarted, map[string]string{"run": c.Run}); !ok || !is.whole() {
		return "with room again the same call was accepted, and the store holds " + is.String()
	}
	return ""
}
