package judge

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// The moments of a spec of profile WF at which surfaces are looked at, beside
// those of the other profiles.
const (
	whenStruck  = "struck"  // behind the fault, before anybody has acted on it
	whenResumed = "resumed" // behind a resume that has come to rest
)

// operation is one acknowledged start, with the texts of its steps in their order.
type operation struct {
	id    string
	texts []string
	start history.Operation
}

// operations are the acknowledged starts of a history. A start whose answer names
// no operation is doubted: no later call and no look could be about it.
func (r *Ruling) operations(h history.History) []operation {
	var all []operation
	for _, o := range acknowledged(h, "start") {
		op := operation{id: o.Text("operation_id"), start: o}
		if op.id == "" {
			r.doubted("the start %s was acknowledged and its answer names no operation", o.Invoked.ID)
			continue
		}
		if err := json.Unmarshal([]byte(o.Param("texts")), &op.texts); err != nil {
			r.doubted("the start %s does not say which steps it has: %v", o.Invoked.ID, err)
			continue
		}
		all = append(all, op)
	}
	if len(all) == 0 && r.silent() {
		r.doubted("no operation was started")
	}
	return all
}

// about asks for looks at the operation.
func (o operation) about() map[string]string { return map[string]string{"operation_id": o.id} }

// checkpoint is the operation's checkpoint at a moment; false where it was not
// seen, which is doubted.
func (r *Ruling) checkpoint(h history.History, o operation, when string) (map[string]any, bool) {
	look, ok := lastLook(h, "checkpoint", when, o.about())
	switch {
	case !ok:
		r.doubted("the checkpoint of operation %s was not seen at the moment %s", o.id, when)
	case len(look.Rows) == 1:
		return look.Rows[0], true
	case len(look.Rows) > 1:
		r.doubted("the probe checkpoint shows %d rows of operation %s", len(look.Rows), o.id)
	default:
		return nil, true
	}
	return nil, false
}

// effects counts how often the outside service has applied each text by a moment.
func (r *Ruling) effects(h history.History, when string) (map[string]int, bool) {
	look, ok := lastLook(h, "effects", when, nil)
	if !ok {
		r.doubted("what the outside service has applied was not seen at the moment %s", when)
		return nil, false
	}
	if !r.hasColumns(look, "text") {
		return nil, false
	}
	return count(columns(look.Rows, "text")), true
}

// wentOut is how many outside requests with a text had come to the wire, and how
// many of them had passed it, by a moment.
func (r *Ruling) wentOut(h history.History, text, when string) (came, passed int, ok bool) {
	look, ok := lastLook(h, "outside", when, map[string]string{"text": text})
	if !ok || len(look.Rows) != 1 {
		r.doubted("the requests to the outside service were not counted at the moment %s", when)
		return 0, 0, false
	}
	return number(look.Rows[0], "came"), number(look.Rows[0], "passed"), true
}

// stepStates are the states of an operation's steps in a checkpoint.
func stepStates(checkpoint map[string]any) []string {
	list, _ := checkpoint["steps"].([]any)
	states := make([]string, len(list))
	for i, s := range list {
		states[i] = fmt.Sprint(s)
	}
	return states
}

// callsAbout are the calls of a role about an operation at a moment, in order.
func callsAbout(h history.History, role, moment string, o operation) []history.Operation {
	return slices.DeleteFunc(h.Operations(role), func(c history.Operation) bool {
		return c.Param("operation_id") != o.id || c.Param("moment") != moment
	})
}

// stateOf is the operation's state in an answer, "" where there is none.
func stateOf(o history.Operation) string { return o.Text("operation") }

// says is an answer for a finding.
func says(role string, o history.Operation) string {
	return fmt.Sprintf("%s %s was answered %s", role, o.Invoked.ID, answerOf(o))
}

// inEffect is how often a text is in effect, for a finding.
func inEffect(text string, n int) string {
	return fmt.Sprintf("the outside service has applied %q %d times", shortened(text, 60), n)
}
