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

// finding starts a finding under a clause.
func finding(clause, format string, args ...any) reports.Finding {
	return reports.Finding{Clause: clause, Summary: fmt.Sprintf(format, args...)}
}

// broke adds a finding with its facts.
func (r *Ruling) broke(clause, summary string, facts ...string) {
	r.Findings = append(r.Findings, reports.Finding{Clause: clause, Summary: summary, Facts: facts})
}

// doubted adds a reason why nothing can be said.
func (r *Ruling) doubted(format string, args ...any) {
	r.Doubts = append(r.Doubts, fmt.Sprintf(format, args...))
}

// acknowledged are the operations of a role that the target accepted.
func acknowledged(h history.History, role string) []history.Operation {
	return slices.DeleteFunc(h.Operations(role), func(o history.Operation) bool { return o.Outcome() != history.Done })
}

// text reads a column of a row as text; numbers and booleans are printed.
func text(row map[string]any, column string) string {
	switch v := row[column].(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}

// number reads a column of a row as a number; a missing one is 0.
func number(row map[string]any, column string) int {
	switch v := row[column].(type) {
	case float64:
		return int(v)
	case int64:
		return int(v)
	case int:
		return v
	default:
		return 0
	}
}

// texts reads a column of a row as a list of texts; a list of objects gives
// their text column.
func texts(row map[string]any, column string) []string {
	list, ok := row[column].([]any)
	if !ok {
		return nil
	}
	var out []string
	for _, v := range list {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case map[string]any:
			out = append(out, text(v, "text"))
		default:
			out = append(out, fmt.Sprint(v))
		}
	}
	return out
}

// lastLook is the last look through a probe at a moment whose parameters
// include want. A look that failed by itself does not count.
func lastLook(h history.History, probe, when string, want map[string]string) (history.Look, bool) {
	looks := h.Looks(probe, when)
	for i := len(looks) - 1; i >= 0; i-- {
		if looks[i].Error == "" && includes(looks[i].Params, want) {
			return looks[i], true
		}
	}
	return history.Look{}, false
}

func includes(have, want map[string]string) bool {
	for k, v := range want {
		if have[k] != v {
			return false
		}
	}
	return true
}

// item asks for looks at one item.
func item(id string) map[string]string { return map[string]string{"item_id": id} }

// when names the moments of a spec at which surfaces are looked at.
const (
	whenEarly     = "early"     // before anything could have been materialized
	whenHeld      = "held"      // while the guard is shut, behind at least one attempt
	whenRestarted = "restarted" // after a killed process came back
	whenConverged = "converged" // after everything was healed and came to rest
)

// quoted lists values for a finding, shortened to what a person reads.
func quoted(values []string) string {
	const most = 6
	shown := values
	if len(shown) > most {
		shown = shown[:most]
	}
	parts := make([]string, len(shown))
	for i, v := range shown {
		if len(v) > 60 {
			v = v[:60] + "…"
		}
		parts[i] = fmt.Sprintf("%q", v)
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

// count tells how often each value stands in values.
func count(values []string) map[string]int {
	n := map[string]int{}
	for _, v := range values {
		n[v]++
	}
	return n
}
