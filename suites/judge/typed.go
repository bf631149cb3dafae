package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// keystroke is a text that the person has typed into a field of the editor.
type keystroke struct {
	field, text, moment string
	refused             string // why the editor did not take it; "" where it did
}

// keystrokes are what the person has typed, of a moment; "" means any.
func keystrokes(h history.History, moment string) []keystroke {
	var all []keystroke
	for _, m := range h.Marks("typed") {
		k := keystroke{text(m.Data, "field"), text(m.Data, "text"), text(m.Data, "moment"), text(m.Data, "refused")}
		if moment == "" || k.moment == moment {
			all = append(all, k)
		}
	}
	return all
}

// lastKeystrokes are what the person has typed last into each field at each moment.
func lastKeystrokes(h history.History) []keystroke {
	var last []keystroke
	for _, k := range keystrokes(h, "") {
		last = slices.DeleteFunc(last, func(earlier keystroke) bool { return earlier.field == k.field && earlier.moment == k.moment })
		last = append(last, k)
	}
	return last
}

// words is a keystroke in a finding.
func (k keystroke) words() string {
	when := "while the outcome was unknown"
	if k.moment == whenBefore {
		when = "before the dispatch"
	}
	return fmt.Sprintf("%s the person typed %q into the %s field", when, k.text, k.field)
}

// theLost is the command whose outcome is in doubt: the first one, which no moment
// marks. One that was told otherwise than as unknown leaves nothing to recover.
func (r *Ruling) theLost(h history.History) (command, bool) {
	for _, c := range commands(h) {
		if c.Param("moment") != "" {
			continue
		}
		if outcomeOf(c.Operation) != "OUTCOME_UNKNOWN" {
			r.doubted("%s was to be of unknown outcome, and %s", c.words(), answeredWith(c.Operation))
			return c, false
		}
		return c, true
	}
	r.doubted("no command was given whose outcome is in doubt")
	return command{}, false
}

// isRecovered doubts a command that no recheck has confirmed at the end.
func (r *Ruling) isRecovered(h history.History, c command) bool {
	asked := rechecks(h, c, whenConverged)
	if len(asked) == 0 || outcomeOf(asked[len(asked)-1]) != "confirmed" {
		r.doubted("no recheck has confirmed %s, so that nothing was recovered", c.words())
		return false
	}
	return true
}

// tookKeystroke doubts one that the editor has not shown when it was typed.
func (r *Ruling) tookKeystroke(h history.History, c command, k keystroke) bool {
	shown, ok := r.shown(h, c.draft, k.moment)
	if !ok {
		return false
	}
	if k.refused != "" || text(shown, k.field) != k.text {
		r.doubted("%s, and the editor showed %q then", k.words(), text(shown, k.field))
		return false
	}
	return true
}

// TypedStaysUnsaved (RC-14): what the person typed while the outcome was unknown is
// visible behind the recovery and told as unsaved; saved is what the server had and
// what the command set. That the editor took the text is the control.
func TypedStaysUnsaved(h history.History) Ruling {
	var r Ruling
	c, ok := r.theLost(h)
	if !ok || !r.isRecovered(h, c) {
		return r
	}
	typed := keystrokes(h, whenTyped)
	if len(typed) == 0 {
		r.doubted("the person typed nothing while the outcome was unknown")
	}
	for _, k := range typed {
		if r.tookKeystroke(h, c, k) {
			r.staysTyped(h, c, k)
		}
	}
	return r
}

func (r *Ruling) staysTyped(h history.History, c command, k keystroke) {
	was, seen := r.storedDraft(h, c.draft, whenBefore)
	is, stored := r.storedDraft(h, c.draft, whenConverged)
	shown, visible := r.shown(h, c.draft, whenConverged)
	if !seen || !stored || !visible {
		return
	}
	if now := text(shown, k.field); now != k.text {
		r.broke("RC-14", "what the person typed while the outcome was unknown is gone", k.words(), fmt.Sprintf("behind the recovery the editor shows %q", now))
	}
	if state := text(shown, "save_state"); state != "unsaved" {
		r.broke("RC-14", "what the person typed is not shown as unsaved", k.words(), fmt.Sprintf("behind the recovery its label says %q", state))
	}
	for _, f := range []struct{ field, want string }{{"changed", c.text}, {"other", text(was, "other")}} {
		if got := text(is, f.field); got != f.want {
			r.broke("RC-14", "saved is something else than what the command left", k.words(), fmt.Sprintf("the %s field is stored as %q, expected %q", f.field, got, f.want))
		}
	}
}

// ReadTellsUnsaved (RC-15): a read of the draft behind the recovery has the saved
// values, and says that there are unsaved changes. A read before anything was typed,
// which says that there are none, is the control.
func ReadTellsUnsaved(h history.History) Ruling {
	var r Ruling
	c, ok := r.theLost(h)
	if !ok || !r.isRecovered(h, c) {
		return r
	}
	for _, k := range keystrokes(h, whenTyped) {
		if !r.tookKeystroke(h, c, k) {
			return r
		}
	}
	first, seen := r.readAt(h, c.draft, whenBefore)
	last, read := r.readAt(h, c.draft, whenConverged)
	stored, known := r.storedDraft(h, c.draft, whenConverged)
	if !seen || !read || !known {
		return r
	}
	if first.Field("unsaved") != false {
		r.doubted("the read says of unsaved changes %v also where nothing was typed", first.Field("unsaved"))
		return r
	}
	if last.Field("unsaved") != true {
		r.broke("RC-15", "a read does not say that the person has unsaved changes", fmt.Sprintf("it says %v: %s", last.Field("unsaved"), answerOf(last)))
	}
	for _, f := range []struct{ field, column string }{{"saved_changed", "changed"}, {"saved_other", "other"}, {"revision", "revision"}} {
		if got, want := text(last.Returned.Fields, f.field), text(stored, f.column); got != want {
			r.broke("RC-15", "a read tells something else than what is saved", fmt.Sprintf("%s is told as %q, stored is %q", f.field, got, want))
		}
	}
	return r
}

// readAt is the last read of a draft at a moment; one that told no value is doubted.
func (r *Ruling) readAt(h history.History, draft, moment string) (history.Operation, bool) {
	var last history.Operation
	for _, o := range h.Operations("read") {
		if o.Param("draft") == draft && o.Param("moment") == moment {
			last = o
		}
	}
	if last.Outcome() != history.Done || last.Field("unsaved") == nil || last.Field("saved_changed") == nil || last.Field("saved_other") == nil {
		r.doubted("no read of draft %s at the moment %s tells unsaved, saved_changed and saved_other", draft, moment)
		return last, false
	}
	return last, true
}

// TypedIsToldApart (RC-16): behind the recovery what was typed before the dispatch
// and what was typed after it are told apart, in the field that the command changed
// and in another one. Into the changed one the command's value comes, unless it was
// typed into after the dispatch; the other one was not the command's, and stays.
func TypedIsToldApart(h history.History) Ruling {
	var r Ruling
	c, ok := r.theLost(h)
	if !ok || !r.isRecovered(h, c) {
		return r
	}
	shown, visible := r.shown(h, c.draft, whenConverged)
	moments := map[string]bool{}
	for _, k := range lastKeystrokes(h) {
		moments[k.moment] = true
		if !visible || !r.tookKeystroke(h, c, k) {
			continue
		}
		now := text(shown, k.field)
		fact := fmt.Sprintf("behind the recovery the editor shows %q; the command set %q", now, c.text)
		switch before := k.moment == whenBefore; {
		case before && k.field == "changed" && now != c.text:
			r.broke("RC-16", "what was typed before the dispatch is taken for typed after it", k.words(), fact)
		case k.field == "changed" && !before && now != k.text:
			r.broke("RC-16", "what was typed after the dispatch is taken for typed before it", k.words(), fact)
		case k.field == "other" && now != k.text:
			r.broke("RC-16", "what was typed into a field that the command does not change is gone", k.words(), fact)
		}
	}
	if !moments[whenBefore] || !moments[whenTyped] {
		r.doubted("the person has to have typed before the dispatch and after it; typed was at %v", moments)
	}
	return r
}
