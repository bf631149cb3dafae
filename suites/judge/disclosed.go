package judge

import (
	"strings"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// LookupAuthorized (RC-13): whoever has no session is refused a receipt, and another
// user is answered as about a command that never was; neither is told anything of the
// command. Its owner finds it, and so does the owner's editor.
func LookupAuthorized(h history.History) Ruling {
	var r Ruling
	for _, c := range r.theCommands(h) {
		found, seen := r.receipts(h, c, whenStruck)
		if !seen {
			continue
		}
		if len(found) != 1 {
			r.doubted("%s was to be committed, and the store has %d receipts of it", c.words(), len(found))
			continue
		}
		r.onlyTheOwner(h, c)
		if asked := rechecks(h, c, whenConverged); len(asked) == 0 || outcomeOf(asked[len(asked)-1]) != "confirmed" {
			r.doubted("the owner's editor does not find %s, so that it says nothing that others do not", c.words())
		}
	}
	return r
}

// onlyTheOwner compares what each visitor was told of a command.
func (r *Ruling) onlyTheOwner(h history.History, c command) {
	told := map[string]int{}
	for _, a := range askings(h, "lookup") {
		if a.params["command_id"] != c.id {
			continue
		}
		if a.status == 0 {
			r.doubted("%s, and no answer came", a.words())
			continue
		}
		told[a.params["who"]]++
		switch a.params["who"] {
		case "owner":
			if !a.done() || !strings.Contains(a.body, c.id) {
				r.doubted("%s, who owns it; %s, so that it says nothing that others see nothing", a.words(), a.said())
			}
		case "nobody":
			r.refusedAll(a, c, "a receipt is looked up without a session")
		case "stranger":
			r.refusedAll(a, c, "another user's receipt is disclosed")
			r.likeNone(h, a)
		}
	}
	for _, who := range []string{"owner", "nobody", "stranger"} {
		if told[who] == 0 {
			r.doubted("the receipt of %s was not looked up as %s", c.words(), who)
		}
	}
}

// refusedAll holds an answer to a refusal that says nothing of the command.
func (r *Ruling) refusedAll(a asking, c command, summary string) {
	if !a.refused() {
		r.broke("RC-13", summary, a.words(), a.said(), "expected a refusal")
		return
	}
	if c.text != "" && strings.Contains(a.body, c.text) {
		r.broke("RC-13", summary, a.words(), a.said(), "the refusal holds what the command set")
	}
}

// likeNone compares the answer about a command of somebody else with one about a
// command that never was, under the same draft.
func (r *Ruling) likeNone(h history.History, a asking) {
	for _, none := range askings(h, "lookup") {
		if none.params["who"] != "stranger to none" || none.status == 0 || none.params["draft"] != a.params["draft"] {
			continue
		}
		body := strings.ReplaceAll(none.body, none.params["command_id"], a.params["command_id"])
		if none.status != a.status || !sameBody(a.body, body) {
			r.broke("RC-13", "that another user's command exists is disclosed", a.words(), a.said(), "of a command that never was "+none.said())
		}
		return
	}
	r.doubted("nobody asked about a command that never was, to compare with")
}
