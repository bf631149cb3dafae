package judge

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// whenNeighbour is the moment behind a stale write of a second editor.
const whenNeighbour = "neighbour"

// shownBy is what an editor shows of a draft at a moment.
func (r *Ruling) shownBy(h history.History, draft, editor, when string) (map[string]any, bool) {
	look, ok := lastLook(h, "editor", when, map[string]string{"draft": draft, "editor": editor})
	if !ok || len(look.Rows) != 1 {
		r.doubted("the editor %s of draft %s was not seen at the moment %s", editor, draft, when)
		return nil, false
	}
	return look.Rows[0], r.hasColumns(look, "save_state")
}

// NeighbourSeesNothing (RC-27): the unknown outcome of one editor shows in no other
// one of the draft, and the other one's stale write is a conflict that applies nothing
// and settles nothing. That the first editor shows its outcome is the control.
func NeighbourSeesNothing(h history.History) Ruling {
	var r Ruling
	lost, ok := r.theLost(h)
	if !ok {
		return r
	}
	stale := commandsAt(h, whenNeighbour)
	if len(stale) != 1 || stale[0].Invoked.Session == lost.Invoked.Session {
		r.doubted("%d stale writes of a second editor were made, expected one", len(stale))
		return r
	}
	second := stale[0].Invoked.Session
	if shown, seen := r.shownBy(h, lost.draft, lost.Invoked.Session, whenStruck); seen && text(shown, "save_state") != "unknown" {
		r.doubted("the editor whose outcome is unknown does not show it: its label says %q", text(shown, "save_state"))
	}
	for _, when := range []string{whenStruck, whenNeighbour, whenConverged} {
		if shown, seen := r.shownBy(h, lost.draft, second, when); seen && text(shown, "save_state") == "unknown" {
			r.broke("RC-27", "the unknown outcome of one editor shows in another", lost.words(), fmt.Sprintf("%s shows it at the moment %s", second, when))
		}
	}
	for _, o := range h.Operations("read") {
		if o.Invoked.Session == second && o.Param("moment") == whenStruck && o.Text("save_state") == "unknown" {
			r.broke("RC-27", "a read through one editor tells of another one's unknown outcome", lost.words(), answeredWith(o))
		}
	}
	r.staleIsNothing(h, lost, stale[0])
	r.stillRecoverable(h, lost)
	return r
}

// staleIsNothing holds the write of the second editor to its conflict.
func (r *Ruling) staleIsNothing(h history.History, lost, stale command) {
	draft, stored := r.storedDraft(h, lost.draft, whenNeighbour)
	receipts, seen := r.receipts(h, stale, whenNeighbour)
	if !stored || !seen {
		return
	}
	if stale.revision != lost.revision {
		r.doubted("%s was to be stale, and expects another revision than %s", stale.words(), lost.words())
		return
	}
	if got := outcomeOf(stale.Operation); got != "conflict" {
		r.broke("RC-27", "a stale write of another editor is no conflict", stale.words(), answeredWith(stale.Operation))
	}
	if len(receipts) != 0 || text(draft, "changed") != lost.text || number(draft, "revision") != lost.revision+1 {
		r.broke("RC-27", "a stale write of another editor was applied", stale.words(),
			fmt.Sprintf("stored is %q at revision %d with %d receipts of it, expected %q at revision %d with none", text(draft, "changed"), number(draft, "revision"), len(receipts), lost.text, lost.revision+1))
	}
}

// stillRecoverable holds the first editor to its outcome behind the other's conflict.
func (r *Ruling) stillRecoverable(h history.History, lost command) {
	if shown, seen := r.shownBy(h, lost.draft, lost.Invoked.Session, whenNeighbour); seen && text(shown, "save_state") != "unknown" {
		r.broke("RC-27", "the conflict of one editor settles the outcome of another", lost.words(), fmt.Sprintf("its own editor's label says %q then", text(shown, "save_state")))
	}
	asked := rechecks(h, lost, whenConverged)
	if len(asked) == 0 || outcomeOf(asked[0]) != "confirmed" {
		r.doubted("no recheck has confirmed %s, so that the editors were never at rest", lost.words())
	}
}
