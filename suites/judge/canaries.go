package judge

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// askingRoles are the calls whose answers hold nothing of content.
var askingRoles = []string{"start", "status", "resume", "cancel"}

// AnswersHoldNoContent (WF-23): every value of a structured answer about an operation
// is its ID, the target that was named, a number, or one word, as states and codes
// are.
func AnswersHoldNoContent(h history.History) Ruling {
	var r Ruling
	judged := 0
	for _, role := range askingRoles {
		for _, o := range h.Operations(role) {
			if o.Returned == nil || len(o.Returned.Answer) == 0 {
				continue
			}
			var answer struct {
				Structured any `json:"structuredContent"`
			}
			if json.Unmarshal(o.Returned.Answer, &answer) != nil || answer.Structured == nil {
				continue
			}
			judged++
			allowed := []string{o.Param("operation_id"), o.Text("operation_id"), o.Param("target"), o.Text("target")}
			if more := unexpected(answer.Structured, allowed); len(more) > 0 {
				r.broke("WF-23", "an answer about an operation holds more than references, states, counts and codes", says(role, o), "it has "+quoted(more))
			}
		}
	}
	if judged == 0 {
		r.doubted("no answer about an operation is structured, so that it cannot be told what is in it")
	}
	return r
}

// unexpected are the texts in a value that are neither among the allowed ones nor a
// word.
func unexpected(v any, allowed []string) []string {
	var more []string
	switch v := v.(type) {
	case string:
		if v != "" && !safe.MatchString(v) && !slices.Contains(allowed, v) {
			more = append(more, v)
		}
	case []any:
		for _, part := range v {
			more = append(more, unexpected(part, allowed)...)
		}
	case map[string]any:
		for _, part := range v {
			more = append(more, unexpected(part, allowed)...)
		}
	}
	slices.Sort(more)
	return more
}

// CanariesStayInside (WF-23): no canary is in a message of the server, in a log, in
// the audit log or in any other file than those of the private store and of the
// outside service. The control of each is that it was found where it may be, or that
// it was sent.
func CanariesStayInside(h history.History) Ruling {
	look, ok := lastLook(h, "canaries", whenConverged, nil)
	if !ok {
		return doubt("nobody searched for the canaries")
	}
	var r Ruling
	marks := h.Marks("canary")
	if len(marks) == 0 {
		r.doubted("no canary was planted")
	}
	searched := map[string]int{}
	for _, m := range marks {
		name := text(m.Data, "name")
		found := map[string]int{}
		for _, row := range look.Rows {
			if text(row, "canary") == name {
				source := text(row, "source")
				found[source] += number(row, "found")
				searched[source] += number(row, "texts")
			}
		}
		r.foundInside(h, m, name, found)
		for _, row := range look.Rows {
			source, n := text(row, "source"), number(row, "found")
			if text(row, "canary") == name && n > 0 && source != "store" && source != "outside" {
				r.broke("WF-23", "something of a caller's stands where nobody may read it", fmt.Sprintf("%s: in %s of the %s", name, reports.Plural(n, "text"), source))
			}
		}
		if word := text(m.Data, "text"); word != "" {
			r.saidNowhere(h, name, word)
		}
	}
	for _, source := range []string{"store", "outside", "audit", "log"} {
		if searched[source] == 0 {
			r.doubted("nothing of the %s was searched", source)
		}
	}
	return r
}

// foundInside is the control: a canary that may stand somewhere was found there, and
// one that may stand nowhere was sent.
func (r *Ruling) foundInside(h history.History, m history.Mark, name string, found map[string]int) {
	anywhere := false
	for _, source := range []string{"store", "outside"} {
		if !truth(m.Data, source) {
			continue
		}
		anywhere = true
		if found[source] == 0 {
			r.doubted("the canary %q was not found where it may be: %s", name, source)
		}
	}
	word := text(m.Data, "text")
	if !anywhere && !slices.ContainsFunc(h.Events, func(e history.Event) bool {
		return e.Kind == history.KindMessage && e.Message.Outgoing && strings.Contains(e.Message.Raw, word)
	}) {
		r.doubted("the canary %q was not sent", name)
	}
}

// saidNowhere holds every message of the server to not holding a canary.
func (r *Ruling) saidNowhere(h history.History, name, word string) {
	for _, e := range h.Events {
		if e.Kind == history.KindMessage && !e.Message.Outgoing && strings.Contains(e.Message.Raw, word) {
			r.broke("WF-23", "something of a caller's stands in a message of the server", name+": "+shortened(e.Message.Raw, 300))
			return
		}
	}
}
