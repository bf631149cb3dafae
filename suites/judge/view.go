package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// doubt is a ruling that could not judge.
func doubt(format string, args ...any) Ruling {
	return Ruling{Doubts: []string{fmt.Sprintf(format, args...)}}
}

// broke adds a finding with its facts.
func (r *Ruling) broke(clause, summary string, facts ...string) {
	r.Findings = append(r.Findings, reports.Finding{Clause: clause, Summary: summary, Facts: facts})
}

// doubted adds a reason why nothing can be said.
func (r *Ruling) doubted(format string, args ...any) {
	r.Doubts = append(r.Doubts, fmt.Sprintf(format, args...))
}

// silent says that a ruling has said nothing yet.
func (r *Ruling) silent() bool { return len(r.Findings) == 0 && len(r.Doubts) == 0 }

// acknowledged are the operations of a role that the target accepted.
func acknowledged(h history.History, role string) []history.Operation {
	return slices.DeleteFunc(h.Operations(role), func(o history.Operation) bool { return o.Outcome() != history.Done })
}

// items are the IDs that acknowledged starts were answered with, each once, in
// the order in which they were first invoked.
func items(h history.History) []string {
	var ids []string
	for _, s := range acknowledged(h, "start") {
		if id := s.Text("item_id"); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// about says whether an operation is about an item: by its answer, by what was
// asked, or as a start under the task key that led to the item.
func about(h history.History, o history.Operation, id string) bool {
	if id == "" {
		return false
	}
	if o.Text("item_id") == id || o.Param("item_id") == id {
		return true
	}
	return o.Invoked.Role == "start" && slices.ContainsFunc(acknowledged(h, "start"), func(s history.Operation) bool {
		return s.Text("item_id") == id && s.Param("task_key") == o.Param("task_key") && s.Param("key") == o.Param("key")
	})
}

// forGood says that a refusal is none that time heals.
func forGood(o history.Operation) bool {
	return o.Outcome() == history.Refused && o.Text("failure_class") != "transient"
}

// endedBefore says that an operation had come back before an event.
func endedBefore(o history.Operation, seq int64) bool {
	return o.ReturnedAt != nil && o.ReturnedAt.Seq < seq
}

// answerOf is an operation's answer, shortened to what a person reads.
func answerOf(o history.Operation) string {
	if o.Returned == nil {
		return "none"
	}
	const most = 300
	s := string(o.Returned.Answer)
	if s == "" {
		s = o.Returned.Reason
	}
	return shortened(s, most)
}

// quoted lists values for a finding, shortened to what a person reads.
func quoted(values []string) string {
	const most, longest = 6, 60
	shown := values
	if len(shown) > most {
		shown = shown[:most]
	}
	parts := make([]string, len(shown))
	for i, v := range shown {
		parts[i] = fmt.Sprintf("%q", shortened(v, longest))
	}
	s := strings.Join(parts, ", ")
	if len(values) > most {
		s += fmt.Sprintf(" and %d more", len(values)-most)
	}
	if s == "" {
		return "nothing"
	}
	return s
}

// shortened cuts a text after at most n bytes, between two characters.
func shortened(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// count tells how often each value stands in values.
func count(values []string) map[string]int {
	n := map[string]int{}
	for _, v := range values {
		n[v]++
	}
	return n
}
