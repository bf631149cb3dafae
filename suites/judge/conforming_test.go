package judge

import (
	"fmt"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// results is DU-09/results: a list on an empty store and on a filled one, an error with
// structured content and one without, and a tool without an outputSchema.
func results() history.History {
	w := &spoken{story: newStory()}
	w.mark("agreed", "session", "helper.1", "revision", "2025-11-25")
	w.exchange("helper.1", "tools/list", "{}", `{"tools":[{"name":"t","outputSchema":{"type":"object","properties":{"notes":{"$ref":"#/$defs/notes"},"error":{"type":"string"}},"anyOf":[{"required":["notes"]},{"required":["error"]}],"$defs":{"notes":{"type":"array","items":{"type":"string"}}}}},{"name":"plain"}]}`)
	w.mark("claims", "claim", "an outputSchema", "tools", list("t"), "uncallable", []any{})
	call := func(n int, result string) {
		w.exchange("helper.1", "tools/call", fmt.Sprintf(`{"name":"t","arguments":{"n":%d}}`, n), result)
	}
	call(1, `{"content":[],"structuredContent":{"notes":[]}}`)
	w.claims("", "", done())
	call(2, `{"content":[],"structuredContent":{"notes":["a"]},"isError":false}`)
	call(3, `{"content":[],"structuredContent":{"error":"none"},"isError":true}`)
	call(4, `{"content":[],"isError":true}`)
	w.exchange("helper.1", "tools/call", `{"name":"plain","arguments":{}}`, `{"content":[]}`)
	return w.told()
}

// noSchemaWhy is what the library says of a schema whose type is none.
const noSchemaWhy = `not valid against metaschema: jsonschema validation failed with 'https://json-schema.org/draft/2020-12/schema#' - at '': 'allOf' failed` +
	` - at '/$defs/notes': 'allOf' failed - at '/$defs/notes/type': 'anyOf' failed - at '/$defs/notes/type': value must be one of 'array', 'boolean', 'integer', 'null', '…`

func TestResultsConform(t *testing.T) {
	const first, list = `{"notes":[]}`, `"tools":[`
	found := func(summary string, facts ...string) variant {
		return variant{finds: finds(broken("DU-09/results", summary, append(facts, owedByOutputSchema)...))}
	}
	named := func(v variant, name string, e ...edit) variant { v.name, v.edits = name, e; return v }
	unlike := func(why string) variant {
		return found("1 of 2 successes of t do not conform to its outputSchema", `arguments {"n":1}: `+why)
	}
	noSchema := edits(message(list, 1, `"type":"array"`, `"type":"list"`))
	never := []string{"no tool with an outputSchema answered with a success, so that no structured result was seen; name a call of one in profiles.durability.calls"}
	rules(t, ResultsConform, results(),
		named(unlike(`at '/notes': got null, want array`), "null on an empty store", message(first, 1, `[]`, `null`)),
		named(found("t declares an outputSchema, and 1 of 2 successes have no structuredContent", `arguments {"n":1}: {"content":[],"other":{"notes":[]}}`),
			"no structured content", message(first, 1, `structuredContent`, `other`)),
		named(unlike(`at '': got null, want object`), "null for structured content", message(first, 1, first, `null`)),
		named(found("1 of 1 errors of t have structuredContent that does not conform to its outputSchema", `arguments {"n":3}: at '/error': got number, want string`),
			"an error that does not conform", message(`{"error":"none"}`, 1, `"none"`, `404`)),
		variant{"the schema changed while the server ran", edits(message(first, 1, `"notes":[]`, `"other":[]`),
			func(events []history.Event) []history.Event {
				w := &spoken{story: newStory(), id: 100}
				w.exchange("helper.1", "tools/list", "{}", `{"tools":[{"name":"t","outputSchema":{"required":["other"]}}]}`)
				return append(events, w.told().Events...)
			}), nil, nil},
		variant{"a task is no result", edits(message(first, 1, `"structuredContent":{"notes":[]}`, `"resultType":"task"`)), nil, nil},
		variant{"only errors", edits(message(first, 1, `"content"`, `"resultType":"task","content"`), message(`["a"]`, 1, `false`, `true`)), nil, never},
		variant{"tools/list was not seen", edits(message(`"tools/list"`, 1, `tools/list`, `ping`)), nil, never},
		variant{"the outputSchema is in another document", edits(message(list, 1, `#/$defs/notes`, `https://example.invalid/notes`)), nil, []string{
			`the outputSchema of t cannot be held to here: failing loading "https://example.invalid/notes": it lies outside of the schema, and is not fetched`}},
		variant{"no schema, and the revision says no dialect", append(noSchema, markData("agreed", "revision", "2025-06-18")), nil, []string{
			`the outputSchema of t is no JSON Schema of the dialect 2020-12, and revision "2025-06-18" does not say which it is: ` + noSchemaWhy}},
		named(found("the outputSchema of t is no JSON Schema, so that nothing can conform to it", noSchemaWhy), "no schema", noSchema...),
	)
}
