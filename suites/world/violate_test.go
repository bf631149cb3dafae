package world

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/holdfast-mcp/holdfast/fixtures/schemas"
)

func TestBreachesBreakOneKeywordEach(t *testing.T) {
	const raw = `{"type":"object","required":["name","list"],"additionalProperties":false,"properties":{
		"name":{"type":"string","minLength":1,"maxLength":3,"pattern":"^\\P{Cc}+$"},
		"status":{"type":"string","enum":["open","done"]},
		"count":{"type":"integer","minimum":1,"maximum":5},
		"free":true,
		"list":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"object","required":["text"],"properties":{"text":{"type":"string"}}}}}}`
	whole, err := schemas.Compile(json.RawMessage(raw))
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
	places := map[string]string{}
	for _, b := range in.breaches(valid) {
		told = append(told, b.keyword+": "+b.what)
		places[b.keyword+": "+b.what] = b.at
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
		"type: property list: second entry has the wrong type",
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
	for what, at := range map[string]string{
		"additionalProperties: a property that the schema does not know": "", "required: required property name is missing": "name",
		"minLength: property name: shorter than its minLength": "name", "minItems: property list: too few entries": "list",
		"type: property list: second entry has the wrong type": "list[]", "type: property list: second entry: property text has the wrong type": "list[].text",
	} {
		if places[what] != at {
			t.Errorf("%q is said to be at %q, expected %q", what, places[what], at)
		}
	}
}

func TestWhatIsLeftOutIsFilledIn(t *testing.T) {
	const raw = `{"type":"object","additionalProperties":false,"dependentRequired":{"after":["key"]},"properties":{"key":{"type":"string"},
		"status":{"enum":["open","done"]},"label":{"type":["string","null"],"minLength":3},"count":{"type":"integer","minimum":4},
		"share":{"type":"number","exclusiveMaximum":1},"code":{"type":"string","pattern":"^[0-9]+$"},"after":{"type":"string"},"list":{"type":"array"}}}`
	whole, err := schemas.Compile(json.RawMessage(raw))
	if err != nil {
		t.Fatal(err)
	}
	var in schema
	if err := json.Unmarshal([]byte(raw), &in); err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(in.filled(map[string]any{"key": "k"}, whole))
	if want := `{"after":"x","count":4,"key":"k","label":"xxx","share":0,"status":"open"}`; err != nil || string(got) != want {
		t.Errorf("filled in is %s (%v), expected %s", got, err, want)
	}
	if value, ok := in.Properties["label"].otherType(); !ok || whole.Validate(map[string]any{"label": value}) == nil {
		t.Errorf("%v is taken for a wrong type of a text that may be null", value)
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

func TestANumberOfAnEnumerationIsBroken(t *testing.T) {
	var in schema
	if err := json.Unmarshal([]byte(`{"properties":{"level":{"enum":[0,1,3]}}}`), &in); err != nil {
		t.Fatal(err)
	}
	got := in.breaches(map[string]any{"level": 1.0})
	if len(got) != 1 || got[0].keyword != "enum" || got[0].at != "level" || got[0].value.(map[string]any)["level"] != 2.0 {
		t.Errorf("the breaches are %v, expected the level 2", got)
	}
}

func TestHasKeyword(t *testing.T) {
	for _, tt := range []struct {
		raw  string
		want bool
	}{
		{`{"properties":{"status":{"enum":["a"]}}}`, true},
		{`{"properties":{"list":{"items":{"anyOf":[{"type":"string"},{"enum":[1]}]}}}}`, true},
		{`{"$defs":{"status":{"enum":["a"]}}}`, true},
		{`{"properties":{"enum":{"type":"string"}}}`, false},
		{`{"type":"object"}`, false},
		{`true`, false},
	} {
		var doc any
		if err := json.Unmarshal([]byte(tt.raw), &doc); err != nil {
			t.Fatal(err)
		}
		if got := hasKeyword(doc, []string{"enum"}); got != tt.want {
			t.Errorf("that %s has an enumeration is said to be %t", tt.raw, got)
		}
	}
}

func TestALongListIsThinnedOverAllOfIt(t *testing.T) {
	var all []int
	for i := range 1000 {
		all = append(all, i)
	}
	got := some(all, 100)
	if len(got) != 100 || got[0] != 0 || got[50] != 500 || got[99] != 990 {
		t.Errorf("100 of 1000 are %v", got)
	}
	if got := some(all[:7], 100); len(got) != 7 {
		t.Errorf("of a list that is short enough %d are left", len(got))
	}
}

// A bound below nothing is none that a value could break.
func TestABoundBelowNothingIsNotBroken(t *testing.T) {
	below := -7
	for _, b := range append(schema{MaxLength: &below}.breachesOfText("x"), schema{MaxItems: &below}.breachesOfList([]any{"x"})...) {
		if b.keyword == "maxLength" || b.keyword == "maxItems" {
			t.Errorf("%+v breaks a bound of %d", b, below)
		}
	}
}
