package judge

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// denial is an operation one step of which is to be denied when its turn comes.
type denial struct {
	operation
	at  int    // the index of that step
	how string // why it is to be denied
}

// denials are the acknowledged starts that name a step to be denied; the others are
// the controls: nothing is wrong with them.
func (r *Ruling) denials(h history.History) (all []denial, controls []operation) {
	for _, o := range r.operations(h) {
		at, err := strconv.Atoi(o.start.Param("denied"))
		switch {
		case o.start.Param("denied") == "":
			controls = append(controls, o)
		case err != nil || at < 0 || at >= len(o.texts):
			r.doubted("the start %s does not say which of its steps is to be denied", o.start.Invoked.ID)
		default:
			all = append(all, denial{o, at, o.start.Param("how")})
		}
	}
	return all, controls
}

// StepDenied (WF-04, WF-05, WF-06): a step that is to be denied is not executed; its
// operation has failed, with those in front of the step done and none behind it
// begun, and status tells the code, where the contract names one. Each way of being
// denied must have been tried. The control is an operation with which nothing is
// wrong: it is completed, and its steps took effect.
func StepDenied(clause, code string, ways ...string) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		all, controls := r.denials(h)
		for _, way := range ways {
			if !slices.ContainsFunc(all, func(d denial) bool { return d.how == way }) {
				r.doubted("no started operation had a step that is to be denied because %s", way)
			}
		}
		for _, d := range all {
			r.stoppedThere(h, d, clause, code)
		}
		r.noneTooMany(h, clause, all, controls)
		r.undeniedRun(h, controls)
		return r
	}
}

// stoppedThere holds an operation to having failed at the step that is to be denied.
func (r *Ruling) stoppedThere(h history.History, d denial, clause, code string) {
	stored, ok := r.checkpoint(h, d.operation, whenConverged)
	if !ok {
		return
	}
	states := stepStates(stored)
	want := slices.Repeat([]string{"pending"}, len(d.texts))
	for i := range d.at {
		want[i] = "done"
	}
	want[d.at] = "failed"
	if len(states) > d.at && slices.ContainsFunc(states[:d.at], func(s string) bool { return s != "done" }) {
		r.doubted("operation %s did not come to the step that is to be denied: its steps are stored as %s", d.id, quoted(states))
		return
	}
	why := fmt.Sprintf("operation %s, step %d: %s", d.id, d.at+1, d.how)
	if text(stored, "state") != "failed" || !slices.Equal(states, want) {
		r.broke(clause, "a step that is to be denied did not fail its operation", why,
			fmt.Sprintf("it is stored as %q with the steps %s, expected \"failed\" with %s", text(stored, "state"), quoted(states), quoted(want)))
		return
	}
	answers := callsAbout(h, "status", whenConverged, d.operation)
	if len(answers) == 0 {
		r.doubted("the status of operation %s was not asked for", d.id)
	}
	for _, a := range answers {
		if a.Outcome() != history.Done || stateOf(a) != "failed" || code != "" && a.Text("code") != code {
			r.broke(clause, "status does not tell why a step was denied", why, says("status", a), fmt.Sprintf("expected failed with the code %q", code))
		}
	}
}

// noneTooMany counts every text against the steps that may execute it: those of the
// controls, and those in front of a step that is to be denied.
func (r *Ruling) noneTooMany(h history.History, clause string, all []denial, controls []operation) {
	allowed, why := map[string]int{}, map[string]string{}
	for _, o := range controls {
		for _, text := range o.texts {
			allowed[text]++
		}
	}
	for _, d := range all {
		for i, text := range d.texts {
			if i < d.at {
				allowed[text]++
			} else {
				why[text] = fmt.Sprintf("operation %s, step %d: %s", d.id, d.at+1, d.how)
			}
		}
	}
	applied, seen := r.effects(h, whenConverged)
	for _, text := range slices.Sorted(maps.Keys(why)) {
		came, _, counted := r.wentOut(h, text, whenConverged)
		if seen && counted && (came > allowed[text] || applied[text] > allowed[text]) {
			r.broke(clause, "a step that is to be denied was executed, or one behind it", why[text],
				fmt.Sprintf("%d requests of %q went out, expected at most %d", came, shortened(text, 60), allowed[text]), inEffect(text, applied[text]))
		}
	}
}

// undeniedRun is the control: what is not to be denied is executed and seen.
func (r *Ruling) undeniedRun(h history.History, controls []operation) {
	if len(controls) == 0 {
		r.doubted("no operation without a step that is to be denied was started")
	}
	for _, o := range controls {
		stored, ok := r.checkpoint(h, o, whenConverged)
		if ok && text(stored, "state") != "completed" {
			r.doubted("operation %s, with which nothing is wrong, is stored as %q, so that a failure says nothing of a denial", o.id, text(stored, "state"))
		}
		applied, seen := r.effects(h, whenConverged)
		for _, text := range o.texts {
			if seen && ok && applied[text] == 0 {
				r.doubted("no effect was seen of a step with which nothing is wrong (%q), so that none seen elsewhere says nothing", shortened(text, 60))
			}
		}
	}
}

// safe is what a safe code looks like: a stable word, and no sentence that could
// hold anything of a caller's.
var safe = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,63}$`)

// OwnCodes (WF-04): each control that denies a step says so with a code of its own.
func OwnCodes(h history.History) Ruling {
	var r Ruling
	all, _ := r.denials(h)
	by := map[string]string{} // code to control
	for _, d := range all {
		for _, a := range callsAbout(h, "status", whenConverged, d.operation) {
			code := a.Text("code")
			other, taken := by[code]
			switch {
			case stateOf(a) != "failed":
			case !safe.MatchString(code):
				r.broke("WF-04", "a denied step has no safe code", fmt.Sprintf("operation %s: %s", d.id, d.how), says("status", a))
			case taken && other != d.how:
				r.broke("WF-04", "two controls deny with the same code", fmt.Sprintf("%q: %s", code, other), fmt.Sprintf("%q: %s", code, d.how))
			default:
				by[code] = d.how
			}
		}
	}
	return r
}

// StepsAudited (WF-04): every step that came to its turn has an audit record with
// its operation and its number, and the one that was denied has its code there.
func StepsAudited(h history.History) Ruling {
	look, ok := lastLook(h, "audit", whenConverged, nil)
	if !ok {
		return doubt("the audit log was not seen")
	}
	var r Ruling
	if !r.hasColumns(look, "operation_id", "step", "code") {
		return r
	}
	judged := 0
	for _, o := range r.operations(h) {
		stored, ok := r.checkpoint(h, o, whenConverged)
		if !ok {
			continue
		}
		for i, state := range stepStates(stored) {
			if state != "done" && state != "failed" {
				continue
			}
			judged++
			own := slices.DeleteFunc(slices.Clone(look.Rows), func(row map[string]any) bool {
				return text(row, "operation_id") != o.id || number(row, "step") != i+1
			})
			step := fmt.Sprintf("operation %s, step %d is %s", o.id, i+1, state)
			switch codes := columns(own, "code"); {
			case len(own) == 0:
				r.broke("WF-04", "a step left no audit record", step)
			case state == "failed" && !slices.Contains(codes, text(stored, "code")):
				r.broke("WF-04", "the audit record of a denied step does not say why", step, fmt.Sprintf("its code is %q, and on record stands %s", text(stored, "code"), quoted(codes)))
			}
		}
	}
	if judged == 0 && r.silent() {
		r.doubted("no step came to its turn")
	}
	return r
}
