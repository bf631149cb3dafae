package judge

import (
	"math"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// never is later than every event.
const never = int64(math.MaxInt64)

// noteCommand is one note that may have been accepted: a text under an
// idempotency key, however often it was sent.
type noteCommand struct {
	text string
	// Acceptance lies between the first attempt that was not refused and the
	// first acknowledgement; acked is never while there was none.
	sent, acked int64
}

// precedes says that n had been acknowledged before other was sent, which is
// the only order that callers can know. Concurrent calls have none, and a retry
// may have been accepted at its first attempt.
func (n noteCommand) precedes(other noteCommand) bool { return n.acked < other.sent }

// itemNotes are the notes of one item.
type itemNotes struct {
	id       string
	commands []noteCommand // in the order in which they were acknowledged
}

// acknowledged are the texts that were accepted, in the order of acceptance.
func (i itemNotes) acknowledged() []string {
	var texts []string
	for _, n := range i.commands {
		if n.acked != never {
			texts = append(texts, n.text)
		}
	}
	return texts
}

// bounds tells how often each text must and may stand on the record: a note
// whose outcome stayed unknown may be there or not.
func (i itemNotes) bounds() (least, most map[string]int) {
	least, most = map[string]int{}, map[string]int{}
	for _, n := range i.commands {
		most[n.text]++
		if n.acked != never {
			least[n.text]++
		}
	}
	return least, most
}

// notesByItem gathers the notes of every item that was started or noted on, the
// first notes that starts carried included.
func notesByItem(h history.History) []itemNotes {
	var all []itemNotes
	at := func(id string) *itemNotes {
		n := slices.IndexFunc(all, func(i itemNotes) bool { return i.id == id })
		if n < 0 {
			all, n = append(all, itemNotes{id: id}), len(all)
		}
		return &all[n]
	}
	for _, id := range items(h) {
		at(id)
	}
	for _, group := range retries(h) {
		id, first := group.item, group.attempts[0]
		if id == "" {
			continue // a start that nobody answered names no item
		}
		n := noteCommand{text: first.Param("text"), sent: never, acked: never}
		for _, o := range group.attempts {
			if o.Outcome() == history.Refused {
				continue // nothing was stored by it
			}
			n.sent = min(n.sent, o.InvokedAt.Seq)
			if o.Outcome() == history.Done {
				n.acked = min(n.acked, o.ReturnedAt.Seq)
			}
		}
		if notes := at(id); n.sent != never {
			notes.commands = append(notes.commands, n)
		}
	}
	for _, i := range all {
		slices.SortStableFunc(i.commands, func(a, b noteCommand) int {
			switch {
			case a.acked < b.acked:
				return -1
			case a.acked > b.acked:
				return 1
			}
			return 0
		})
	}
	return all
}

// attempts are all calls that stand for one note.
type attempts struct {
	item     string
	attempts []history.Operation
}

// retries groups the calls that carry a note by item, key and text.
func retries(h history.History) []*attempts {
	var groups []*attempts
	at := map[[4]string]*attempts{}
	for _, o := range h.Operations("") {
		role, id := o.Invoked.Role, o.Param("item_id")
		switch {
		case role == "note":
		case role == "start" && o.Param("text") != "":
			id = o.Param("task_key")
		default:
			continue
		}
		key := [4]string{role, id, o.Param("key"), o.Param("text")}
		if at[key] == nil {
			at[key] = &attempts{}
			if role == "note" {
				at[key].item = id
			}
			groups = append(groups, at[key])
		}
		g := at[key]
		g.attempts = append(g.attempts, o)
		if role == "start" && g.item == "" && o.Outcome() == history.Done {
			g.item = o.Text("item_id")
		}
	}
	return groups
}
