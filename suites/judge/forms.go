package judge

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// toolErrorsSince is the revision from which on a refusal of arguments has to be a tool
// error.
const toolErrorsSince = "2025-11-25"

// BreachesRefused (DU-08/refused): of each tool that acknowledged a valid call, no call
// that breaks its own inputSchema is acknowledged. One that is refused in words only is
// the business of DU-19.
func BreachesRefused(h history.History) Ruling {
	var r Ruling
	accepted, tried := map[string][]string{}, map[string]int{}
	for _, o := range r.breaches(h) {
		tried[o.Invoked.Tool]++
		if o.Outcome() == history.Done && !refusedInWords(o) {
			accepted[o.Invoked.Tool] = append(accepted[o.Invoked.Tool], fmt.Sprintf("call %s: %s: %s", o.Invoked.ID, o.Param("violation"), shortened(string(o.Invoked.Arguments), 200)))
		}
	}
	for _, tool := range slices.Sorted(maps.Keys(accepted)) {
		r.broke("DU-08/refused", fmt.Sprintf("%s acknowledged %d of %d calls that its own inputSchema forbids", tool, len(accepted[tool]), tried[tool]), most(accepted[tool])...)
	}
	return r
}

// breaches are the invalid calls that were answered, of the tools that acknowledged a
// valid call: of others a refusal may have another cause. They are told as tried.
func (r *Ruling) breaches(h history.History) []history.Operation {
	valid := map[string]bool{}
	for _, o := range h.Operations("") {
		valid[o.Invoked.Tool] = valid[o.Invoked.Tool] || o.Invoked.Role != "invalid" && o.Outcome() == history.Done
	}
	var all []history.Operation
	tools := map[string]bool{}
	for _, o := range h.Operations("invalid") {
		switch {
		case !valid[o.Invoked.Tool]:
		case outcomeUnknown(o):
			r.doubted("call %s (%s) got no answer, so that it is not known to be refused", o.Invoked.ID, o.Invoked.Tool)
		default:
			tools[o.Invoked.Tool] = true
			all = append(all, o)
		}
	}
	r.Tried = append(r.Tried, fmt.Sprintf("%s that break the inputSchema of %s", reports.Plural(len(all), "call"), reports.Plural(len(tools), "tool")))
	for _, m := range h.Marks("no breaches") {
		r.Tried = append(r.Tried, fmt.Sprintf("not tried: %s: %s", text(m.Data, "tool"), text(m.Data, "why")))
	}
	if len(all) == 0 {
		r.doubted("no tool acknowledged a valid call and could then be called with arguments that its inputSchema forbids; name a call of one in profiles.durability.calls")
	}
	return all
}

// RefusedChangedNothing (DU-08/no-effect): a call that was refused for its arguments left
// what can be read back, and the declared state of the store, as they were.
func RefusedChangedNothing(h history.History) Ruling { return changedNothing("DU-08/no-effect", h) }

// RefusalsInForm (DU-08/form): a refusal of arguments is a tool error; up to revision
// 2025-06-18 a protocol error is right as well.
func RefusalsInForm(h history.History) Ruling {
	var r Ruling
	revision := ""
	for _, m := range h.Marks("agreed") {
		revision = text(m.Data, "revision")
	}
	if revision == "" {
		return doubt("the revision that was agreed on is not known")
	}
	var other []string
	judged := 0
	for _, o := range r.breaches(h) {
		if o.Outcome() != history.Refused || !o.Returned.IsError {
			continue // accepted, or refused in words only: those are other clauses
		}
		judged++
		form := formOf(o)
		if form == toolError || form == protocolError && revision < toolErrorsSince { // they are dates
			continue
		}
		other = append(other, fmt.Sprintf("call %s (%s), %s: %s: %s", o.Invoked.ID, o.Invoked.Tool, o.Param("violation"), form, shortened(answerOf(o), 200)))
	}
	if len(other) > 0 {
		wanted := "are no tool errors"
		if revision < toolErrorsSince {
			wanted = "are neither tool errors nor protocol errors"
		}
		r.broke("DU-08/form", fmt.Sprintf("%d of %d refusals of arguments %s, at revision %s", len(other), judged, wanted, revision), most(other)...)
	}
	if judged == 0 && r.silent() {
		r.doubted("no call was refused for its arguments")
	}
	return r
}

// The forms of a refusal.
const (
	toolError     = "a tool error"
	protocolError = "a protocol error"
	noMCPAnswer   = "no answer of MCP"
)

// formOf is the form of an answer that is an error.
func formOf(o history.Operation) string {
	var answer struct {
		IsError bool `json:"isError"`
		Code    *int `json:"code"`
	}
	switch {
	case len(o.Returned.Answer) == 0 || json.Unmarshal(o.Returned.Answer, &answer) != nil:
		return noMCPAnswer
	case answer.IsError:
		return toolError
	case answer.Code != nil:
		return protocolError
	}
	return noMCPAnswer
}

// inWords is how a text begins that is a refusal.
var inWords = regexp.MustCompile(`(?i)^\W*(error|failed|failure|invalid|refused|denied|forbidden|unauthorized|cannot|can't|could not|couldn't|unable|not found|no such|unknown)\b`)

// refusedInWords says whether an answer that is no error by its structure begins as one.
func refusedInWords(o history.Operation) bool {
	if o.Returned == nil || o.Returned.IsError {
		return false
	}
	return inWords.MatchString(wordsOf(o))
}

// wordsOf is the text of an answer.
func wordsOf(o history.Operation) string {
	var answer struct{ Content []struct{ Text string } }
	_ = json.Unmarshal(o.Returned.Answer, &answer) // what has no content has no words
	var all strings.Builder
	for _, c := range answer.Content {
		all.WriteString(c.Text)
	}
	return all.String()
}

// RefusedByStructure (DU-19): a refusal is a JSON-RPC error or has isError, and is not
// told by its wording only. The control is one refusal that was told so.
func RefusedByStructure(h history.History) Ruling {
	var r Ruling
	worded := map[string][]string{}
	structured := 0
	for _, o := range slices.Concat(h.Operations(claimRole), h.Operations("invalid")) {
		switch {
		case o.Returned == nil || outcomeUnknown(o):
		case o.Returned.IsError:
			structured++
		case o.Outcome() == history.Refused || refusedInWords(o):
			worded[o.Invoked.Tool] = append(worded[o.Invoked.Tool], fmt.Sprintf("call %s: %s: %q", o.Invoked.ID, shortened(string(o.Invoked.Arguments), 200), shortened(wordsOf(o), 200)))
		}
	}
	for _, tool := range slices.Sorted(maps.Keys(worded)) {
		r.broke("DU-19", fmt.Sprintf("%s answered %s as a result, which only its wording tells", tool, reports.Plural(len(worded[tool]), "refusal")), most(worded[tool])...)
	}
	r.Tried = append(r.Tried, fmt.Sprintf("%s told by their structure", reports.Plural(structured, "refusal")))
	if structured == 0 && r.silent() {
		r.doubted("nothing was refused, so that nothing is known of what a refusal looks like")
	}
	return r
}
