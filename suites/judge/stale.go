package judge

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// StaleIsConflict (RC-06): a command that expects a revision which the draft has left
// is a conflict. Nothing changes, the editor shows nothing as unknown or under way, and
// one that expects the present revision is confirmed.
func StaleIsConflict(h history.History) Ruling {
	var r Ruling
	stale, fresh := 0, 0
	for _, c := range r.theCommands(h) {
		if c.Param("stale") == "" {
			fresh++
			r.lands(h, c)
			continue
		}
		stale++
		is, seen := r.storedDraft(h, c.draft, whenFirst)
		switch {
		case seen && number(is, "revision") <= c.revision:
			r.doubted("%s, and the draft was at revision %d, so that it was not stale", c.words(), number(is, "revision"))
			continue
		case c.Returned == nil || c.Returned.Answer == nil:
			r.doubted("%s got no answer: %s", c.words(), answerOf(c.Operation))
		case outcomeOf(c.Operation) != "conflict":
			r.broke("RC-06", "a stale revision is not told as a conflict", c.words(), answeredWith(c.Operation), "expected conflict")
		}
		r.keeps(h, "RC-06", "a command with a stale revision changes the draft", c.draft, whenFirst, whenStruck)
		shown, visible := r.shown(h, c.draft, whenStruck)
		if state := text(shown, "save_state"); visible && (state == "unknown" || state == "saving") {
			r.broke("RC-06", "behind a conflict the editor shows an outcome as open", c.words(), fmt.Sprintf("its label says %q", state))
		}
	}
	if stale == 0 || fresh == 0 {
		r.doubted("%d commands were stale and %d not; one of each is needed", stale, fresh)
	}
	return r
}
