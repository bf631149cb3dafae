package judge

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// raw is an answer with its text.
func (e ending) raw(answer string) ending {
	e.Answer = json.RawMessage(answer)
	return e
}

// isError is an answer that is an error, with words.
func isError(words string, fields ...any) ending {
	return refused("", "", fields...).raw(fmt.Sprintf(`{"content":[{"type":"text","text":%q}],"isError":true}`, words))
}

// handled is DU-17: two handles, of which the first is tried twice and the second used
// where it was issued and elsewhere.
func handled() history.History {
	s := newStory()
	s.mark("handles", "lifetime", "1h", "after", "", "told", "")
	shown := done("values", list("b", "c"))
	s.call("issue", value("1"), done("handle", "h1"))                                // c1
	s.call("use", params("handle", "h1", "which", "trial"), shown)                   // c2
	s.call("use", params("handle", "h1", "which", "again"), shown)                   // c3
	s.call("issue", value("2"), done("handle", "h2"))                                // c4
	s.call("use", params("handle", "h2", "which", "own"), shown)                     // c5
	s.callOn("helper.2", "use", params("handle", "h2", "which", "elsewhere"), shown) // c6
	return s.told()
}

// later moves everything from a call on by some time.
func later(id string, by time.Duration) edit {
	return func(events []history.Event) []history.Event {
		moved := false
		for i := range events {
			moved = moved || isCall(id, history.Invoked)(events[i])
			if moved {
				events[i].At += by
			}
		}
		return events
	}
}

// at is a history in which times are moved; with would tell it anew, on its own clock.
func at(h history.History, moved edit) history.History {
	return history.History{Events: moved(slices.Clone(h.Events))}
}

func TestHandleWorks(t *testing.T) {
	const call = `call c6: work_use {"handle":"h2","which":"elsewhere"}`
	elsewhere := HandleWorks("after a restart")
	gone := isError("no such handle")
	never := `a handle was not taken on the connection that it was issued on (call c2: ` + string(gone.Answer) + `); check handles.issue and handles.use`
	rules(t, elsewhere, handled(),
		variant{"it is unknown there", edits(ends("c6", gone)), finds(broken("DU-17", "a handle does not work after a restart", call,
			"another one, where it was issued: ", "after a restart: "+string(gone.Answer))), nil},
		variant{"it shows nothing there", edits(ends("c6", done("values", list()))), finds(broken("DU-17", "a handle is taken after a restart, and shows nothing of what it stands for", call,
			`where it was issued: "b", "c"; after a restart: nothing`)), nil},
		variant{"it shows something else there", edits(ends("c6", done("values", list("b")))), finds(broken("DU-17", "a handle shows something else after a restart", call,
			`where it was issued: "b", "c"; after a restart: "b"`)), nil},
		variant{"the order of the values says nothing", edits(ends("c6", done("values", list("c", "b")))), nil, nil},
		variant{"a handle that shows the next each time", edits(ends("c3", done("values", list("c"))), ends("c6", done("values", list("d")))), nil, nil},
		variant{"a handle that is taken once, and works", edits(ends("c3", gone), noCall("c5")), nil, nil},
		variant{"a handle that is taken once, and does not work", edits(ends("c3", gone), noCall("c5"), ends("c6", gone)), finds(broken("DU-17", "a handle does not work after a restart", call,
			"another one, where it was issued: ", "after a restart: "+string(gone.Answer))), nil},
		variant{"no values are mapped", edits(noField("c2", "values"), noField("c3", "values"), noField("c5", "values"), noField("c6", "values")), nil, nil},
		variant{"it never showed anything", edits(ends("c2", done("values", list())), ends("c3", done("values", list())), ends("c5", done("values", list())), ends("c6", done("values", list()))), nil, []string{
			"the handle showed nothing where it was issued, so that nothing elsewhere would not have been noticed; let handles.use show what was written"}},
		variant{"it does not work at all", edits(ends("c2", gone), ends("c6", gone)), nil, []string{never}},
		variant{"no answer", edits(ends("c6", unknown())), nil, []string{"the use of a handle after a restart (call c6) got no answer"}},
		variant{"not used", edits(noCall("c6")), nil, []string{"a handle was not used both where it was issued and after a restart"}},
	)
	expectRuling(t, elsewhere, at(with(handled(), ends("c6", gone)), later("c6", 2*time.Hour)), nil, []string{
		"the handle was used after a restart 2h0m0s after it was issued, and its stated lifetime is 1h0m0s; let the target's handles live longer"})
}

// wrongHandle is DU-17: a handle that works, and one that was never issued.
func wrongHandle() history.History {
	s := newStory()
	s.mark("handles", "lifetime", "", "after", "2s", "told", ".unknown")
	s.call("issue", value("1"), done("handle", "h1"))                                            // c1
	s.call("use", params("handle", "h1", "which", "trial"), done("values", list("b")))           // c2
	s.call("use", params("handle", "x", "which", "wrong"), isError("no handle x", "told", true)) // c3
	return s.told()
}

func TestWrongHandleIsTold(t *testing.T) {
	const call = `call c3: work_use {"handle":"x","which":"wrong"}`
	found := func(summary, answer string, more ...string) []string {
		return append([]string{summary, call, "its answer: " + answer}, more...)
	}
	silent := isError("", "told", true)
	prose := refused("", "").raw(`{"content":[{"type":"text","text":"no such handle"}]}`)
	prose.IsError = false
	for name, c := range map[string]struct {
		e      ending
		finds  []string
		doubts []string
	}{
		"a tool error":            {e: isError("no handle x", "told", true)},
		"a JSON-RPC error":        {e: refused("", "", "told", true).raw(`{"code":-32602,"message":"no handle x"}`)},
		"a structured error":      {e: refused("", "", "told", true).raw(`{"content":[],"structuredContent":{"code":"x"},"isError":true}`)},
		"refused by HTTP":         {e: ending{Outcome: history.Refused, IsError: true, Reason: "HTTP 404", Fields: row("told", true)}},
		"taken for an empty one":  {e: done("values", list()).raw(`{}`), finds: found("a handle that was never issued is answered like one that shows nothing", `{}`)},
		"taken for another":       {e: done("values", list("b")).raw(`{}`), finds: found("a handle that was never issued is answered with a success", `{}`)},
		"told in words":           {e: prose, finds: found("that a handle was never issued is told by the wording of a result only, and not by an error", string(prose.Answer))},
		"told without a word":     {e: silent, finds: found("the error for a handle that was never issued says nothing", string(silent.Answer))},
		"told as something else":  {e: isError("try again", "told", false), finds: found("the error does not say that the handle was never issued", string(isError("try again").Answer), "the target file expects: .unknown")},
		"told in no form that jq": {e: isError("try again"), finds: found("the error does not say that the handle was never issued", string(isError("try again").Answer), "the target file expects: .unknown")},
		"no answer":               {e: unknown(), doubts: []string{"the use of a handle that was never issued (call c3) got no answer"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := with(wrongHandle(), ends("c3", c.e))
			if c.finds == nil {
				expectRuling(t, WrongHandleIsTold("was never issued"), h, nil, c.doubts)
				return
			}
			expectRuling(t, WrongHandleIsTold("was never issued"), h, finds(broken("DU-17", c.finds[0], c.finds[1:]...)), c.doubts)
		})
	}
	rules(t, WrongHandleIsTold("was never issued"), wrongHandle(),
		variant{"nothing is expected of the error", edits(markData("handles", "told", ""), ends("c3", isError("try again"))), nil, nil},
		variant{"no handle works", edits(ends("c2", isError("broken"))), nil, []string{
			`a handle was not taken on the connection that it was issued on (call c2: ` + string(isError("broken").Answer) + `); check handles.issue and handles.use`}},
		variant{"it was not used", edits(noCall("c3")), nil, []string{"a handle that was never issued was not used beside one that works"}},
	)
}

func TestHandleOutlived(t *testing.T) {
	h := with(wrongHandle(), param("c3", "handle", "h1"))
	expectRuling(t, HandleOutlived, at(h, later("c3", 3*time.Second)), nil, nil)
	expectRuling(t, HandleOutlived, wrongHandle(), nil, []string{"when the handle was issued, or how long it lives, is not known"})
	r := HandleOutlived(h)
	if len(r.Findings) != 0 || len(r.Doubts) != 1 {
		t.Errorf("a handle that was used before its time was over is judged\n%s%q", told(r.Findings), r.Doubts)
	}
}
