package judge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/holdfast-mcp/holdfast/fixtures/schemas"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// AnswersMatchSchemas (WR-35): every tool that answered declares an outputSchema
// with its states as enumerations, its structured content matches it, errors
// included, and tools/list tells every session the same. Judged from the raw
// messages.
func AnswersMatchSchemas(h history.History) Ruling {
	var r Ruling
	lists := toolLists(h)
	r.sameLists(lists)
	if len(lists) == 0 {
		return r
	}
	var undeclared, missing, unlike []string
	counted := map[string]int{}
	for _, x := range exchanges(h, "tools/call") {
		content, isError, ok := x.structured()
		if !ok {
			continue
		}
		counted["answers"]++
		output, declared := lists[0].outputs[x.tool]
		switch {
		case !declared:
			undeclared = append(undeclared, x.tool)
		case content == nil && isError:
		case content == nil:
			missing = append(missing, fmt.Sprintf("%s in session %s", x.tool, x.session))
		default:
			counted[fmt.Sprintf("error %t", isError)]++
			if err := matches(output, content); err != nil {
				unlike = append(unlike, fmt.Sprintf("%s: %v", x.tool, err))
			}
		}
	}
	if undeclared = distinct(undeclared); len(undeclared) > 0 {
		r.broke("WR-35", fmt.Sprintf("%d tools declare no outputSchema", len(undeclared)), most(undeclared)...)
	}
	if len(missing) > 0 {
		r.broke("WR-35", fmt.Sprintf("%d of %d answers have no structured content", len(missing), counted["answers"]), most(missing)...)
	}
	if len(unlike) > 0 {
		r.broke("WR-35", fmt.Sprintf("%d of %d answers do not match the outputSchema of their tool", len(unlike), counted["answers"]), most(distinct(unlike))...)
	}
	r.statesEnumerated(h, lists[0])
	if r.silent() && (counted["error true"] == 0 || counted["error false"] == 0) {
		r.doubted("of %d structured answers %d were successes and %d were errors; at least one of each is needed",
			counted["answers"], counted["error false"], counted["error true"])
	}
	return r
}

// sameLists compares what tools/list told.
func (r *Ruling) sameLists(lists []toolList) {
	sessions := map[string]bool{}
	for _, l := range lists {
		sessions[l.session] = true
		if !reflect.DeepEqual(l.tools, lists[0].tools) {
			r.broke("WR-35", "tools/list is not the same for every session",
				fmt.Sprintf("session %s and session %s are told different things", lists[0].session, l.session), differing(lists[0], l))
		}
	}
	if len(sessions) < 2 {
		r.doubted("tools/list was told to %d sessions; it is needed before and after a restart", len(sessions))
	}
}

// differing says in which tools two lists differ.
func differing(a, b toolList) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(a.entries)) {
		if !reflect.DeepEqual(a.entries[name], b.entries[name]) {
			names = append(names, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.entries)) {
		if a.entries[name] == nil {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "the order of the tools"
	}
	return "different: " + strings.Join(names, ", ")
}

// statesEnumerated wants each answered state to stand where the outputSchema has
// an enumeration.
func (r *Ruling) statesEnumerated(h history.History, list toolList) {
	free := map[string]bool{}
	seen := false
	for _, o := range h.Operations("") {
		for _, field := range []string{"state", "anchor"} {
			places := placesOf(o, list, o.Text(field))
			seen = seen || len(places) > 0
			if len(places) > 0 && !slices.ContainsFunc(places, func(p place) bool { return p.words != nil }) {
				free[fmt.Sprintf("%s: %s (%q at %s)", o.Invoked.Tool, field, o.Text(field), places[0].path)] = true
			}
		}
	}
	if len(free) > 0 {
		r.broke("WR-35", "states are no enumeration in the outputSchema", most(slices.Sorted(maps.Keys(free)))...)
	}
	if !seen {
		r.doubted("no answer was seen to tell a state")
	}
}

func matches(schema, content any) error {
	compiled, err := schemas.CompileValue(schema)
	if err != nil {
		return fmt.Errorf("its outputSchema is none: %w", err)
	}
	if err := compiled.Validate(content); err != nil {
		return fmt.Errorf("%s", shortened(strings.Join(strings.Fields(err.Error()), " "), 300))
	}
	return nil
}

// exchange is one request of a session with its answer, as raw messages.
type exchange struct {
	session, tool string
	params        json.RawMessage
	result        json.RawMessage // nil for a JSON-RPC error
}

// exchanges are the answered requests of a method, in the order of their answers.
func exchanges(h history.History, method string) []exchange {
	open := map[string]exchange{}
	var all []exchange
	for _, e := range h.Events {
		if e.Kind != history.KindMessage {
			continue
		}
		var m struct {
			envelope
			Result json.RawMessage `json:"result"`
		}
		if json.Unmarshal([]byte(e.Message.Raw), &m) != nil || m.ID == nil {
			continue
		}
		key := e.Message.Session + "\x00" + string(m.ID)
		if e.Message.Outgoing {
			if m.Method == "" {
				continue // an answer to a request of the server's, which numbers its own
			}
			delete(open, key) // a number that is used again
			if m.Method == method {
				var call named
				_ = json.Unmarshal(m.Params, &call) // of another method they name no tool
				open[key] = exchange{session: e.Message.Session, tool: call.Name, params: m.Params}
			}
			continue
		}
		if x, asked := open[key]; asked && m.Method == "" {
			x.result = m.Result
			all = append(all, x)
			delete(open, key)
		}
	}
	return all
}

// structured is the structured content of an answer, nil for none; false for a
// JSON-RPC error, which has no place for it.
func (x exchange) structured() (content any, isError, ok bool) {
	if x.result == nil {
		return nil, true, false
	}
	var result struct {
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
	}
	if json.Unmarshal(x.result, &result) != nil {
		return nil, false, false
	}
	return decoded(result.Structured), result.IsError, true
}

// decoded is a JSON value as the schema's library has it, nil for none.
func decoded(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil
	}
	return v
}

// toolList is what tools/list told a session, all pages together.
type toolList struct {
	session string
	tools   []any
	entries map[string]map[string]any // by the tool's name
	outputs map[string]any            // outputSchema by the tool's name
	inputs  map[string]any
}

func toolLists(h history.History) []toolList {
	var all []toolList
	for _, x := range exchanges(h, "tools/list") {
		var asked struct {
			Cursor string `json:"cursor"`
		}
		_ = json.Unmarshal(x.params, &asked) // the first page has no parameters
		page, _ := decoded(x.result).(map[string]any)
		tools, _ := page["tools"].([]any)
		if asked.Cursor == "" || len(all) == 0 {
			all = append(all, toolList{session: x.session, entries: map[string]map[string]any{}, outputs: map[string]any{}, inputs: map[string]any{}})
		}
		last := &all[len(all)-1]
		last.tools = append(last.tools, tools...)
		for _, tool := range tools {
			entry, _ := tool.(map[string]any)
			name := text(entry, "name")
			last.entries[name] = entry
			if output := entry["outputSchema"]; output != nil {
				last.outputs[name] = output
			}
			last.inputs[name] = entry["inputSchema"]
		}
	}
	return all
}

// place is where a text stands in an answer, with the words that the schema has
// for that place; words is nil where it has no enumeration.
type place struct {
	path, word string
	words      []string
}

// placesOf are the places at which a word stands in the structured content of an
// operation's answer.
func placesOf(o history.Operation, list toolList, word string) []place {
	if word == "" {
		return nil
	}
	return slices.DeleteFunc(allPlaces(o, list), func(p place) bool { return p.word != word })
}

func allPlaces(o history.Operation, list toolList) []place {
	if o.Returned == nil {
		return nil
	}
	answer, _ := decoded(o.Returned.Answer).(map[string]any)
	output := list.outputs[o.Invoked.Tool]
	return walk("", answer["structuredContent"], []any{output}, output)
}

// walk follows a value along its schemas and tells every text with its place.
func walk(path string, value any, schemas []any, root any) []place {
	schemas = spread(schemas, root)
	switch v := value.(type) {
	case map[string]any:
		var all []place
		for _, key := range slices.Sorted(maps.Keys(v)) {
			all = append(all, walk(path+"/"+key, v[key], below(schemas, "properties", key), root)...)
		}
		return all
	case []any:
		var all []place
		for i, entry := range v {
			all = append(all, walk(fmt.Sprintf("%s/%d", path, i), entry, below(schemas, "items", ""), root)...)
		}
		return all
	case string:
		p := place{path: path, word: v}
		for _, s := range schemas {
			one, _ := s.(map[string]any)
			words, _ := one["enum"].([]any)
			if fixed, ok := one["const"]; ok {
				words = append(words, fixed)
			}
			for _, w := range words {
				p.words = append(p.words, fmt.Sprint(w))
			}
		}
		return []place{p}
	}
	return nil
}

// spread adds the schemas that others are made of: their parts and references.
func spread(schemas []any, root any) []any {
	const most = 100 // a schema may refer to itself
	all := slices.Clone(schemas)
	for i := 0; i < len(all) && len(all) < most; i++ {
		one, _ := all[i].(map[string]any)
		for _, key := range []string{"anyOf", "oneOf", "allOf"} {
			parts, _ := one[key].([]any)
			all = append(all, parts...)
		}
		if ref, ok := one["$ref"].(string); ok && strings.HasPrefix(ref, "#/") {
			target := root
			for _, step := range strings.Split(ref[2:], "/") {
				object, _ := target.(map[string]any)
				target = object[step]
			}
			all = append(all, target)
		}
	}
	return all
}

// below are the schemas of what lies one step below.
func below(schemas []any, key, name string) []any {
	var all []any
	for _, s := range schemas {
		one, _ := s.(map[string]any)
		next := one[key]
		if name != "" {
			properties, _ := next.(map[string]any)
			next = properties[name]
		}
		if next != nil {
			all = append(all, next)
		}
	}
	return all
}
