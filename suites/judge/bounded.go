package judge

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// HungLookupEnds (RC-17): a recheck whose lookup hangs is answered all the same, with
// the outcome still unknown, and nothing stays under way in the editor. That a lookup
// came and was not let through is the control.
func HungLookupEnds(h history.History) Ruling {
	var r Ruling
	for _, c := range r.theCommands(h) {
		_, passedBefore, ok := r.requests(h, c.draft, "lookup", whenStruck)
		came, passed, counted := r.lookups(h, c)
		if !ok || !counted {
			continue
		}
		if came == 0 || passed != passedBefore {
			r.doubted("the lookup of %s was to hang; %d came, and %d passed", c.words(), came, passed-passedBefore)
			continue
		}
		r.stillOpen("RC-17", h, c, "a lookup that hangs")
	}
	return r
}

// SignedOutReleases (RC-18): a recheck that the server answers with 401 leaves the
// outcome unknown, and nothing stays under way in the editor. That a lookup came is
// the control.
func SignedOutReleases(h history.History) Ruling {
	var r Ruling
	for _, c := range r.theCommands(h) {
		came, _, counted := r.lookups(h, c)
		if !counted {
			continue
		}
		if came == 0 {
			r.doubted("no lookup of %s came to the wire, so that none was answered with 401", c.words())
			continue
		}
		if asked := rechecks(h, c, whenRechecked); len(asked) > 0 && outcomeOf(asked[0]) == "confirmed" {
			r.doubted("%s was confirmed although its session was to be over: %s", c.words(), answeredWith(asked[0]))
			continue
		}
		r.stillOpen("RC-18", h, c, "a 401")
	}
	return r
}

// OnceSessionsEnded are rules about an editor whose session was to end. Where SessionsEnded
// has its doubts, nothing of them is held against the editor.
func OnceSessionsEnded(rules ...Rule) Rule {
	return func(h history.History) Ruling {
		if r := SessionsEnded(h); len(r.Doubts) > 0 {
			return r
		}
		return All(rules...)(h)
	}
}

// SessionsEnded is the control of a session that was to end: the server was asked to
// end it, and said that it did.
func SessionsEnded(h history.History) Ruling {
	var r Ruling
	look, ok := lastLook(h, "server-end_sessions", whenStruck, nil)
	if !ok || len(look.Rows) != 1 || number(look.Rows[0], "status")/100 != 2 {
		r.doubted("the server did not say that it has ended the sessions: %v %s", look.Rows, look.Error)
	}
	return r
}

// lookups counts those about a command's draft between the fault and the recheck.
func (r *Ruling) lookups(h history.History, c command) (came, passed int, ok bool) {
	first, _, ok := r.requests(h, c.draft, "lookup", whenStruck)
	came, passed, counted := r.requests(h, c.draft, "lookup", whenRechecked)
	return came - first, passed, ok && counted
}

// stillOpen holds a recheck that could not know, and what a person sees behind it, to
// the outcome of its command, which is still unknown.
func (r *Ruling) stillOpen(clause string, h history.History, c command, why string) {
	asked := rechecks(h, c, whenRechecked)
	if len(asked) != 1 {
		r.doubted("%s was rechecked %d times while it could not be known, expected once", c.words(), len(asked))
		return
	}
	switch o := asked[0]; {
	case o.Returned == nil || o.Returned.Answer == nil:
		r.broke(clause, why+" leaves a recheck without an answer", c.words(), "the tool gave no answer: "+answerOf(o))
	case outcomeOf(o) != "OUTCOME_UNKNOWN":
		r.broke(clause, why+" is taken for an answer to the recheck", c.words(), answeredWith(o), "expected OUTCOME_UNKNOWN")
	case o.Text("command_id") != c.id:
		r.broke(clause, "an outcome that is still unknown does not name its own command", c.words(), fmt.Sprintf("the answer names %q", o.Text("command_id")))
	}
	shown, visible := r.shown(h, c.draft, whenRechecked)
	if !visible {
		return
	}
	switch state := text(shown, "save_state"); state {
	case "unknown":
	case "saving":
		r.broke(clause, why+" leaves the editor saving", c.words(), `its label says "saving" behind the recheck`)
	default:
		r.broke(clause, "the editor does not show that an outcome is still unknown", c.words(), fmt.Sprintf("its label says %q behind the recheck", state))
	}
}

// SignedOutRefuses (RC-19): a mutation that is answered with 401 is refused and never
// unknown; one request came, nothing is stored, and the editor shows what it did.
// That the same editor's mutation in a good session is confirmed is the control.
func SignedOutRefuses(h history.History) Ruling {
	var r Ruling
	refused, controls := 0, 0
	for _, c := range r.theCommands(h) {
		if c.Param("moment") != whenStruck {
			if outcomeOf(c.Operation) == "confirmed" {
				controls++
			}
			continue
		}
		refused++
		r.signedOut(h, c)
	}
	switch {
	case refused == 0:
		r.doubted("no mutation was made that is answered with 401")
	case controls == 0 && r.silent():
		r.doubted("no mutation was confirmed in a good session, so that its refusal shows nothing")
	}
	return r
}

// signedOut holds a mutation that got a 401 to a refusal, on all surfaces.
func (r *Ruling) signedOut(h history.History, c command) {
	first, _, ok := r.requests(h, c.draft, c.kind, whenBefore)
	came, _, counted := r.requests(h, c.draft, c.kind, whenStruck)
	was, seen := r.storedDraft(h, c.draft, whenBefore)
	is, stored := r.storedDraft(h, c.draft, whenStruck)
	receipts, told := r.receipts(h, c, whenStruck)
	shown, visible := r.shown(h, c.draft, whenStruck)
	if !ok || !counted || !seen || !stored || !told || !visible {
		return
	}
	switch n := came - first; {
	case n == 0:
		r.doubted("no request came to the wire for %s, so that none was answered with 401", c.words())
		return
	case n > 1:
		r.broke("RC-19", "a mutation is sent again behind a 401", c.words(), fmt.Sprintf("%d requests %q came, expected 1", n, c.kind))
	}
	if outcomeOf(c.Operation) != "refused" {
		r.broke("RC-19", "a 401 is not told as a refusal", c.words(), answeredWith(c.Operation), "expected refused")
	}
	if number(is, "revision") != number(was, "revision") || len(receipts) != 0 {
		r.broke("RC-19", "a mutation is stored that was answered with 401", c.words(), fmt.Sprintf("stored is revision %d, before it was %d; there are %d receipts of it", number(is, "revision"), number(was, "revision"), len(receipts)))
	}
	if state := text(shown, "save_state"); state == "saving" || state == "unknown" {
		r.broke("RC-19", "the editor does not come to rest behind a 401", c.words(), fmt.Sprintf("its label says %q", state))
	}
}
