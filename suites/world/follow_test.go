package world

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/fixtures/schemas"
)

func TestArgumentsAreGeneratedBehindReferences(t *testing.T) {
	for name, c := range map[string]struct{ schema, want string }{
		"a reference at the root": {
			`{"$ref": "#/$defs/args", "$defs": {"args": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}}`,
			`{"text": "word"}`},
		"through definitions, and another reference": {
			`{"$ref": "#/definitions/a", "definitions": {"a": {"$ref": "#/definitions/b"}, "b": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 3}}, "required": ["n"]}}}`,
			`{"n": 3}`},
		"of a property, and of the entries of a list": {
			`{"type": "object", "properties": {"all": {"type": "array", "items": {"$ref": "#/$defs/one"}}, "kind": {"$ref": "#/$defs/kind"}}, "required": ["all", "kind"],
			  "$defs": {"one": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}, "kind": {"enum": ["task", "note"]}}}`,
			`{"all": [{"text": "word"}], "kind": "task"}`},
		"an allOf of one at the root": {
			`{"allOf": [{"$ref": "#/$defs/args"}], "required": ["more"], "properties": {"more": {"type": "boolean"}}, "$defs": {"args": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}}`,
			`{"text": "word", "more": false}`},
		"an allOf of one with a default beside it": {
			`{"type": "object", "properties": {"level": {"allOf": [{"$ref": "#/$defs/level"}], "default": "low"}}, "required": ["level"], "$defs": {"level": {"type": "string"}}}`,
			`{"level": "low"}`},
		"what stands beside a reference is asked for as well": {
			`{"type": "object", "properties": {"text": {"$ref": "#/$defs/text", "minLength": 6}}, "required": ["text"], "$defs": {"text": {"type": "string"}}}`,
			`{"text": "wordxx"}`},
		"names that have to be escaped": {
			`{"$ref": "#/$defs/a~1b%20c", "$defs": {"a/b c": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}}`,
			`{"text": "word"}`},
		"a reference to a place that is no definition": {
			`{"type": "object", "properties": {"one": {"type": "string"}, "two": {"$ref": "#/properties/one"}}, "required": ["one", "two"]}`,
			`{"one": "word", "two": "word"}`},
		"a property by the name of a keyword": {
			`{"type": "object", "properties": {"$ref": {"type": "string"}, "allOf": {"type": "string"}}, "required": ["$ref", "allOf"]}`,
			`{"$ref": "word", "allOf": "word"}`},
		"a schema that may hold itself": {
			`{"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}}, "required": ["name"]}}}`,
			`{"name": "word"}`},
		"a root that holds itself": {
			`{"type": "object", "properties": {"name": {"type": "string"}, "parent": {"$ref": "#"}}, "required": ["name"]}`,
			`{"name": "word"}`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s, err := schemaOf(json.RawMessage(c.schema))
			g.Expect(err).NotTo(HaveOccurred())
			whole, err := schemas.Compile(json.RawMessage(c.schema))
			g.Expect(err).NotTo(HaveOccurred())
			got, err := json.Marshal(s.generated("word"))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(MatchJSON(c.want))
			g.Expect(whole.Validate(s.generated("word"))).To(Succeed())
		})
	}
}

func TestASchemaBehindAReferenceIsBroken(t *testing.T) {
	g := NewWithT(t)
	raw := json.RawMessage(`{"$ref": "#/$defs/args", "$defs": {"args": {"type": "object", "additionalProperties": false, "required": ["text"], "properties": {"text": {"$ref": "#/$defs/text"}}}, "text": {"type": "string", "maxLength": 9}}}`)
	s, err := schemaOf(raw)
	g.Expect(err).NotTo(HaveOccurred())
	whole, err := schemas.Compile(raw)
	g.Expect(err).NotTo(HaveOccurred())
	var keywords []string
	for _, b := range s.breaches(s.generated("word")) {
		keywords = append(keywords, b.keyword)
		g.Expect(whole.Validate(b.value)).NotTo(Succeed(), b.what)
	}
	g.Expect(keywords).To(Equal([]string{"required", "type", "maxLength", "additionalProperties"}))
}

func TestReferencesThatLeadNowhereAllowAnything(t *testing.T) {
	for name, raw := range map[string]string{
		"no such place":    `{"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}}`,
		"another document": `{"type": "object", "properties": {"a": {"$ref": "https://example.invalid/x.json"}}}`,
		"an anchor":        `{"type": "object", "properties": {"a": {"$ref": "#there"}}}`,
		"in a circle":      `{"type": "object", "properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"$ref": "#/$defs/y"}, "y": {"$ref": "#/$defs/x"}}}`,
		"past a list":      `{"type": "object", "properties": {"a": {"$ref": "#/allOf/7"}}, "allOf": [true, true]}`,
	} {
		t.Run(name, func(t *testing.T) {
			s, err := schemaOf(json.RawMessage(raw))
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
			NewWithT(t).Expect(s.Properties["a"].generated("word")).To(Equal("word"))
		})
	}
}

func TestReferencesThatDoubleAtEveryLevelEnd(t *testing.T) {
	defs := map[string]any{"0": map[string]any{"type": "string"}}
	names := []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16", "17", "18", "19", "20"}
	for i, name := range names[1:] {
		below := map[string]any{"$ref": "#/$defs/" + names[i]}
		defs[name] = map[string]any{"type": "object", "properties": map[string]any{"a": below, "b": below}}
	}
	raw, err := json.Marshal(map[string]any{"$ref": "#/$defs/20", "$defs": defs})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	s, err := schemaOf(raw)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(s.Properties).To(HaveKey("a"))
}

func TestWhatIsNoSchemaIsAnError(t *testing.T) {
	for _, raw := range []string{"", "{", `{"required": 7}`} {
		_, err := schemaOf(json.RawMessage(raw))
		NewWithT(t).Expect(err).To(HaveOccurred(), raw)
	}
}
