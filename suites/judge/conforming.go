package judge

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/fixtures/mcp"
	"github.com/holdfast-mcp/holdfast/fixtures/schemas"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// owedByOutputSchema is the source of DU-09/results.
const owedByOutputSchema = "owed by: mcp-must, server/tools, Output Schema"

// ResultsConform (DU-09/results): of each tool that declares an outputSchema a success
// has structured content, and structured content conforms to it, beside isError too. A
// tool whose schema changed while it was called is held to any of those that its session
// was told. Judged from the raw messages; the control is one success that conforms.
func ResultsConform(h history.History) Ruling {
	var r Ruling
	revision := ""
	for _, m := range h.Marks("agreed") {
		revision = text(m.Data, "revision")
	}
	outputs := outputsTold(h)
	held := map[string]*heldResults{}
	for _, x := range exchanges(h, "tools/call") {
		told := outputs[x.session][x.tool]
		if len(told) == 0 || x.result == nil {
			continue // a JSON-RPC error has no place for structured content
		}
		if held[x.tool] == nil {
			held[x.tool] = &heldResults{}
		}
		held[x.tool].hold(x, told)
	}
	successes := 0
	var told []string
	for _, tool := range slices.Sorted(maps.Keys(held)) {
		results := held[tool]
		results.rule(&r, tool, revision)
		successes += results.conforming
		told = append(told, fmt.Sprintf("%s (successes: %d, structured errors: %d)", tool, results.successes, results.errors))
	}
	if len(told) > 0 {
		r.Tried = append(r.Tried, "held to the outputSchema: "+strings.Join(told, ", "))
	}
	r.claimed(h)
	if successes == 0 && r.silent() {
		r.doubted("no tool with an outputSchema answered with a success, so that no structured result was seen; name a call of one in profiles.durability.calls")
	}
	return r
}

// outputsTold are the output schemas that tools/list told of each tool, by session and
// tool, each once.
func outputsTold(h history.History) map[string]map[string][]any {
	all := map[string]map[string][]any{}
	for _, l := range toolLists(h) {
		if all[l.session] == nil {
			all[l.session] = map[string][]any{}
		}
		for tool, output := range l.outputs {
			known := all[l.session][tool]
			if !slices.ContainsFunc(known, func(o any) bool { return reflect.DeepEqual(o, output) }) {
				all[l.session][tool] = append(known, output)
			}
		}
	}
	return all
}

// heldResults are the results of one tool that were held to its outputSchema.
type heldResults struct {
	successes, errors, conforming int
	without                       []string // successes without structured content
	unlike, unlikeErrors          []string // those that do not conform
	none                          error    // why its outputSchema is no schema
	unread                        error    // why it cannot be held to here
}

// hold holds one result to the schemas that its session was told.
func (t *heldResults) hold(x exchange, outputs []any) {
	var result struct {
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
		Type       string          `json:"resultType"`
	}
	if json.Unmarshal(x.result, &result) != nil || result.Type == "task" || result.Type == "input_required" {
		return // that is no result of the tool
	}
	if result.IsError && result.Structured == nil {
		return // an error need have none
	}
	failures := &t.unlike
	if result.IsError {
		t.errors++
		failures = &t.unlikeErrors
	} else {
		t.successes++
	}
	var call struct {
		Arguments json.RawMessage `json:"arguments"`
	}
	_ = json.Unmarshal(x.params, &call) // what has no arguments has none to be told
	asked := shortened(string(call.Arguments), 150)
	if result.Structured == nil {
		t.without = append(t.without, fmt.Sprintf("arguments %s: %s", asked, shortened(string(x.result), 150)))
		return
	}
	why := t.unlikeAll(result.Structured, outputs)
	switch {
	case why != "":
		*failures = append(*failures, fmt.Sprintf("arguments %s: %s", asked, why))
	case !result.IsError && t.none == nil && t.unread == nil:
		t.conforming++
	}
}

// unlikeAll says why content conforms to none of the schemas; "" where it conforms to
// one, or where one cannot be compiled.
func (t *heldResults) unlikeAll(content json.RawMessage, outputs []any) string {
	why := ""
	for _, output := range outputs {
		compiled, err := schemas.CompileValue(output)
		if err != nil {
			if schemas.IsNone(err) {
				t.none = err
			} else {
				t.unread = err
			}
			return ""
		}
		if err = compiled.Validate(decoded(content)); err == nil {
			return ""
		}
		why = inOneLine(err)
	}
	return why
}

// inOneLine is what a validator says, without its own words on where the schema lies.
func inOneLine(err error) string {
	words := strings.Join(strings.Fields(err.Error()), " ")
	for _, own := range []string{"jsonschema validation failed with 'told:///schema#' - ", `"told:///schema#" is `} {
		words = strings.TrimPrefix(words, own)
	}
	return shortened(words, 300)
}

// rule says what the results of a tool break. That a schema is held to the dialect
// 2020-12 unless it names another is said from revision 2025-11-25 on.
func (t *heldResults) rule(r *Ruling, tool, revision string) {
	const clause = "DU-09/results"
	switch {
	case t.none != nil && revision >= mcp.Revision20251125:
		r.broke(clause, "the outputSchema of "+tool+" is no JSON Schema, so that nothing can conform to it", inOneLine(t.none), owedByOutputSchema)
	case t.none != nil:
		r.doubted("the outputSchema of %s is no JSON Schema of the dialect 2020-12, and revision %q does not say which it is: %s", tool, revision, inOneLine(t.none))
	case t.unread != nil:
		r.doubted("the outputSchema of %s cannot be held to here: %s", tool, inOneLine(t.unread))
	}
	if len(t.without) > 0 {
		r.broke(clause, fmt.Sprintf("%s declares an outputSchema, and %d of %d successes have no structuredContent", tool, len(t.without), t.successes),
			append(most(distinct(t.without)), owedByOutputSchema)...)
	}
	if len(t.unlike) > 0 {
		r.broke(clause, fmt.Sprintf("%d of %d successes of %s do not conform to its outputSchema", len(t.unlike), t.successes, tool),
			append(most(distinct(t.unlike)), owedByOutputSchema)...)
	}
	if len(t.unlikeErrors) > 0 {
		r.broke(clause, fmt.Sprintf("%d of %d errors of %s have structuredContent that does not conform to its outputSchema", len(t.unlikeErrors), t.errors, tool),
			append(most(distinct(t.unlikeErrors)), owedByOutputSchema)...)
	}
}
