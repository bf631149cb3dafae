package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// constraints are the keywords of JSON Schema that a value can break. All others
// describe, hold others, or refer to them.
var constraints = []string{
	"type", "enum", "const", "required", "additionalProperties", "minLength", "maxLength", "pattern", "minimum", "maximum", "exclusiveMinimum",
	"exclusiveMaximum", "multipleOf", "minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains", "prefixItems", "propertyNames",
	"patternProperties", "minProperties", "maxProperties", "dependentRequired", "dependentSchemas", "unevaluatedProperties", "unevaluatedItems",
	"anyOf", "oneOf", "allOf", "not", "if", "$ref", "$dynamicRef",
}

// demand is a keyword of a schema with where in a value it counts: "status",
// "list[].text", "" for the value itself.
type demand struct{ keyword, at string }

// demandsOf are what a schema demands of a value, in a fixed order. That the
// arguments of a call are an object is no demand: MCP has no others.
func demandsOf(schema any, at string) (all []demand) {
	object, _ := schema.(map[string]any)
	for _, keyword := range slices.Sorted(maps.Keys(object)) {
		value := object[keyword]
		switch keyword {
		case "properties":
			properties, _ := value.(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(properties)) {
				all = append(all, demandsOf(properties[name], nested(at, name))...)
			}
		case "items":
			all = append(all, demandsOf(value, at+"[]")...)
		case "required":
			names, _ := value.([]any)
			for _, name := range names {
				all = append(all, demand{keyword, nested(at, fmt.Sprint(name))})
			}
		default:
			if slices.Contains(constraints, keyword) && constrains(keyword, value) && (keyword != "type" || at != "") {
				all = append(all, demand{keyword, at})
			}
		}
	}
	return all
}

func nested(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// constrains says whether a keyword with this value forbids anything.
func constrains(keyword string, value any) bool {
	switch keyword {
	case "minLength", "minItems", "minProperties", "minContains":
		return number(map[string]any{"": value}, "") > 0
	case "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "uniqueItems":
		if allowed, ok := value.(bool); ok {
			return allowed == (keyword == "uniqueItems")
		}
		schema, _ := value.(map[string]any)
		return len(schema) > 0
	}
	return true
}

// coverage is what the inputSchemas of the called tools demand, and what was tried
// of it.
type coverage struct {
	demands map[string][]demand       // by tool
	trials  map[string]map[demand]int // by tool
	unknown []string                  // tools of which no schema was seen
}

// coverageOf looks at some keywords, none meaning all.
func coverageOf(h history.History, keywords []string) coverage {
	c := coverage{demands: map[string][]demand{}, trials: map[string]map[demand]int{}}
	lists := toolLists(h)
	for _, o := range h.Operations("") {
		tool := o.Invoked.Tool
		if c.trials[tool] == nil {
			c.trials[tool] = map[demand]int{}
			if len(lists) == 0 || lists[0].inputs[tool] == nil {
				c.unknown = append(c.unknown, tool)
			} else {
				c.demands[tool] = slices.DeleteFunc(demandsOf(lists[0].inputs[tool], ""), func(d demand) bool {
					return len(keywords) > 0 && !slices.Contains(keywords, d.keyword)
				})
			}
		}
		if o.Invoked.Role == "invalid" && o.Param("keyword") != "" {
			c.trials[tool][demand{o.Param("keyword"), o.Param("at")}]++
		}
	}
	return c
}

// tried tells, a line a tool, how many calls broke each keyword.
func (c coverage) tried() (lines []string) {
	for _, tool := range slices.Sorted(maps.Keys(c.trials)) {
		n := map[string]int{}
		for d, times := range c.trials[tool] {
			n[d.keyword] += times
		}
		var words []string
		for _, keyword := range slices.Sorted(maps.Keys(n)) {
			words = append(words, fmt.Sprintf("%s %d", keyword, n[keyword]))
		}
		if len(words) > 0 {
			lines = append(lines, fmt.Sprintf("tried on %s: %s", tool, strings.Join(words, ", ")))
		}
	}
	return lines
}

// untried are doubts about what no call has broken.
func (c coverage) untried() (doubts []string) {
	for _, tool := range c.unknown {
		doubts = append(doubts, "the inputSchema of "+tool+" was not seen, so that it is not known what it forbids")
	}
	for _, tool := range slices.Sorted(maps.Keys(c.demands)) {
		var missing []string
		for _, d := range c.demands[tool] {
			if c.trials[tool][d] == 0 {
				missing = append(missing, strings.TrimSuffix(d.keyword+" of "+d.at, " of "))
			}
		}
		if len(missing) > 0 {
			doubts = append(doubts, fmt.Sprintf("%s has %d demands in its inputSchema that no call has broken: %s", tool, len(missing), strings.Join(most(missing), ", ")))
		}
	}
	return doubts
}
