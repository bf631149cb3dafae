package judge

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// toolErrorsSince is the revision from which on a refusal of arguments has to be a tool
// error.
const toolErrorsSince = "2025-11-25"

// BreachesRefused (DU-08/refused): of each tool that acknowledged a valid call, no call
// that breaks its own inputSchema is acknowledged. One that was answered as a result and
// took no effect may have been refused in words, which is the business of DU-19.
func BreachesRefused(h history.History) Ruling {
	var r Ruling
	accepted, tried := map[string][]string{}, map[string]int{}
	all := r.breaches(h)
	judged := 0
	for _, o := range all {
		took, why := tookCall(h, o)
		if took == unclear {
			r.Tried = append(r.Tried, notJudged(o))
			continue
		}
		judged++
		tried[o.Invoked.Tool]++
		if took == accepts {
			accepted[o.Invoked.Tool] = append(accepted[o.Invoked.Tool], fmt.Sprintf("call %s: %s: %s; %s", o.Invoked.ID, o.Param("violation"), shortened(string(o.Invoked.Arguments), 200), why))
		}
	}
	for _, tool := range slices.Sorted(maps.Keys(accepted)) {
		r.broke("DU-08/refused", fmt.Sprintf("%s acknowledged %d of %d calls that its own inputSchema forbids", tool, len(accepted[tool]), tried[tool]), most(accepted[tool])...)
	}
	if judged == 0 && len(all) > 0 {
		r.doubted("whether a call was refused cannot be told of any: %s", notJudged(all[0]))
	}
	return r
}

// How a call that is to be refused was taken.
type taken int

const (
	unclear     taken = iota // answered as a result, and nothing tells more
	accepts                  // it took effect, or was answered as a valid call is
	refuses                  // an error by its structure
	byTheFile                // a result that the target file's predicate takes for a refusal
	ineffective              // a result, without the effect that a valid call has
)

// tookCall says how a call that is to be refused was taken, and by what that is known.
// No word of the answer is looked at.
func tookCall(h history.History, o history.Operation) (taken, string) {
	switch {
	case o.Returned == nil || outcomeUnknown(o):
		return unclear, ""
	case o.Returned.IsError:
		return refuses, ""
	case o.Returned.Unmapped:
		return unclear, ""
	case o.Outcome() == history.Refused:
		return byTheFile, "a refusal, as the target file's predicates have it"
	}
	changed, seen := changedBy(h, o)
	if changed {
		return accepts, "it changed what can be read back"
	}
	visible, formed := false, ""
	for _, valid := range h.Operations("") {
		if valid.Invoked.Tool != o.Invoked.Tool || valid.Invoked.Role == "invalid" || valid.Outcome() != history.Done {
			continue
		}
		if sameForm(valid, o) {
			formed = valid.Invoked.ID
		}
		effect, _ := changedBy(h, valid)
		visible = visible || effect
	}
	switch {
	case formed != "" && visible:
		return unclear, "" // an acknowledgement of nothing, or a refusal in that form
	case formed != "":
		return accepts, fmt.Sprintf("it is answered as the valid call %s is: %s", formed, shortened(answerOf(o), 200))
	case !seen:
		return unclear, ""
	case visible:
		return ineffective, "it changed nothing that can be read back, as a valid call does"
	case o.Param("declared") == "yes":
		return ineffective, "the target file says that it must be refused, and it changed nothing that can be read back"
	}
	return unclear, ""
}

// notJudged says of which call it cannot be told whether it was refused, and what to do.
func notJudged(o history.Operation) string {
	return fmt.Sprintf("not judged: whether %s refused call %s (%s) cannot be told by its effect or by the form of its answer; say in the target file by refused what its refusals look like; its answer: %s",
		o.Invoked.Tool, o.Invoked.ID, o.Param("violation"), shortened(answerOf(o), 200))
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
// told by its wording only. Held to it are answers that the target file takes for a
// refusal, and calls that must be refused, by the target file or by their inputSchema,
// and that took no effect; what an answer says is evidence and no ground. The control
// is one refusal that was told by its structure.
func RefusedByStructure(h history.History) Ruling {
	var r Ruling
	worded, refusals := map[string][]string{}, map[string]int{}
	structured := 0
	for _, o := range slices.Concat(h.Operations(claimRole), h.Operations("invalid")) {
		took, why := tookCall(h, o)
		switch {
		case took == refuses:
			structured++
			refusals[o.Invoked.Tool]++
		case took == byTheFile, took == ineffective && o.Invoked.Role == "invalid":
			refusals[o.Invoked.Tool]++
			if breach := o.Param("violation"); breach != "" {
				why = breach + "; " + why
			}
			worded[o.Invoked.Tool] = append(worded[o.Invoked.Tool], fmt.Sprintf("call %s: %s: %q (%s)", o.Invoked.ID, shortened(string(o.Invoked.Arguments), 200), shortened(wordsOf(o), 200), why))
		case took == unclear && o.Invoked.Role == "invalid" && o.Returned != nil && !outcomeUnknown(o):
			r.Tried = append(r.Tried, notJudged(o))
		}
	}
	for _, tool := range slices.Sorted(maps.Keys(worded)) {
		r.broke("DU-19", fmt.Sprintf("%s answered %d of %s as a result, which only its wording tells", tool, len(worded[tool]), reports.Plural(refusals[tool], "refusal")), most(worded[tool])...)
	}
	r.Tried = append(r.Tried, fmt.Sprintf("%s told by their structure", reports.Plural(structured, "refusal")))
	if structured == 0 && r.silent() {
		r.doubted("nothing was refused, so that nothing is known of what a refusal looks like")
	}
	return r
}
