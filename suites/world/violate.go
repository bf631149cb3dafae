package world

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/holdfast-mcp/holdfast/fixtures/schemas"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
)

// Violations are calls that break the inputSchema of a tool, one breach each,
// with the keyword of the schema that is broken. fresh makes a valid call of the
// tool with keys of its own; it is asked once a breach, so that what one of them
// might store is told from the others. keywords narrow the breaches; none means all.
func (c *Caller) Violations(fresh func() Act, keywords ...string) []Act {
	act := fresh()
	name := c.tool(act).Name
	raw := c.rawInputSchema(name)
	in, err := schemaOf(raw)
	if err != nil {
		Inconclusive("tools/list gives no inputSchema of %s that can be read", name)
	}
	whole, err := schemas.Compile(raw)
	if err != nil {
		Inconclusive("the inputSchema of %s is none: %v", name, err)
	}
	if err := whole.Validate(c.expanded(act)); err != nil {
		Inconclusive("the target file's call of %s does not match the tool's own inputSchema, so that nothing follows from a refusal: %v", name, err)
	}
	var acts []Act
	for i, first := range in.breaches(in.filled(c.expanded(act), whole)) {
		if len(keywords) > 0 && !slices.Contains(keywords, first.keyword) {
			continue
		}
		act = fresh()
		again := in.breaches(in.filled(c.expanded(act), whole))
		if i >= len(again) || whole.Validate(again[i].value) == nil {
			continue // another keyword of the schema allows it after all
		}
		tool := c.tool(act)
		tool.Arguments, _ = again[i].value.(map[string]any)
		acts = append(acts, Act{Role: "invalid", Tool: &tool, Params: map[string]string{
			"violation": again[i].what, "keyword": again[i].keyword, "at": again[i].at, "of": act.Role,
		}})
	}
	return acts
}

// Mismatch says how an act's arguments break the inputSchema of its tool; "" where they
// do not, or where the helper lists none that can be read.
func (c *Caller) Mismatch(act Act) string {
	whole, err := schemas.Compile(c.rawInputSchema(c.tool(act).Name))
	if err != nil {
		return ""
	}
	if err := whole.Validate(c.expanded(act)); err != nil {
		_, where, _ := strings.Cut(err.Error(), "\n") // behind the schema's own address
		return strings.ReplaceAll(strings.TrimPrefix(where, "- "), "\n- ", "; ")
	}
	return ""
}

// Offered are calls with each value that an enumeration of the tool's
// inputSchema offers, one a call. The property and the value are told to the judges.
func (c *Caller) Offered(fresh func() Act) []Act {
	act := fresh()
	in, _ := c.inputSchema(c.tool(act).Name)
	var acts []Act
	for _, property := range slices.Sorted(maps.Keys(in.Properties)) {
		for _, value := range in.Properties[property].Enum {
			act := fresh()
			tool := c.tool(act)
			tool.Arguments, _ = with(c.expanded(act), property, value).(map[string]any)
			act.Tool = &tool
			acts = append(acts, act.With("offered", fmt.Sprint(value)).With("property", property))
		}
	}
	return acts
}

// Demands says whether the inputSchema of any tool that the target file names has
// one of the keywords.
func (c *Caller) Demands(keywords ...string) bool {
	for _, tool := range c.w.Target.Profiles.WorkRecords.Tools {
		var doc any
		if json.Unmarshal(c.rawInputSchema(tool.Name), &doc) == nil && hasKeyword(doc, keywords) {
			return true
		}
	}
	return false
}

// hasKeyword looks for keywords in a schema and all that it holds. The names of
// properties are none.
func hasKeyword(doc any, keywords []string) bool {
	switch v := doc.(type) {
	case []any:
		return slices.ContainsFunc(v, func(part any) bool { return hasKeyword(part, keywords) })
	case map[string]any:
		for name, part := range v {
			if properties, ok := part.(map[string]any); ok && name == "properties" {
				part = slices.Collect(maps.Values(properties))
			} else if slices.Contains(keywords, name) {
				return true
			}
			if hasKeyword(part, keywords) {
				return true
			}
		}
	}
	return false
}

// expanded are the arguments of an act.
func (c *Caller) expanded(act Act) map[string]any {
	tool := c.tool(act)
	out, err := c.w.known(c.known).With(target.Scope(act.Params)).ExpandAny(tool.Arguments)
	if err != nil {
		Broken("making the arguments of %s: %v", tool.Name, err)
	}
	arguments, _ := out.(map[string]any)
	return arguments
}

func (c *Caller) rawInputSchema(tool string) json.RawMessage {
	for _, t := range c.tools() {
		if t.Name == tool {
			return t.InputSchema
		}
	}
	return nil
}

// schema is what is read of a JSON Schema to break it.
type schema struct {
	Type             any               `json:"type"`
	Required         []string          `json:"required"`
	Properties       map[string]schema `json:"properties"`
	Closed           any               `json:"additionalProperties"`
	Items            *schema           `json:"items"`
	Enum             []any             `json:"enum"`
	MinLength        *int              `json:"minLength"`
	MaxLength        *int              `json:"maxLength"`
	Pattern          string            `json:"pattern"`
	Minimum          *float64          `json:"minimum"`
	Maximum          *float64          `json:"maximum"`
	ExclusiveMinimum *float64          `json:"exclusiveMinimum"`
	ExclusiveMaximum *float64          `json:"exclusiveMaximum"`
	MinItems         *int              `json:"minItems"`
	MaxItems         *int              `json:"maxItems"`
	Const            any               `json:"const"`
	Default          any               `json:"default"`
	Format           string            `json:"format"`
}

// UnmarshalJSON takes true and false for the schemas that they are.
func (s *schema) UnmarshalJSON(raw []byte) error {
	if text := string(bytes.TrimSpace(raw)); text == "true" || text == "false" {
		return nil
	}
	type plain schema
	return json.Unmarshal(raw, (*plain)(s))
}

// breach is a value that a schema does not allow, for one reason. at is where in
// the value the keyword stands: "status", "list[].text".
type breach struct {
	what    string
	keyword string
	at      string
	value   any
}

// under is a breach one level down, told from above.
func (b breach) under(what, at string, value any) breach {
	if b.at != "" && !strings.HasPrefix(b.at, "[]") {
		at += "."
	}
	return breach{what + ": " + b.what, b.keyword, at + b.at, value}
}

// filled adds to a valid value what else its schema knows and the value leaves out,
// as far as the whole stays valid: what is not there breaks no bound.
func (s schema) filled(valid map[string]any, whole *jsonschema.Schema) map[string]any {
	full := maps.Clone(valid)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if _, there := full[name]; there {
			continue
		}
		if more, ok := with(full, name, s.Properties[name].example()).(map[string]any); ok && whole.Validate(more) == nil {
			full = more
		}
	}
	return full
}

// example is a value that a schema of a text or a number most likely allows, nil
// for others.
func (s schema) example() any {
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.allows("string"):
		least := 1
		if s.MinLength != nil {
			least = max(least, *s.MinLength)
		}
		return strings.Repeat("x", min(least, longest))
	case s.allows("integer") || s.allows("number"):
		for _, bound := range []struct {
			at *float64
			by float64
		}{{s.Minimum, 0}, {s.Maximum, 0}, {s.ExclusiveMinimum, 1}, {s.ExclusiveMaximum, -1}} {
			if bound.at != nil {
				return *bound.at + bound.by
			}
		}
		return 1.0
	}
	return nil
}

// allows says whether a schema names a type among its own.
func (s schema) allows(name string) bool {
	types, _ := s.Type.([]any)
	return s.Type == name || slices.Contains(types, any(name))
}

// breaches are values next to a valid one that break the schema by one keyword
// each: what is required left out, wrong types, values outside an enumeration or
// bounds, an extra property where none is allowed; and the same one level down,
// in a list behind a valid entry.
func (s schema) breaches(valid any) []breach {
	switch v := valid.(type) {
	case map[string]any:
		return s.breachesOfObject(v)
	case []any:
		return s.breachesOfList(v)
	case string:
		return s.breachesOfText(v)
	case float64, int, int64:
		return s.breachesOfNumber()
	}
	return nil
}

func (s schema) breachesOfObject(valid map[string]any) []breach {
	var out []breach
	for _, name := range slices.Sorted(slices.Values(s.Required)) {
		if _, there := valid[name]; there {
			out = append(out, breach{"required property " + name + " is missing", "required", name, without(valid, name)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		if wrong, ok := property.otherType(); ok {
			out = append(out, breach{"property " + name + " has the wrong type", "type", name, with(valid, name, wrong)})
		}
		for _, inner := range property.breaches(valid[name]) {
			out = append(out, inner.under("property "+name, name, with(valid, name, inner.value)))
		}
	}
	if s.Closed == false {
		out = append(out, breach{"a property that the schema does not know", "additionalProperties", "", with(valid, "holdfast_unknown", "x")})
	}
	return out
}

func (s schema) breachesOfList(valid []any) []breach {
	var out []breach
	if s.MinItems != nil && *s.MinItems > 0 && len(valid) >= *s.MinItems {
		out = append(out, breach{"too few entries", "minItems", "", valid[:*s.MinItems-1]})
	}
	if len(valid) == 0 {
		return out
	}
	if s.MaxItems != nil && *s.MaxItems >= 0 && *s.MaxItems < longest {
		out = append(out, breach{"too many entries", "maxItems", "", slices.Repeat(valid[:1], *s.MaxItems+1)})
	}
	if s.Items != nil {
		if wrong, ok := s.Items.otherType(); ok {
			out = append(out, breach{"second entry has the wrong type", "type", "[]", []any{valid[0], wrong}})
		}
		for _, inner := range s.Items.breaches(valid[0]) {
			out = append(out, inner.under("second entry", "[]", []any{valid[0], inner.value}))
		}
	}
	return out
}

// longest bounds the texts and lists that are made to break an upper bound.
const longest = 1 << 20

func (s schema) breachesOfText(valid string) []breach {
	var out []breach
	if len(s.Enum) > 0 {
		for _, other := range []struct{ what, value string }{
			{"a value that nobody offered", "holdfast-unknown"},
			{"an offered value in another case", otherCase(valid)},
			{"an offered value with a space behind it", valid + " "},
		} {
			if !slices.Contains(s.Enum, any(other.value)) {
				out = append(out, breach{other.what, "enum", "", other.value})
			}
		}
	}
	if runes := []rune(valid); s.MinLength != nil && *s.MinLength > 0 && len(runes) >= *s.MinLength {
		out = append(out, breach{"shorter than its minLength", "minLength", "", string(runes[:*s.MinLength-1])})
	}
	if s.MaxLength != nil && *s.MaxLength >= 0 && *s.MaxLength < longest {
		out = append(out, breach{"longer than its maxLength", "maxLength", "", strings.Repeat("x", *s.MaxLength+1)})
	}
	if value, ok := s.unlike(valid); ok {
		out = append(out, breach{"unlike its pattern", "pattern", "", value})
	}
	return out
}

func otherCase(text string) string {
	if upper := strings.ToUpper(text); upper != text {
		return upper
	}
	return strings.ToLower(text)
}

// unlike is a text that fits the schema's lengths and not its pattern.
func (s schema) unlike(valid string) (string, bool) {
	pattern, err := schemas.CompilePattern(s.Pattern)
	if s.Pattern == "" || err != nil {
		return "", false
	}
	for _, text := range []string{valid + "\x01", "\x01", valid + " ", " ", valid + "!", "!", valid + "é", "é", "x", "0"} {
		n := utf8.RuneCountInString(text)
		if !pattern.MatchString(text) && (s.MinLength == nil || n >= *s.MinLength) && (s.MaxLength == nil || n <= *s.MaxLength) {
			return text, true
		}
	}
	return "", false
}

func (s schema) breachesOfNumber() []breach {
	var out []breach
	if len(s.Enum) > 0 {
		other := 0.0
		for slices.Contains(s.Enum, any(other)) {
			other++
		}
		out = append(out, breach{"a value that nobody offered", "enum", "", other})
	}
	for _, bound := range []struct {
		at            *float64
		keyword, what string
		by            float64
	}{
		{s.Minimum, "minimum", "below its minimum", -1},
		{s.Maximum, "maximum", "above its maximum", 1},
		{s.ExclusiveMinimum, "exclusiveMinimum", "not above its exclusiveMinimum", 0},
		{s.ExclusiveMaximum, "exclusiveMaximum", "not below its exclusiveMaximum", 0},
	} {
		if bound.at != nil {
			out = append(out, breach{bound.what, bound.keyword, "", *bound.at + bound.by})
		}
	}
	return out
}

// otherType is a value of a type that a schema does not name.
func (s schema) otherType() (any, bool) {
	if s.Type == nil {
		return nil, false
	}
	for _, other := range []struct {
		name  string
		value any
	}{
		{"object", map[string]any{"not": "of the right type"}}, {"string", "of the wrong type"}, {"array", []any{"of the wrong type"}}, {"boolean", true},
	} {
		if !s.allows(other.name) {
			return other.value, true
		}
	}
	return nil, false
}

func without(m map[string]any, name string) map[string]any {
	out := maps.Clone(m)
	delete(out, name)
	return out
}

func with(m map[string]any, name string, value any) any {
	out := maps.Clone(m)
	out[name] = value
	return out
}
