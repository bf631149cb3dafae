package world

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestBreachesBreakOneKeywordEach(t *testing.T) {
	const raw = `{"type":"object","required":["name","list"],"additionalProperties":false,"properties":{
		"name":{"type":"string","minLength":1,"maxLength":3,"pattern":"^\\P{Cc}+$"},
		"status":{"type":"string","enum":["open","done"]},
		"count":{"type":"integer","minimum":1,"maximum":5},
		"free":true,
		"list":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"object","required":["text"],"properties":{"text":{"type":"string"}}}}}}`
	whole, err := compiled(json.RawMessage(raw))
	if err != nil {
		t.Fatal(err)
	}
	var in schema
	if err := json.Unmarshal([]byte(raw), &in); err != nil {
		t.Fatal(err)
	}
	valid := map[string]any{"name": "ab", "status": "open", "count": 3.0, "free": "x", "list": []any{map[string]any{"text": "t"}}}
	if err := whole.Validate(valid); err != nil {
		t.Fatalf("the valid value is none: %v", err)
	}
	var told []string
	for _, b := range in.breaches(valid) {
		told = append(told, b.keyword+": "+b.what)
		if whole.Validate(b.value) == nil {
			t.Errorf("%s: the schema allows %v", b.what, b.value)
		}
	}
	want := []string{
		"required: required property list is missing",
		"required: required property name is missing",
		"type: property count has the wrong type",
		"minimum: property count: below its minimum",
		"maximum: property count: above its maximum",
		"type: property list has the wrong type",
		"minItems: property list: too few entries",
		"maxItems: property list: too many entries",
		"required: property list: second entry: required property text is missing",
		"type: property list: second entry: property text has the wrong type",
		"type: property name has the wrong type",
		"minLength: property name: shorter than its minLength",
		"maxLength: property name: longer than its maxLength",
		"pattern: property name: unlike its pattern",
		"type: property status has the wrong type",
		"enum: property status: a value that nobody offered",
		"enum: property status: an offered value in another case",
		"enum: property status: an offered value with a space behind it",
		"additionalProperties: a property that the schema does not know",
	}
	if !slices.Equal(told, want) {
		t.Errorf("the breaches are\n%q\nexpected\n%q", told, want)
	}
}

func TestAnOpenSchemaHasFewBreaches(t *testing.T) {
	for _, tt := range []struct {
		raw  string
		want int
	}{
		{`{"properties":{"name":{"type":"string"}}}`, 1},
		{`{"properties":{"name":{"type":"string","pattern":"("}}}`, 1},
		{`{"properties":{"name":{"type":"string","maxLength":100000000}}}`, 1},
		{`true`, 0},
	} {
		var in schema
		if err := json.Unmarshal([]byte(tt.raw), &in); err != nil {
			t.Fatal(err)
		}
		if got := in.breaches(map[string]any{"name": "ab"}); len(got) != tt.want {
			t.Errorf("%s has %d breaches, expected %d: %v", tt.raw, len(got), tt.want, got)
		}
	}
}
