package judge

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// HandleWorks (DU-17): a handle that was issued on one connection is taken elsewhere, and
// shows there what it shows where it was issued. The control is another handle that was
// taken where it was issued; whether the values are compared depends on that one having
// shown the same twice.
func HandleWorks(elsewhere string) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		uses := handleUses(h)
		trial, tried := uses["trial"]
		other, used := uses["elsewhere"]
		own, compared := uses["own"]
		switch {
		case !tried || !used:
			return doubt("a handle was not used both where it was issued and %s", elsewhere)
		case !r.took(trial) || compared && !r.took(own):
		case outcomeUnknown(other):
			r.doubted("the use of a handle %s (call %s) got no answer", elsewhere, other.Invoked.ID)
		case r.outlived(h, other, elsewhere):
		case other.Outcome() != history.Done:
			r.broke("DU-17", "a handle does not work "+elsewhere, handleFacts(other,
				"another one, where it was issued: "+answerOf(trial), elsewhere+": "+answerOf(other))...)
		case compared:
			r.showsTheSame(uses, elsewhere)
		default:
			r.Tried = append(r.Tried, "what it shows is not compared, because a handle is taken only once")
		}
		return r
	}
}

// handleUses are the uses of handles by which one it is.
func handleUses(h history.History) map[string]history.Operation {
	uses := map[string]history.Operation{}
	for _, o := range h.Operations("use") {
		uses[o.Param("which")] = o
	}
	return uses
}

// handleFacts are the facts of a use, with more behind them.
func handleFacts(o history.Operation, more ...string) []string {
	return append([]string{fmt.Sprintf("call %s: %s %s", o.Invoked.ID, o.Invoked.Tool, shortened(string(o.Invoked.Arguments), 300))}, more...)
}

// took doubts where a handle was not taken on its own connection: then nothing is known
// of it elsewhere.
func (r *Ruling) took(o history.Operation) bool {
	if o.Outcome() == history.Done {
		return true
	}
	r.doubted("a handle was not taken on the connection that it was issued on (call %s: %s); check handles.issue and handles.use", o.Invoked.ID, answerOf(o))
	return false
}

// outlived doubts where a handle was used later than its stated lifetime, counted from
// when it was asked for.
func (r *Ruling) outlived(h history.History, use history.Operation, elsewhere string) bool {
	lifetime, err := time.ParseDuration(stated(h, "lifetime"))
	if err != nil {
		return false // none is stated
	}
	issued, there := issueOf(h, use.Param("handle"))
	if !there {
		r.doubted("the call that gave the handle out is not there")
		return true
	}
	if age := use.InvokedAt.At - issued.InvokedAt.At; age >= lifetime {
		r.doubted("the handle was used %s %s after it was issued, and its stated lifetime is %s; let the target's handles live longer", elsewhere, age.Round(time.Millisecond), lifetime)
		return true
	}
	return false
}

// stated is what the target file says of handles.
func stated(h history.History, what string) string {
	for _, m := range h.Marks("handles") {
		return text(m.Data, what)
	}
	return ""
}

// issueOf is the call that gave a handle out.
func issueOf(h history.History, handle string) (history.Operation, bool) {
	for _, o := range acknowledged(h, "issue") {
		if handleText(o.Field("handle")) == handle {
			return o, true
		}
	}
	return history.Operation{}, false
}

// handleText is a handle as it was put into a call.
func handleText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}

// showsTheSame compares what a handle shows elsewhere with what it showed where it was
// issued.
func (r *Ruling) showsTheSame(uses map[string]history.Operation, elsewhere string) {
	trial, _ := texts(uses["trial"].Returned.Fields, "values")
	again, _ := texts(uses["again"].Returned.Fields, "values")
	own, mapped := texts(uses["own"].Returned.Fields, "values")
	other := uses["elsewhere"]
	now, _ := texts(other.Returned.Fields, "values")
	if _, there := uses["own"].Returned.Fields["values"]; !there || !mapped {
		r.Tried = append(r.Tried, "what it shows is not compared, because handles.use has no values")
		return
	}
	shows := fmt.Sprintf("where it was issued: %s; %s: %s", quoted(own), elsewhere, quoted(now))
	switch {
	case len(own) == 0:
		r.doubted("the handle showed nothing where it was issued, so that nothing elsewhere would not have been noticed; let handles.use show what was written")
	case !maps.Equal(count(trial), count(again)):
		r.Tried = append(r.Tried, "what it shows is not compared, because a handle shows something else each time")
	case len(now) == 0:
		r.broke("DU-17", "a handle is taken "+elsewhere+", and shows nothing of what it stands for", handleFacts(other, shows)...)
	case !maps.Equal(count(own), count(now)):
		r.broke("DU-17", "a handle shows something else "+elsewhere, handleFacts(other, shows)...)
	default:
		r.Tried = append(r.Tried, "it showed the same "+reports.Plural(len(own), "value"))
	}
}

// WrongHandleIsTold (DU-17): a handle that was never issued, or has expired, is refused
// by structure, with words, and with what the target file says such an error has. The
// control is a handle that was taken.
func WrongHandleIsTold(wrong string) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		uses := handleUses(h)
		trial, tried := uses["trial"]
		o, used := uses["wrong"]
		facts := handleFacts(o, "its answer: "+answerOf(o))
		switch {
		case !tried || !used:
			return doubt("a handle that %s was not used beside one that works", wrong)
		case !r.took(trial):
		case outcomeUnknown(o):
			r.doubted("the use of a handle that %s (call %s) got no answer", wrong, o.Invoked.ID)
		case o.Outcome() == history.Done && showsNothing(o):
			r.broke("DU-17", "a handle that "+wrong+" is answered like one that shows nothing", facts...)
		case o.Outcome() == history.Done:
			r.broke("DU-17", "a handle that "+wrong+" is answered with a success", facts...)
		case !o.Returned.IsError:
			r.broke("DU-17", "that a handle "+wrong+" is told by the wording of a result only, and not by an error", facts...)
		case errorWords(o) == "":
			r.broke("DU-17", "the error for a handle that "+wrong+" says nothing", facts...)
		case stated(h, "told") != "" && o.Field("told") != true:
			r.broke("DU-17", "the error does not say that the handle "+wrong, append(facts, "the target file expects: "+stated(h, "told"))...)
		}
		return r
	}
}

// showsNothing says whether a success has values by the target file, and none.
func showsNothing(o history.Operation) bool {
	values, ok := texts(o.Returned.Fields, "values")
	_, there := o.Returned.Fields["values"]
	return there && ok && len(values) == 0
}

// errorWords is what an error says: the text of a tool error, its structured content where
// it has no text, or the message of a JSON-RPC error.
func errorWords(o history.Operation) string {
	var answer struct {
		Message    string
		Structured json.RawMessage `json:"structuredContent"`
	}
	_ = json.Unmarshal(o.Returned.Answer, &answer) // what is no answer of MCP says nothing here
	words := strings.TrimSpace(wordsOf(o) + answer.Message + string(answer.Structured))
	if words == "" && len(o.Returned.Answer) == 0 {
		return o.Returned.Reason // refused by HTTP
	}
	return words
}

// HandleOutlived (DU-17) doubts where a handle that is to have expired was used before its
// stated time was over, counted from its answer.
func HandleOutlived(h history.History) Ruling {
	after, err := time.ParseDuration(stated(h, "after"))
	use, used := handleUses(h)["wrong"]
	issued, there := issueOf(h, use.Param("handle"))
	if err != nil || !used || !there {
		return doubt("when the handle was issued, or how long it lives, is not known")
	}
	if age := use.InvokedAt.At - issued.ReturnedAt.At; age <= after {
		return doubt("the handle was used %s after it was issued, and lives for %s", age.Round(time.Millisecond), after)
	}
	return Ruling{}
}
