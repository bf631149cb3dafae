package judge

import (
	"errors"
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// The moments of a sidecar that is lifted.
const (
	whenOld      = "old"      // as an older version has left it
	whenAsOld    = "as-old"   // behind a kill, through the older version's probe
	whenAsNew    = "as-new"   // behind a kill, through the target's own
	whenReplayed = "replayed" // old calls were made again
	whenUnmarked = "unmarked" // before a sidecar was made a newer one
)

// oldSidecar is what an older version has left.
type oldSidecar struct {
	anchors, intents []map[string]any
	deleted          []string
}

// left reads what an older version has left, and doubts one in which a kind of
// record is missing that the clause is about.
func (r *Ruling) left(h history.History) (oldSidecar, bool) {
	anchors, okA := lastLook(h, "anchors", whenOld, nil)
	intents, okI := lastLook(h, "intents", whenOld, nil)
	if !okA || !okI {
		r.doubted("what the older version has left was not seen")
		return oldSidecar{}, false
	}
	was := oldSidecar{anchors: anchors.Rows, intents: intents.Rows}
	for _, m := range h.Marks("deleted") {
		was.deleted = append(was.deleted, text(m.Data, "item_id"))
	}
	if len(was.deleted) == 0 {
		r.doubted("the older version left no record that a person had deleted")
	}
	for _, kind := range []struct {
		is   string
		fits func(map[string]any) bool
	}{
		{"is applied", func(row map[string]any) bool { return text(row, "state") == "applied" }},
		{"has failed", func(row map[string]any) bool { return text(row, "state") == "failed" }},
		{"was turned away", func(row map[string]any) bool { return open(row) && number(row, "attempts") > 0 }},
		{"waits", func(row map[string]any) bool { return open(row) && number(row, "attempts") == 0 }},
	} {
		if countIf(was.intents, kind.fits) == 0 {
			r.doubted("the older version left no intent that %s", kind.is)
		}
	}
	return was, true
}

// open says that an intent has not come to its end.
func open(row map[string]any) bool {
	return text(row, "state") == "pending" || text(row, "state") == "retrying"
}

// LiftedWhole (WR-42): a sidecar of an older version has, once the target's own app
// has lifted it, every anchor and every intent of then and no other; what was open
// is applied, once; what had ended stands as it did; and a call of then is known
// under its key.
func LiftedWhole(h history.History) Ruling {
	var r Ruling
	was, ok := r.left(h)
	if !ok {
		return r
	}
	is, err := liftedTo(h, nil)
	if err != nil {
		r.doubted("%v", err)
		return r
	}
	for _, wrong := range was.against(is) {
		r.broke("WR-42", "a sidecar of an older contract version was not lifted whole", wrong)
	}
	r.keysKept(h, is)
	return r
}

// newSidecar is what the target's own app has made of it.
type newSidecar struct{ anchors, intents, items []map[string]any }

func liftedTo(h history.History, of map[string]string) (newSidecar, error) {
	anchors, okA := lastLook(h, "anchors", whenConverged, of)
	intents, okI := lastLook(h, "intents", whenConverged, of)
	items, okL := lastLook(h, "items", whenConverged, of)
	if !okA || !okI || !okL {
		return newSidecar{}, errors.New("anchors, intents and items were not all seen once it was lifted")
	}
	var missing Ruling
	if !missing.hasColumns(anchors, "item_id", "task_key", "state") || !missing.hasColumns(intents, "seq", "item_id", "state") {
		return newSidecar{}, errors.New(missing.Doubts[0])
	}
	return newSidecar{anchors.Rows, intents.Rows, items.Rows}, nil
}

// against says what is wrong with a sidecar that was lifted.
func (was oldSidecar) against(is newSidecar) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for _, a := range was.anchors {
		of := slices.DeleteFunc(slices.Clone(is.anchors), func(row map[string]any) bool { return text(row, "task_key") != text(a, "task_key") })
		id, task := text(a, "item_id"), text(a, "task_key")
		switch {
		case len(of) != 1:
			say("of the anchor of task key %q there are %d", task, len(of))
		case id != "" && text(of[0], "item_id") != id:
			say("the anchor of task key %q had the item ID %q and has %q", task, id, text(of[0], "item_id"))
		case text(a, "owner") != text(of[0], "owner"):
			say("the anchor of task key %q was owned by %q and is owned by %q", task, text(a, "owner"), text(of[0], "owner"))
		case text(a, "reason") != "" && text(a, "reason") != text(of[0], "reason"):
			say("the anchor of task key %q was dead for the reason %q and is for %q", task, text(a, "reason"), text(of[0], "reason"))
		default:
			if want := was.endOf(a); text(of[0], "state") != want {
				say("the anchor of task key %q was %s and is %s, expected %s", task, text(a, "state"), text(of[0], "state"), want)
			}
		}
	}
	if len(is.anchors) > len(was.anchors) {
		say("there were %d anchors and there are %d", len(was.anchors), len(is.anchors))
	}
	return append(append(wrong, was.intentsAgainst(is)...), is.recordsWrong()...)
}

// endOf is the state that an anchor has to come to.
func (was oldSidecar) endOf(anchor map[string]any) string {
	if text(anchor, "state") == "dead" || slices.Contains(was.deleted, text(anchor, "item_id")) {
		return "dead"
	}
	return "live"
}

func (was oldSidecar) intentsAgainst(is newSidecar) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for _, i := range was.intents {
		n := slices.IndexFunc(is.intents, func(row map[string]any) bool { return text(row, "seq") == text(i, "seq") })
		if n < 0 {
			say("%s, which was %s, is gone", intentOf(i), text(i, "state"))
			continue
		}
		now, want := is.intents[n], "applied"
		if text(i, "state") == "failed" {
			want = "failed"
		}
		switch {
		case text(now, "kind") != text(i, "kind"), text(now, "text") != text(i, "text"):
			say("%s is another one: %s %q instead of %s %q", intentOf(i), text(now, "kind"), text(now, "text"), text(i, "kind"), text(i, "text"))
		case text(i, "item_id") != "" && text(now, "item_id") != text(i, "item_id"):
			say("%s was of item %q and is of item %q", intentOf(i), text(i, "item_id"), text(now, "item_id"))
		case text(now, "state") != want:
			say("%s was %s and is %s, expected %s", intentOf(i), text(i, "state"), text(now, "state"), want)
		case want == "failed" && text(now, "reason") != text(i, "reason"):
			say("%s had failed for the reason %q and is said to have for %q", intentOf(i), text(i, "reason"), text(now, "reason"))
		}
	}
	if len(is.intents) > len(was.intents) {
		say("there were %d intents and there are %d", len(was.intents), len(is.intents))
	}
	return wrong
}

// recordsWrong holds the library against the anchors and the applied notes.
func (is newSidecar) recordsWrong() (wrong []string) {
	for _, a := range is.anchors {
		id := text(a, "item_id")
		records := slices.DeleteFunc(slices.Clone(is.items), func(row map[string]any) bool { return text(row, "item_id") != id })
		live := text(a, "state") == "live"
		if live && len(records) != 1 || !live && len(records) != 0 {
			wrong = append(wrong, fmt.Sprintf("the anchor of item %s is %s and the library has the item %d times", id, text(a, "state"), len(records)))
			continue
		}
		var notes []string
		for _, i := range is.intents {
			if text(i, "item_id") == id && text(i, "kind") == "note" && text(i, "state") == "applied" {
				notes = append(notes, text(i, "text"))
			}
		}
		if live && !slices.Equal(notes, notesOf(records[0])) {
			wrong = append(wrong, fmt.Sprintf("of item %s the notes %s are applied and the record shows %s", id, quoted(notes), quoted(notesOf(records[0]))))
		}
	}
	if len(is.items) > len(is.anchors) {
		wrong = append(wrong, fmt.Sprintf("the library has %d items, and there are %d anchors", len(is.items), len(is.anchors)))
	}
	return wrong
}

// keysKept rules over calls of then that were made again.
func (r *Ruling) keysKept(h history.History, is newSidecar) {
	again := slices.DeleteFunc(h.Operations(""), func(o history.Operation) bool { return o.Param("moment") != whenReplayed })
	if len(again) == 0 {
		r.doubted("no call of then was made again")
	}
	for _, o := range again {
		call := fmt.Sprintf("call %s (%s)", o.Invoked.ID, o.Invoked.Role)
		id := o.Param("item_id")
		for _, a := range is.anchors {
			if o.Invoked.Role == "start" && text(a, "task_key") == o.Param("task_key") {
				id = text(a, "item_id")
			}
		}
		switch {
		case o.Outcome() == history.Unknown:
			r.doubted("%s got no answer", call)
		case o.Outcome() == history.Refused || o.Text("item_id") != id || o.Text("state") != "applied":
			r.broke("WR-42", "a call from before the lift is not known under its key any more", call, fmt.Sprintf("expected item %q, applied", id), "answer: "+answerOf(o))
		}
	}
	intents, okI := lastLook(h, "intents", whenReplayed, nil)
	anchors, okA := lastLook(h, "anchors", whenReplayed, nil)
	switch {
	case !okI || !okA:
		r.doubted("the sidecar was not seen behind the calls that were made again")
	case len(intents.Rows) != len(is.intents) || len(anchors.Rows) != len(is.anchors):
		r.broke("WR-42", "a call from before the lift was taken for a new one",
			fmt.Sprintf("there were %d anchors and %d intents, and there are %d and %d", len(is.anchors), len(is.intents), len(anchors.Rows), len(intents.Rows)))
	}
}

// LiftedAtEachPoint (WR-42): killed at any crash point of the lift, the app leaves a
// sidecar of the old version or one of the new, and started again it has every
// anchor and every intent, and applies everything, as without a kill.
func LiftedAtEachPoint(h history.History) Ruling {
	var r Ruling
	was, ok := r.left(h)
	if !ok {
		return r
	}
	found := map[string]int{}
	points := eachRun(h, Ruling{}, "WR-42", "killed while it lifts a sidecar, the app does not come to all that was in it", func(c Crash) (string, string, error) {
		of := map[string]string{"run": c.Run}
		left := versionLeft(h, of)
		found[left]++
		for _, m := range h.Marks("restart-failed") {
			if text(m.Data, "run") == c.Run {
				return left, fmt.Sprintf("the app does not start again: %v", m.Data["error"]), nil
			}
		}
		is, err := liftedTo(h, of)
		if err != nil {
			return left, "", err
		}
		for _, wrong := range was.against(is) {
			return left, wrong, nil
		}
		if left == "" {
			return left, "it left a sidecar of neither version", nil
		}
		return left, "", nil
	})
	r.Findings, r.Points = append(r.Findings, points.Findings...), points.Points
	r.Doubts = append(r.Doubts, points.Doubts...)
	switch only := h.Marks("one-crash-point"); {
	case len(r.Findings) > 0:
	case len(only) > 0 && found["old"]+found["new"] == 0:
		r.doubted("the run at the one crash point asked for (%v) was not struck there", only[0].Data["point"])
	case len(only) == 0 && (found["old"] == 0 || found["new"] == 0):
		r.doubted("of the runs that were struck where they should have been %d left an old sidecar and %d a new one; at least one of each is needed", found["old"], found["new"])
	}
	if len(r.Findings) == 0 {
		for _, m := range h.Marks("came-to-no-rest") {
			r.doubted("behind run %s nothing came to rest, so that %d more were not made", text(m.Data, "run"), number(m.Data, "not tried"))
		}
	}
	return r
}

// versionLeft says of which version a sidecar is behind a kill, "" for neither: the
// one whose probe can read it.
func versionLeft(h history.History, of map[string]string) string {
	_, isOld := lastLook(h, "intents", whenAsOld, of)
	_, isNew := lastLook(h, "intents", whenAsNew, of)
	switch {
	case isNew:
		return "new"
	case isOld:
		return "old"
	}
	return ""
}

// NewerRefused (WR-42): on a sidecar of a newer version every call of the helper is
// refused by structure, naming both versions, the app shows nothing of it, and its
// bytes stay as they were. The control is that the mark itself changed them.
func NewerRefused(h history.History) Ruling {
	newer, supported := h.Marks("newer"), h.Marks("supported")
	if len(newer) == 0 || len(supported) == 0 {
		return doubt("no sidecar was made a newer one")
	}
	its, own := number(newer[0].Data, "version"), number(supported[0].Data, "version")
	var r Ruling
	about := fmt.Sprintf("the sidecar is of version %d, the target of version %d", its, own)
	for _, o := range r.furtherCalls(h) {
		switch {
		case o.Outcome() == history.Unknown:
		case o.Outcome() == history.Done:
			r.broke("WR-42", "a call was accepted on a sidecar of a newer version", about, callAndAnswer(o))
		case !namesVersions(o, its, own):
			r.broke("WR-42", "the refusal of a newer sidecar does not name both versions", about, callAndAnswer(o))
		case o.Text("failure_class") != "permanent" || o.Text("failure_code") == "":
			r.broke("WR-42", "a newer sidecar was not refused by structure", about,
				fmt.Sprintf("call %s (%s): class %q, code %q", o.Invoked.ID, o.Invoked.Role, o.Text("failure_class"), o.Text("failure_code")))
		}
	}
	if shown, ok := lastLook(h, "items", whenAfterCalls, nil); ok {
		r.broke("WR-42", "the app works on a sidecar of a newer version", about, fmt.Sprintf("it shows %d items", len(shown.Rows)))
	}
	r.bytesKept(h, about)
	return r
}

func (r *Ruling) bytesKept(h history.History, about string) {
	unmarked, okU := lastLook(h, "stores", whenUnmarked, nil)
	before, okB := lastLook(h, "stores", whenBeforeCalls, nil)
	after, okA := lastLook(h, "stores", whenAfterCalls, nil)
	switch {
	case !okU || !okB || !okA:
		r.doubted("the files of the sidecar were not all seen before and after")
		return
	case slices.Equal(sidecarFiles(unmarked), sidecarFiles(before)):
		r.doubted("that the sidecar was made a newer one was not seen in its files, so that another change would not have been seen either")
	case !slices.Equal(sidecarFiles(before), sidecarFiles(after)):
		r.broke("WR-42", "a sidecar of a newer version was changed", about, "before: "+quoted(sidecarFiles(before)), "after: "+quoted(sidecarFiles(after)))
	}
}

// sidecarFiles are the files of the sidecar with the digest of each.
func sidecarFiles(look history.Look) []string {
	var all []string
	for _, row := range look.Rows {
		if text(row, "store") == "sidecar" {
			all = append(all, text(row, "file")+" "+shortened(text(row, "digest"), 16))
		}
	}
	return all
}
