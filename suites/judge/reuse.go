package judge

import (
	"fmt"
	"reflect"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// The moments around the calls that reuse a key, and behind one with a key of
// its own, which shows that a look at the store would have seen an intent more.
const (
	whenKeysKnown = "keys-known"
	whenReused    = "keys-reused"
	whenFreshKey  = "fresh-key"
)

// KeyReuseRefused (WR-08): a call that brings a known key with other content, or for
// another kind of command, is refused by name, and leaves nothing in the store. Such
// calls carry the parameter "reused", which says what is different. The key of each
// kind of command that had been acknowledged must have come again in both ways.
func KeyReuseRefused(h history.History) Ruling {
	var r Ruling
	judged, tried := 0, map[reusedKey]bool{}
	for _, o := range h.Operations("") {
		what := o.Param("reused")
		if what == "" {
			continue
		}
		call := fmt.Sprintf("call %s (%s), a known key with %s", o.Invoked.ID, o.Invoked.Role, what)
		known := acceptedUnderKey(h, o)
		if known != nil {
			tried[reusedKey{known.Invoked.Role, known.Invoked.Role == o.Invoked.Role}] = true
		}
		switch {
		case known == nil:
			r.doubted("%s: nothing had been acknowledged under that key", call)
			continue
		case o.Outcome() == history.Unknown:
			r.doubted("%s: it got no answer, so that it is not known to be refused", call)
			continue
		case o.Outcome() == history.Done:
			r.broke("WR-08", "a key was reused for other content and the call was acknowledged", call, "answer: "+answerOf(o))
		case o.Text("failure_code") != "key_reused" || o.Text("failure_class") != "permanent":
			r.broke("WR-08", "a reused key was not refused for good and by name", call,
				fmt.Sprintf("class %q, code %q", o.Text("failure_class"), o.Text("failure_code")))
		}
		judged++
	}
	if judged == 0 && r.silent() {
		r.doubted("no key was reused")
	} else {
		r.reusedInBothWays(h, tried)
	}
	r.reuseStoredNothing(h)
	return r
}

// reusedKey is a way in which a key came again: whose it was, and whether for a
// command of the same kind.
type reusedKey struct {
	role string
	same bool
}

// acceptedUnderKey is what had been acknowledged under the key of a call before: by
// a call that reuses nothing itself.
func acceptedUnderKey(h history.History, o history.Operation) *history.Operation {
	for _, first := range h.Operations("") {
		if first.Param("key") == o.Param("key") && first.Param("reused") == "" && first.Outcome() == history.Done && endedBefore(first, o.InvokedAt.Seq) {
			return &first
		}
	}
	return nil
}

// reusedInBothWays wants the key of each kind of command to have come again for
// other content of that kind and for another kind.
func (r *Ruling) reusedInBothWays(h history.History, tried map[reusedKey]bool) {
	begun := never
	for _, o := range h.Operations("") {
		if o.Param("reused") != "" {
			begun = min(begun, o.InvokedAt.Seq)
		}
	}
	seen := map[string]bool{}
	for _, o := range h.Operations("") {
		role := o.Invoked.Role
		if seen[role] || o.Param("key") == "" || o.Outcome() != history.Done || !endedBefore(o, begun) {
			continue
		}
		seen[role] = true
		if !tried[reusedKey{role, true}] {
			r.doubted("no key of a %s was reused for other content", role)
		}
		if !tried[reusedKey{role, false}] {
			r.doubted("no key of a %s was reused for another kind of command", role)
		}
	}
}

func (r *Ruling) reuseStoredNothing(h history.History) {
	for _, probe := range []string{"anchors", "intents"} {
		before, okB := lastLook(h, probe, whenKeysKnown, nil)
		after, okA := lastLook(h, probe, whenReused, nil)
		switch {
		case !okB || !okA:
			r.doubted("the %s were not seen both before and after the keys were reused", probe)
		case len(before.Rows) == 0:
			r.doubted("no %s were seen before the keys were reused, so that nothing more would have been seen either", probe)
		case !reflect.DeepEqual(before.Rows, after.Rows):
			r.broke("WR-08", "a call with a reused key left something in the store",
				fmt.Sprintf("%s before: %s", probe, reports.Plural(len(before.Rows), "row")),
				fmt.Sprintf("%s after: %s", probe, reports.Plural(len(after.Rows), "row")))
		}
	}
	after, okA := lastLook(h, "intents", whenReused, nil)
	control, okC := lastLook(h, "intents", whenFreshKey, nil)
	if !okA || !okC || len(control.Rows) <= len(after.Rows) {
		r.doubted("an intent under a fresh key was not seen in the store, so that one under a reused key would not have been seen either")
	}
}
