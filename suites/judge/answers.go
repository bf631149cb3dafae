package judge

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// sameForm says whether two answers are the same but for what they tell of: JSON of the
// same form, or the same words. What refuses in JSON differs from what accepts by its
// keys, by what is null, or by a true that is false; JSON of nothing but texts may be
// either, so that it has to be the same.
func sameForm(one, other history.Operation) bool {
	a, inWordsA := formOfResult(one)
	b, inWordsB := formOfResult(other)
	return a == b && inWordsA == inWordsB && (inWordsA || !onlyTexts(a) || string(one.Returned.Answer) == string(other.Returned.Answer))
}

// onlyTexts says whether in a form of JSON there are texts and nothing else.
func onlyTexts(form string) bool {
	for _, kind := range []string{"list", "number", "object", "true", "false"} {
		if form == kind || strings.Contains(form, ": "+kind) {
			return false
		}
	}
	return form != ""
}

// formOfResult is the form of an answer as a text; prose is its own form.
func formOfResult(o history.Operation) (form string, prose bool) {
	if o.Returned == nil {
		return "", true
	}
	var answer struct {
		Content    []json.RawMessage `json:"content"`
		Structured any               `json:"structuredContent"`
	}
	if json.Unmarshal(o.Returned.Answer, &answer) == nil && answer.Structured != nil {
		return formOfJSON(answer.Structured), false
	}
	forms := []string{}
	for _, raw := range answer.Content {
		var part struct{ Type, Text string }
		var inner any
		_ = json.Unmarshal(raw, &part) // what is no content has no text
		if json.Unmarshal([]byte(part.Text), &inner) == nil {
			forms = append(forms, formOfJSON(inner))
			continue
		}
		prose = prose || part.Text != ""
		forms = append(forms, part.Type+" "+part.Text)
	}
	return strings.Join(forms, "\n"), prose
}

// formOfJSON tells the keys of an object with the kinds of their values, and of a
// boolean which it is.
func formOfJSON(v any) string {
	object, ok := v.(map[string]any)
	if !ok {
		return kindOfJSON(v)
	}
	parts := []string{}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		parts = append(parts, fmt.Sprintf("%q: %s", key, kindOfJSON(object[key])))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func kindOfJSON(v any) string {
	switch v := v.(type) {
	case string:
		return "text"
	case float64:
		return "number"
	case []any:
		return "list"
	case map[string]any:
		return "object"
	default:
		return fmt.Sprint(v) // true, false, <nil>
	}
}

// changedBy says whether what can be read back differs between the last read before a
// call and the first one behind it: in the values that the target file reads there, or in
// that the answer shows a text of the call's arguments more often, where the jq does not
// look. seen is false where no such reads stand around it with nothing else in between,
// and where the answer of the read differs in a way that may be this call's.
func changedBy(h history.History, o history.Operation) (changed, seen bool) {
	var said Ruling // of reads that do not matter here nothing is said
	var before, after *read
	for _, x := range said.reads(h, "") {
		switch {
		case o.ReturnedAt == nil:
		case endedBefore(x.op, o.InvokedAt.Seq):
			before = &x
		case after == nil && x.op.InvokedAt.Seq > o.ReturnedAt.Seq:
			after = &x
		}
	}
	if before == nil || after == nil || before.err != "" || after.err != "" {
		return false, false
	}
	for _, other := range h.Operations("") {
		over := endedBefore(other, before.op.InvokedAt.Seq) && !outcomeUnknown(other)
		if other.Invoked.Role != "read" && other.Invoked.ID != o.Invoked.ID && !over && other.InvokedAt.Seq < after.op.ReturnedAt.Seq {
			return false, false // it may have been that one
		}
	}
	if !maps.Equal(count(before.values), count(after.values)) || showsMoreOf(o, *before, *after) {
		return true, true
	}
	return false, maps.Equal(count(wordsIn(before.op.Returned.Answer)), count(wordsIn(after.op.Returned.Answer)))
}

// tellingText is the fewest letters of an argument by which it is known again in an answer.
const tellingText = 8

// showsMoreOf says whether a text of a call's arguments stands more often in the answer of
// the read behind it than in that of the read before.
func showsMoreOf(o history.Operation, before, after read) bool {
	was, is := string(before.op.Returned.Answer), string(after.op.Returned.Answer)
	var arguments any
	_ = json.Unmarshal(o.Invoked.Arguments, &arguments) // what is no JSON has no texts
	return slices.ContainsFunc(textsWithin(arguments), func(text string) bool {
		return len(text) >= tellingText && strings.Count(is, text) > strings.Count(was, text)
	})
}

// textsWithin are the texts of a JSON value, at any depth; keys are none.
func textsWithin(v any) []string {
	var all []string
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, element := range v {
			all = append(all, textsWithin(element)...)
		}
	case map[string]any:
		for _, element := range v {
			all = append(all, textsWithin(element)...)
		}
	}
	return all
}

// wordsIn are the words and numbers of an answer, whatever stands between them.
func wordsIn(answer json.RawMessage) []string {
	return strings.FieldsFunc(string(answer), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
}
