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

// KeyReuseRefused (WR-08): a call that brings a known key with other content is
// refused by name, and leaves nothing in the store. Such calls carry the
// parameter "reused", which says what is different.
func KeyReuseRefused(h history.History) Ruling {
	var r Ruling
	judged := 0
	for _, o := range h.Operations("") {
		what := o.Param("reused")
		if what == "" {
			continue
		}
		call := fmt.Sprintf("call %s (%s), a known key with %s", o.Invoked.ID, o.Invoked.Role, what)
		switch {
		case !keyWasAccepted(h, o):
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
	}
	r.reuseStoredNothing(h)
	return r
}

// keyWasAccepted says that another content had been acknowledged under the key
// before: by a call that reuses nothing itself.
func keyWasAccepted(h history.History, o history.Operation) bool {
	for _, first := range h.Operations("") {
		if first.Param("key") == o.Param("key") && first.Param("reused") == "" && first.Outcome() == history.Done && endedBefore(first, o.InvokedAt.Seq) {
			return true
		}
	}
	return false
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
