package judge

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// UnknownOnceLost (RC-07): a mutation whose response is lost behind the commit is
// answered with OUTCOME_UNKNOWN, with its own command ID and with the tool that asks
// again. The editor goes on showing the old value, and neither saved nor failed, while
// the server has stored the new one.
func UnknownOnceLost(h history.History) Ruling {
	var r Ruling
	for _, c := range r.theCommands(h) {
		r.unknown(c)
		r.staysOld(h, c)
	}
	return r
}

// theCommands are the commands of a history, of which there is one at least.
func (r *Ruling) theCommands(h history.History) []command {
	all := commands(h)
	if len(all) == 0 {
		r.doubted("no command was given")
	}
	return all
}

// unknown holds the answer to a command to OUTCOME_UNKNOWN.
func (r *Ruling) unknown(c command) {
	switch {
	case c.Returned == nil || c.Returned.Answer == nil:
		r.broke("RC-07", "a lost response leaves the caller without any answer", c.words(), "the tool gave no answer: "+answerOf(c.Operation))
		return
	case outcomeOf(c.Operation) != "OUTCOME_UNKNOWN":
		r.broke("RC-07", "a lost response is not told as an unknown outcome", c.words(), answeredWith(c.Operation), "expected OUTCOME_UNKNOWN")
		return
	}
	if id := c.Text("command_id"); id != c.id {
		r.broke("RC-07", "an unknown outcome does not name its own command", c.words(), fmt.Sprintf("the answer names %q", id))
	}
	if c.Text("recheck") == "" {
		r.broke("RC-07", "an unknown outcome does not say how to ask again", c.words(), "the answer names no tool: "+answerOf(c.Operation))
	}
}

// staysOld compares what a person sees with what is stored, once the outcome of a
// command is unknown. That the new value is stored is the control.
func (r *Ruling) staysOld(h history.History, c command) {
	was, seen := r.storedDraft(h, c.draft, whenBefore)
	is, stored := r.storedDraft(h, c.draft, whenStruck)
	shown, visible := r.shown(h, c.draft, whenStruck)
	if !seen || !stored || !visible {
		return
	}
	if number(is, "revision") != c.revision+1 {
		r.doubted("%s was to be committed, and the draft is stored at revision %d", c.words(), number(is, "revision"))
		return
	}
	if c.kind == "update" && text(shown, "changed") != text(was, "changed") {
		r.broke("RC-07", "the editor shows a value of which it cannot know that it is saved", c.words(),
			fmt.Sprintf("the editor showed %q before, and shows %q while the outcome is unknown", text(was, "changed"), text(shown, "changed")))
	}
	if _, there := shown["revision"]; there && number(shown, "revision") != c.revision {
		r.broke("RC-07", "the editor shows a revision of which it cannot know", c.words(),
			fmt.Sprintf("the editor shows revision %d, expected %d; stored is %d", number(shown, "revision"), c.revision, number(is, "revision")))
	}
	if state := text(shown, "save_state"); state != "unknown" {
		r.broke("RC-07", "the editor does not show that an outcome is unknown", c.words(), fmt.Sprintf("its label says %q", state))
	}
}

// OneMutation (RC-09): however its outcome was recovered, a command went to the
// server once. The request that came is the control of the counter.
func OneMutation(h history.History) Ruling {
	var r Ruling
	byKind := map[string][]command{}
	for _, c := range r.theCommands(h) {
		byKind[c.kind+"\x00"+c.draft] = append(byKind[c.kind+"\x00"+c.draft], c)
	}
	for _, commands := range byKind {
		c := commands[0]
		first, _, ok := r.requests(h, c.draft, c.kind, whenBefore)
		came, _, counted := r.requests(h, c.draft, c.kind, whenConverged)
		if !ok || !counted {
			continue
		}
		switch n := came - first; {
		case n == 0:
			r.doubted("no request came to the wire for %s, so that the counter shows nothing", c.words())
		case n > len(commands):
			r.broke("RC-09", "a mutation was sent again", c.words(), fmt.Sprintf("%d requests %q about draft %s came, expected %d", n, c.kind, c.draft, len(commands)))
		}
	}
	return r
}

// ConfirmedByRecheck (RC-11): a recheck once the receipt can be seen confirms the
// command with the revisions of its receipt, and then all surfaces agree: the draft
// is at the new revision with the new value, there is one receipt, and the editor
// shows what is saved.
func ConfirmedByRecheck(h history.History) Ruling {
	var r Ruling
	for _, c := range r.theCommands(h) {
		asked := rechecks(h, c, whenConverged)
		if len(asked) == 0 {
			r.doubted("nobody asked what came of %s", c.words())
			continue
		}
		r.confirmed(asked[len(asked)-1], c)
		r.recovered(h, c)
	}
	return r
}

// confirmed holds a recheck's answer to the command that it is about.
func (r *Ruling) confirmed(o history.Operation, c command) {
	if outcomeOf(o) != "confirmed" {
		r.broke("RC-11", "a command whose receipt is there is not confirmed", c.words(), answeredWith(o))
		return
	}
	if id := o.Text("command_id"); id != c.id {
		r.broke("RC-11", "a recheck confirms another command", c.words(), fmt.Sprintf("the answer names %q", id))
	}
	if from, to := moved(o); from != c.revision || to != c.revision+1 {
		r.broke("RC-11", "a recheck confirms other revisions", c.words(), fmt.Sprintf("confirmed is %d → %d, expected %d → %d", from, to, c.revision, c.revision+1))
	}
}

// recovered compares the surfaces behind a confirmation.
func (r *Ruling) recovered(h history.History, c command) {
	stored, seen := r.storedDraft(h, c.draft, whenConverged)
	receipts, told := r.receipts(h, c, whenConverged)
	shown, visible := r.shown(h, c.draft, whenConverged)
	if !seen || !told || !visible {
		return
	}
	if number(stored, "revision") != c.revision+1 || len(receipts) != 1 {
		r.broke("RC-11", "a confirmed command is not the one that is stored", c.words(),
			fmt.Sprintf("stored is revision %d with %d receipts of it", number(stored, "revision"), len(receipts)))
	}
	if _, there := shown["revision"]; there && number(shown, "revision") != number(stored, "revision") {
		r.broke("RC-11", "the editor does not take the confirmed revision over", c.words(),
			fmt.Sprintf("the editor shows revision %d, stored is %d", number(shown, "revision"), number(stored, "revision")))
	}
	if state := text(shown, "save_state"); state == "unknown" || state == "saving" {
		r.broke("RC-11", "the editor does not come to rest behind a confirmation", c.words(), fmt.Sprintf("its label says %q", state))
	}
}
