package judge

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// Misread is why a target file may have read a history's answers and surfaces of
// profile receipts in the wrong place: where an answer holds what is expected of it,
// only not where the jq looks, and where a surface shows something else than the store
// before anything has happened. Each reason names the key to look at. What was misread
// is the target file's fault, and nothing that can be held against the target.
func Misread(h history.History) []string {
	m := misreading{h: h}
	if len(h.Looks("draft", "")) == 0 {
		return nil // of another profile
	}
	for _, o := range h.Operations("") {
		if at := slices.Index(receiptRoles, o.Invoked.Role); at < 0 || o.Returned == nil || o.Returned.Answer == nil || o.Returned.Unmapped {
			continue
		}
		m.outcome(o)
		m.command(o)
		m.recheck(o)
		m.revisions(o)
	}
	m.tools()
	m.surfaces()
	m.requests()
	return m.why
}

var receiptRoles = []string{"read", "update", "submit", "recheck_update", "recheck_submit"}

// outcomeWords are the outcomes of the contract.
var outcomeWords = []string{"confirmed", "conflict", "refused", "not_sent", "OUTCOME_UNKNOWN", "not_applied"}

// misreading gathers the reasons.
type misreading struct {
	h   history.History
	why []string
}

func (m *misreading) say(format string, args ...any) {
	if why := fmt.Sprintf(format, args...); !slices.Contains(m.why, why) {
		m.why = append(m.why, why)
	}
}

// key is where the target file says how a field of an answer is read.
func key(o history.Operation, field string) string {
	return "profiles.receipts.tools." + o.Invoked.Role + ".answer." + field
}

// elsewhere reports that an answer holds what a field is expected to say, at a place
// that no field is read from. Values that other fields say explain their places.
func (m *misreading) elsewhere(o history.Operation, field string, want any) {
	for _, l := range leavesOf(o.Returned.Answer) {
		if l.value != want {
			continue
		}
		m.say("the answer of %s (%s) says %v at %s, and %s in the target file reads %s there; correct that jq",
			o.Invoked.Tool, o.Invoked.ID, want, l.path, key(o, field), orNothing(o.Field(field)))
		return
	}
}

func orNothing(v any) string {
	if v == nil {
		return "nothing"
	}
	return fmt.Sprintf("%v", v)
}

// outcome holds the outcome of an answer to the contract's words.
func (m *misreading) outcome(o history.Operation) {
	if o.Invoked.Role == "read" {
		return
	}
	switch said := outcomeOf(o); {
	case slices.Contains(outcomeWords, said):
	case o.Outcome() == history.Done:
		m.say("the answer of %s (%s) is no refusal, and %s in the target file reads %s there, expected one of %s; check that jq, vocabulary.outcome, and profiles.receipts.tools.%s.name",
			o.Invoked.Tool, o.Invoked.ID, key(o, "outcome"), orNothing(o.Field("outcome")), strings.Join(outcomeWords, ", "), o.Invoked.Role)
	default:
		for _, word := range outcomeWords {
			m.elsewhere(o, "outcome", word)
		}
	}
}

// command looks for the command that a mutation or a recheck is about.
func (m *misreading) command(o history.Operation) {
	if id := o.Param("command_id"); id != "" && o.Invoked.Role != "read" && o.Text("command_id") != id && mapped(o, "command_id") {
		m.elsewhere(o, "command_id", id)
	}
}

// mapped says whether the target file maps a field of an answer at all, found or not.
func mapped(o history.Operation, field string) bool {
	return o.Field(field) != nil || slices.Contains(o.Returned.Unfound, field)
}

// recheck compares the tool that an unknown outcome points to with the one that asks.
func (m *misreading) recheck(o history.Operation) {
	role := map[string]string{"update": "recheck_update", "submit": "recheck_submit"}[o.Invoked.Role]
	if role == "" || outcomeOf(o) != "OUTCOME_UNKNOWN" || !mapped(o, "recheck") {
		return
	}
	for _, asked := range m.h.Operations(role) {
		if asked.Param("command_id") != o.Param("command_id") || asked.Invoked.Tool == o.Text("recheck") {
			continue
		}
		if o.Text("recheck") == "" {
			m.elsewhere(o, "recheck", asked.Invoked.Tool)
			continue
		}
		m.say("the unknown outcome of %s points to %q for a recheck, and the target file asks %s; check %s and profiles.receipts.tools.%s.name",
			o.Invoked.Tool, o.Text("recheck"), asked.Invoked.Tool, key(o, "recheck"), role)
	}
}

// revisions looks for those of a confirmed command.
func (m *misreading) revisions(o history.Operation) {
	if outcomeOf(o) != "confirmed" {
		return
	}
	for _, c := range commands(m.h) {
		if c.id == "" || c.id != o.Param("command_id") || c.revision == 0 {
			continue
		}
		from, to := o.Field("from_revision"), o.Field("to_revision")
		said := []int{number(o.Returned.Fields, "from_revision"), number(o.Returned.Fields, "to_revision")}
		if said[0] == c.revision+1 && said[1] == c.revision {
			m.say("the answer of %s (%s) moves the draft back, from revision %v to %v; check %s and %s in the target file",
				o.Invoked.Tool, o.Invoked.ID, from, to, key(o, "from_revision"), key(o, "to_revision"))
		}
		for i, field := range []string{"from_revision", "to_revision"} {
			if want := c.revision + i; said[i] != want && said[1-i] != want && mapped(o, field) {
				m.elsewhere(o, field, strconv.Itoa(want))
			}
		}
		return
	}
}

// tools looks for roles whose every call is answered as if there was no such tool, and,
// where nothing was done to the calls, for those that never give an outcome.
func (m *misreading) tools() {
	for _, role := range receiptRoles {
		calls, none, mute := 0, 0, 0
		tool := ""
		for _, o := range m.h.Operations(role) {
			if o.Returned == nil || o.Returned.Answer == nil {
				continue
			}
			calls, tool = calls+1, o.Invoked.Tool
			var said struct{ Code int }
			if json.Unmarshal(o.Returned.Answer, &said) == nil && (said.Code == noMethod || said.Code == invalidParams) {
				none++
			}
			if outcomeOf(o) == "" && role != "read" {
				mute++
			}
		}
		if calls > 0 && (none == calls || mute == calls && len(m.h.Faults()) == 0) {
			m.say("no call of %s gives an outcome, as if it was another tool or none; check profiles.receipts.tools.%s: its name, its arguments, and answer.outcome", tool, role)
		}
	}
}

// The codes of JSON-RPC errors with which a server answers a tool that it does not have.
const (
	noMethod      = -32601
	invalidParams = -32602
)

// surfaces compare what a person and a read see of a draft before any command with what
// is stored then.
func (m *misreading) surfaces() {
	stored, seen := firstRow(m.h.Looks("draft", whenBefore))
	if !seen {
		return
	}
	if shown, visible := firstRow(m.h.Looks("editor", whenBefore)); visible && m.untouched() {
		for _, c := range []struct{ column, want string }{
			{"changed", text(stored, "changed")}, {"other", text(stored, "other")}, {"revision", text(stored, "revision")}, {"save_state", "saved"},
		} {
			if _, there := shown[c.column]; there && text(shown, c.column) != c.want {
				m.say("before any command the editor shows %q as %s, expected %q; check %s of selectors, or of probes.editor, in the target file, and probes.draft", text(shown, c.column), c.column, c.want, c.column)
			}
		}
	}
	for _, o := range m.h.Operations("read") {
		if o.Param("moment") == whenBefore && o.Outcome() == history.Done && o.Param("draft") == draftOf(m.h) {
			m.readBefore(o, stored)
			return
		}
	}
}

// readBefore compares a read before any command with what is stored.
func (m *misreading) readBefore(o history.Operation, stored map[string]any) {
	for _, f := range []struct{ field, want string }{
		{"revision", text(stored, "revision")}, {"saved_changed", text(stored, "changed")}, {"saved_other", text(stored, "other")}, {"unsaved", "false"},
	} {
		if mapped(o, f.field) && text(o.Returned.Fields, f.field) != f.want {
			m.say("before any command %s in the target file reads %s in the answer of %s, expected %q; correct that jq, or probes.draft", key(o, f.field), orNothing(o.Field(f.field)), o.Invoked.Tool, f.want)
		}
	}
}

// draftOf is the draft of the first look at one.
func draftOf(h history.History) string {
	for _, look := range h.Looks("draft", whenBefore) {
		return look.Params["draft"]
	}
	return ""
}

// untouched says whether nobody had typed when the editor was looked at first.
func (m *misreading) untouched() bool {
	first := int64(never)
	for _, e := range m.h.Events {
		if e.Look != nil && e.Look.Probe == "editor" {
			first = min(first, e.Seq)
		}
	}
	for _, e := range m.h.Events {
		if e.Mark != nil && e.Mark.Name == "typed" && e.Seq < first || e.Call != nil && e.Seq < first && (e.Call.Role == "update" || e.Call.Role == "submit") {
			return false
		}
	}
	return true
}

// requests looks for confirmed operations whose requests the wire never counted.
func (m *misreading) requests() {
	looks := m.h.Looks("server", "")
	if len(looks) < 2 {
		return
	}
	draft := looks[0].Params["draft"]
	for _, kind := range []string{"update", "submit", "lookup"} {
		came := 0
		for _, look := range looks {
			for _, row := range look.Rows {
				if text(row, "request") == kind {
					came = max(came, number(row, "came"))
				}
			}
		}
		last := looks[len(looks)-1]
		if n := confirmedBy(m.h, kind, draft, last); came == 0 && n > 0 && (kind != "lookup" || asManyAsGiven(m.h, draft, last)) {
			m.say("operations that take a request %q were confirmed (%d), and the wire counted none; check profiles.receipts.requests.%s in the target file", kind, n, kind)
		}
	}
}

// confirmedBy counts the confirmed operations of the editor that lead to a request of a
// kind, before a look.
func confirmedBy(h history.History, kind, draft string, last history.Look) (n int) {
	at := seqOf(h, last)
	for _, o := range h.Operations("") {
		if slices.Contains(receiptRoles, o.Invoked.Role) && requestOf(o) == kind && o.Param("draft") == draft && outcomeOf(o) == "confirmed" && o.InvokedAt.Seq < at {
			n++
		}
	}
	return n
}

// asManyAsGiven says whether no more mutations came to the wire than were asked for: a
// recheck that sends its command again looks nothing up.
func asManyAsGiven(h history.History, draft string, last history.Look) bool {
	given, came, at := 0, 0, seqOf(h, last)
	for _, c := range commands(h) {
		if c.draft == draft && c.InvokedAt.Seq < at {
			given++
		}
	}
	for _, row := range last.Rows {
		if kind := text(row, "request"); kind == "update" || kind == "submit" {
			came += number(row, "came")
		}
	}
	return came <= given
}

// seqOf is where a look stands in its history.
func seqOf(h history.History, look history.Look) int64 {
	at := int64(0)
	for _, e := range h.Events {
		if e.Look != nil && e.Look.Probe == look.Probe && e.Look.When == look.When {
			at = e.Seq
		}
	}
	return at
}

func firstRow(looks []history.Look) (map[string]any, bool) {
	if len(looks) == 0 || looks[0].Error != "" || len(looks[0].Rows) != 1 {
		return nil, false
	}
	return looks[0].Rows[0], true
}

// leaf is a text or a number in an answer, and where it stands.
type leaf struct {
	path  string
	value any
}

// leavesOf are the leaves of what an answer says by structure: its structuredContent,
// else the JSON of its text. Prose has none.
func leavesOf(answer json.RawMessage) []leaf {
	var whole struct {
		Structured any `json:"structuredContent"`
		Content    []struct{ Text string }
	}
	if json.Unmarshal(answer, &whole) != nil {
		return nil
	}
	if whole.Structured == nil && len(whole.Content) == 1 {
		if json.Unmarshal([]byte(whole.Content[0].Text), &whole.Structured) != nil {
			return nil
		}
	}
	var all []leaf
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				walk(path+"."+name, v[name])
			}
		case []any:
			for i, e := range v {
				walk(fmt.Sprintf("%s[%d]", path, i), e)
			}
		case string:
			all = append(all, leaf{path, v})
		case float64:
			all = append(all, leaf{path, strconv.FormatFloat(v, 'f', -1, 64)})
		}
	}
	walk("", whole.Structured)
	return all
}
