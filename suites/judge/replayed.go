package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// ReplayedOnce (RC-04): a command that comes again is answered as the first time, also
// when later ones have moved the draft on, and counts once: in the draft's revision, in
// its receipts, and in what the editor shows.
func ReplayedOnce(h history.History) Ruling {
	var r Ruling
	firsts, replays := map[string]command{}, 0
	for _, c := range inTurn(r.theCommands(h)) {
		first, again := firsts[c.id]
		if !again {
			firsts[c.id] = c
			if outcomeOf(c.Operation) != "confirmed" {
				r.doubted("%s was to be confirmed before it is replayed, and was answered with %s", c.words(), orNone(outcomeOf(c.Operation)))
			}
			continue
		}
		replays++
		from, to := moved(c.Operation)
		wasFrom, wasTo := moved(first.Operation)
		if outcomeOf(c.Operation) != "confirmed" || from != wasFrom || to != wasTo {
			r.broke("RC-04", "a replayed command is not answered with its stored result", c.words(),
				fmt.Sprintf("it was confirmed as %d → %d", wasFrom, wasTo), "replayed, "+answeredWith(c.Operation))
		}
	}
	if replays == 0 {
		r.doubted("no command was replayed")
	}
	r.countedOnce(h, inTurn(commands(h)))
	return r
}

// DuplicatedOnce (RC-04): a command whose request the network delivers twice is
// confirmed, and counts once.
func DuplicatedOnce(h history.History) Ruling {
	var r Ruling
	all := r.theCommands(h)
	for _, c := range all {
		if from, to := moved(c.Operation); outcomeOf(c.Operation) != "confirmed" || from != c.revision || to != c.revision+1 {
			r.broke("RC-04", "a command whose request came twice is not answered with its stored result", c.words(), answeredWith(c.Operation))
		}
	}
	r.countedOnce(h, all)
	return r
}

// inTurn are commands in the order in which they were given.
func inTurn(all []command) []command {
	slices.SortStableFunc(all, func(a, b command) int { return int(a.InvokedAt.Seq - b.InvokedAt.Seq) })
	return all
}

// countedOnce compares the end with one command an ID.
func (r *Ruling) countedOnce(h history.History, all []command) {
	if len(all) == 0 {
		return
	}
	draft, ids := all[0].draft, commandIDs(all)
	r.onceStored(h, draft, ids)
	stored, seen := r.storedDraft(h, draft, whenConverged)
	shown, visible := r.shown(h, draft, whenConverged)
	if !seen || !visible {
		return
	}
	saved := ""
	for _, c := range all {
		if c.id == ids[len(ids)-1] {
			saved = c.text // none of a submission
		}
	}
	if saved != "" && text(stored, "changed") != saved {
		r.broke("RC-04", "a replayed command is applied over a later one", "draft "+draft, fmt.Sprintf("stored is %q, expected that of the last command, %q", text(stored, "changed"), saved))
	}
	if text(shown, "changed") != text(stored, "changed") || text(shown, "save_state") != "saved" {
		r.broke("RC-04", "the editor does not show what is saved behind a replayed command", "draft "+draft,
			fmt.Sprintf("it shows %q and its label says %q; saved is %q", text(shown, "changed"), text(shown, "save_state"), text(stored, "changed")))
	}
}

// onceStored holds a draft to one step of its revision and one receipt a command ID.
func (r *Ruling) onceStored(h history.History, draft string, ids []string) {
	was, seen := r.storedDraft(h, draft, whenBefore)
	is, also := r.storedDraft(h, draft, whenConverged)
	receipts, told := r.allReceipts(h, draft, whenConverged)
	if !seen || !also || !told {
		return
	}
	if n := number(is, "revision") - number(was, "revision"); n != len(ids) {
		r.broke("RC-04", "a command that came again moved the revision", "draft "+draft, fmt.Sprintf("%d commands were given and the revision moved by %d", len(ids), n))
	}
	for _, id := range ids {
		if n := count(receipts)[id]; n != 1 {
			r.broke("RC-04", "a command that came again has not one receipt", "command ID "+id, fmt.Sprintf("stored are %d receipts of it", n))
		}
	}
}

// ReplayedPastOnce (RC-04): the same past the editor, where the whole stored answer
// is compared.
func ReplayedPastOnce(h history.History) Ruling {
	var r Ruling
	firsts, ids, replays, draft := map[string]asking{}, []string{}, 0, ""
	for _, a := range slices.Concat(askings(h, "update"), askings(h, "submit")) {
		id := a.params["command_id"]
		first, again := firsts[id]
		switch {
		case !again:
			firsts[id], draft = a, a.params["draft"]
			ids = append(ids, id)
			if !a.done() {
				r.doubted("%s, which was to be done before it is replayed; %s", a.words(), a.said())
			}
		case a.status == 0:
			r.doubted("%s again, and no answer came", a.words())
		default:
			replays++
			if a.status != first.status || !sameBody(a.body, first.body) {
				r.broke("RC-04", "the server does not answer a replayed command with its stored result", a.words(), "first, "+first.said(), "again, "+a.said())
			}
		}
	}
	if replays == 0 {
		r.doubted("no command was replayed past the editor")
		return r
	}
	if len(r.Doubts) > 0 {
		return r // what was not done moves nothing
	}
	r.onceStored(h, draft, ids)
	return r
}
