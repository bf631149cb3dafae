package world

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// schemaOf reads a JSON Schema with its references followed: what stands under $defs,
// or elsewhere in the schema, stands where it is referred to, and an allOf of one in
// place of itself. Of a schema within itself the inner one allows anything.
func schemaOf(raw json.RawMessage) (schema, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var doc any
	var s schema
	err := decoder.Decode(&doc)
	if err == nil {
		f := follower{root: doc, open: map[string]int{}}
		var text []byte
		if text, err = json.Marshal(f.follow(doc)); err == nil {
			err = json.Unmarshal(text, &s)
		}
	}
	return s, err
}

const (
	// within is how often a schema is followed within itself.
	within = 2
	// mostFollowed bounds the schemas that are followed in one: references can double
	// at every level.
	mostFollowed = 10_000
)

// follower puts what is referred to in place of the references.
type follower struct {
	root     any
	open     map[string]int // references that are being followed
	followed int
}

// literal are the keywords whose values are no schemas, named those whose values are
// schemas by a name.
var (
	literal = []string{"enum", "const", "default", "examples", "required", "dependentRequired"}
	named   = []string{"properties", "patternProperties", "dependentSchemas"}
	kept    = []string{"$defs", "definitions"}
)

func (f *follower) follow(doc any) any {
	if f.followed++; f.followed > mostFollowed {
		return true
	}
	if list, ok := doc.([]any); ok {
		out := make([]any, len(list))
		for i, part := range list {
			out[i] = f.follow(part)
		}
		return out
	}
	from, ok := doc.(map[string]any)
	if !ok {
		return doc
	}
	out := map[string]any{}
	for _, keyword := range slices.Sorted(maps.Keys(from)) {
		switch part := from[keyword]; {
		case slices.Contains(kept, keyword):
		case slices.Contains(literal, keyword):
			out[keyword] = part
		case slices.Contains(named, keyword):
			out[keyword] = f.each(part)
		default:
			out[keyword] = f.follow(part)
		}
	}
	if only, ok := out["allOf"].([]any); ok && len(only) == 1 {
		delete(out, "allOf")
		out = both(only[0], out)
	}
	if ref, ok := out["$ref"].(string); ok {
		delete(out, "$ref")
		if target, there := pointedAt(f.root, ref); there && f.open[ref] < within {
			f.open[ref]++
			out = both(f.follow(target), out)
			f.open[ref]--
		}
	}
	return out
}

func (f *follower) each(part any) any {
	schemas, ok := part.(map[string]any)
	if !ok {
		return part
	}
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		out[name] = f.follow(schemas[name])
	}
	return out
}

// both is what two schemas ask for together, as far as keywords of theirs do not
// contradict each other; then that of the second one stands.
func both(one any, two map[string]any) map[string]any {
	first, ok := one.(map[string]any)
	if !ok {
		return two
	}
	out := maps.Clone(first)
	for keyword, part := range two {
		was, there := out[keyword]
		names, isList := was.([]any)
		more, alsoList := part.([]any)
		properties, isMap := was.(map[string]any)
		others, alsoMap := part.(map[string]any)
		switch {
		case there && keyword == "required" && isList && alsoList:
			out[keyword] = slices.Concat(names, more)
		case there && keyword == "properties" && isMap && alsoMap:
			all := maps.Clone(properties)
			for name, property := range others {
				if own, ok := property.(map[string]any); ok {
					property = both(all[name], own)
				}
				all[name] = property
			}
			out[keyword] = all
		default:
			out[keyword] = part
		}
	}
	return out
}

// pointedAt is what a reference within a document points at: "#", "#/$defs/note".
func pointedAt(root any, ref string) (any, bool) {
	pointer, here := strings.CutPrefix(ref, "#")
	pointer, err := url.PathUnescape(pointer)
	if !here || err != nil || pointer != "" && pointer[0] != '/' {
		return nil, false
	}
	at := root
	if pointer == "" {
		return at, true
	}
	for step := range strings.SplitSeq(pointer[1:], "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch v := at.(type) {
		case map[string]any:
			part, there := v[step]
			if !there {
				return nil, false
			}
			at = part
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			at = v[i]
		default:
			return nil, false
		}
	}
	return at, true
}
