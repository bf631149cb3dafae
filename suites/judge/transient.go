package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// KeptWhileTransient (clause: WR-17, WR-21 or WR-36): at every look while the
// guard was shut the same intents were there, retrying with class transient once
// they were tried, at least least times by the last look; afterwards the same
// rows are applied.
func KeptWhileTransient(clause string, least int) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		held, order := r.heldLooks(h)
		if len(order) == 0 {
			r.doubted("the intents were never seen while the guard was shut")
		}
		for _, id := range order {
			r.triedWhileHeld(clause, least, held[id])
			r.sameRowsApplied(clause, h, id, held[id])
		}
		return r
	}
}

// heldLooks are all looks at intents behind the shut guard, by item, with the
// items in the order in which they were first looked at.
func (r *Ruling) heldLooks(h history.History) (looks map[string][]history.Look, order []string) {
	looks = map[string][]history.Look{}
	for _, look := range h.Looks("intents", whenHeld) {
		id := look.Params["item_id"]
		if look.Error != "" {
			r.doubted("the look at the intents of item %s failed: %s", id, look.Error)
			continue
		}
		if !r.hasColumns(look, "seq", "state", "attempts", "class") {
			continue
		}
		if looks[id] == nil {
			order = append(order, id)
		}
		looks[id] = append(looks[id], look)
	}
	return looks, order
}

func (r *Ruling) triedWhileHeld(clause string, least int, looks []history.Look) {
	tried, found := 0, len(r.Findings)
	for _, look := range looks {
		for _, row := range look.Rows {
			switch state, n := text(row, "state"), number(row, "attempts"); {
			case state == "failed":
				r.broke(clause, "a transient cause ended an intent", fmt.Sprintf("%s: failed after %d attempts, code %q", intentOf(row), n, text(row, "code")))
			case n == 0 || state == "applied":
				// It stands behind the head of its queue, or was applied before the guard shut.
			case state != "retrying" || text(row, "class") != "transient":
				r.broke(clause, "an intent that waits for its guard is not classed transient",
					fmt.Sprintf("%s: %q after %d attempts, class %q", intentOf(row), state, n, text(row, "class")))
			default:
				tried = max(tried, n)
			}
		}
	}
	if tried < least && len(r.Findings) == found {
		r.doubted("%d attempts were needed behind the shut guard, %d were seen", least, tried)
	}
}

func (r *Ruling) sameRowsApplied(clause string, h history.History, id string, held []history.Look) {
	end, ok := lastLook(h, "intents", whenConverged, item(id))
	if !ok {
		r.doubted("the intents of item %s were not seen at the end", id)
		return
	}
	is := identities(end.Rows)
	for _, look := range held {
		if was := identities(look.Rows); !slices.Equal(was, is) {
			r.broke(clause, "the intents were not kept as they were: rows came or went while they were retried",
				"behind the guard: "+quoted(was), "at the end: "+quoted(is))
			return
		}
	}
	for _, row := range end.Rows {
		if text(row, "state") != "applied" {
			r.broke(clause, "an intent was not applied after its transient cause was gone",
				fmt.Sprintf("%s is %q", intentOf(row), text(row, "state")))
		}
	}
}

// identities name intents by what must not change while they are retried.
func identities(rows []map[string]any) []string {
	var out []string
	for _, row := range rows {
		name := text(row, "seq") + " " + text(row, "kind")
		if t := text(row, "text"); t != "" {
			name += " " + t
		}
		out = append(out, name)
	}
	return out
}

// AppliedAfterLogin (WR-17): starts are accepted before the account is restored,
// and what was accepted is applied under the ID that was answered then.
func AppliedAfterLogin(h history.History) Ruling {
	var r Ruling
	ids := items(h)
	for _, id := range ids {
		look, ok := lastLook(h, "item", whenConverged, item(id))
		switch {
		case !ok:
			r.doubted("the library was not seen at the end for item %s", id)
		case len(look.Rows) != 1:
			r.broke("WR-17", "a start that was accepted before the login did not become one item",
				fmt.Sprintf("item %s stands in the library %d times", id, len(look.Rows)))
		}
	}
	accepted := map[string]bool{}
	for _, s := range acknowledged(h, "start") {
		accepted[s.Param("key")] = true
	}
	for _, s := range h.Operations("start") {
		switch {
		case accepted[s.Param("key")]:
		case s.Outcome() == history.Refused:
			r.broke("WR-17", "a start before the login was refused",
				fmt.Sprintf("call %s: class %q, code %q", s.Invoked.ID, s.Text("failure_class"), s.Text("failure_code")))
		default:
			r.doubted("call %s (start) got no answer, so that it is not known to be accepted", s.Invoked.ID)
		}
	}
	if len(ids) == 0 && r.silent() {
		r.doubted("no start was acknowledged before the login")
	}
	return r
}

// BlockedForOther (WR-17, another account first): while another account was
// signed in the intents were neither applied nor failed.
func BlockedForOther(h history.History) Ruling {
	var r Ruling
	attempted := false
	for _, look := range r.lastLooks(h, "intents", whenOther) {
		for _, row := range look.Rows {
			attempted = attempted || text(row, "code") == "owner_mismatch" && text(row, "class") == "blocked"
			switch text(row, "state") {
			case "failed":
				r.broke("WR-17", "another account's session ended an intent that is not its own", intentOf(row)+fmt.Sprintf(": code %q", text(row, "code")))
			case "applied":
				r.broke("WR-17", "another account's session applied an intent that is not its own", intentOf(row))
			}
		}
	}
	if !attempted && r.silent() {
		r.doubted("the other account's session was not seen to be turned away")
	}
	return r
}
