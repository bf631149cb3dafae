package judge

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// whenFirst is the moment behind the first use of a command, before it is used again.
const whenFirst = "first"

// allReceipts are the command IDs of a draft's receipts at a moment.
func (r *Ruling) allReceipts(h history.History, draft, when string) ([]string, bool) {
	look, ok := lastLook(h, "receipts", when, map[string]string{"draft": draft})
	if !ok {
		r.doubted("the receipts of draft %s were not seen at the moment %s", draft, when)
		return nil, false
	}
	return columns(look.Rows, "command_id"), r.hasColumns(look, "command_id")
}

// storedAt is all that a store holds of a draft at a moment, in words.
func (r *Ruling) storedAt(h history.History, draft, when string) (string, bool) {
	d, seen := r.storedDraft(h, draft, when)
	receipts, told := r.allReceipts(h, draft, when)
	if !seen || !told {
		return "", false
	}
	return fmt.Sprintf("revision %d with %q and %q, status %q, receipts [%s]",
		number(d, "revision"), text(d, "changed"), text(d, "other"), text(d, "status"), strings.Join(receipts, ", ")), true
}

// keeps holds a store to what it held of a draft at an earlier moment.
func (r *Ruling) keeps(h history.History, clause, summary, draft, from, to string) {
	was, seen := r.storedAt(h, draft, from)
	is, also := r.storedAt(h, draft, to)
	if seen && also && was != is {
		r.broke(clause, summary, "draft "+draft, "before: "+was, "behind it: "+is)
	}
}

// lands doubts a control: a command that is to be confirmed, and to be seen in the
// store at the end.
func (r *Ruling) lands(h history.History, c command) {
	found, seen := r.receipts(h, c, whenConverged)
	if outcomeOf(c.Operation) != "confirmed" || !seen || len(found) != 1 {
		r.doubted("%s, with which nothing is wrong, was answered with %s and has %d receipts in the store, so that a refusal says nothing", c.words(), orNone(outcomeOf(c.Operation)), len(found))
	}
}

// asking is a request past the editor, with what it was answered.
type asking struct {
	name, user, moment string
	params             map[string]string
	status             int // 0 where no answer came
	body               string
}

// askings are the requests of a name past the editor, in their order.
func askings(h history.History, name string) []asking {
	var all []asking
	for _, look := range h.Looks("server-"+name, "") {
		a := asking{name: name, user: look.Params["user"], moment: look.When, params: look.Params}
		if look.Error == "" && len(look.Rows) == 1 {
			a.status, a.body = number(look.Rows[0], "status"), text(look.Rows[0], "body")
		}
		all = append(all, a)
	}
	return all
}

// words is a request in a finding.
func (a asking) words() string {
	who := "nobody"
	if a.user != "" {
		who = "account " + a.user
	}
	return fmt.Sprintf("%s asked the server for %q under command ID %q", who, a.name, a.params["command_id"])
}

// said is its answer in a finding.
func (a asking) said() string {
	const most = 200
	return fmt.Sprintf("it was answered with %d: %s", a.status, shortened(strings.TrimSpace(a.body), most))
}

func (a asking) done() bool    { return a.status/100 == 2 }
func (a asking) refused() bool { return a.status/100 == 4 }

// sameBody compares two bodies as JSON where they are that.
func sameBody(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil {
		return reflect.DeepEqual(x, y)
	}
	return a == b
}

// commandIDs lists the IDs of commands, each once, in the order of their first use.
func commandIDs(all []command) []string {
	var ids []string
	for _, c := range all {
		if !slices.Contains(ids, c.id) {
			ids = append(ids, c.id)
		}
	}
	return ids
}
