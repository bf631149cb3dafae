package world

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/fixtures/schemas"
)

// formats are texts of the formats that a schema may ask for.
var formats = map[string]string{
	"date-time": "2027-03-01T12:00:00Z", "date": "2027-03-01", "time": "12:00:00Z", "duration": "PT1S",
	"email": "someone@example.invalid", "hostname": "example.invalid", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1",
	"uri": "https://example.invalid/", "uri-reference": "/", "uuid": "3e1f6f0a-6a54-4f6a-9d6e-0d1f7c3b2a10",
}

// deepest bounds a schema that holds itself.
const deepest = 8

// generated is a value that a schema most likely allows: what is required and no
// more, with a word in its texts. Whether it does is for the whole schema to say.
func (s schema) generated(word string) any { return s.generatedBelow(word, 0) }

func (s schema) generatedBelow(word string, depth int) any {
	switch {
	case s.Const != nil:
		return s.Const
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Default != nil:
		return s.Default
	case depth > deepest:
		return nil
	case s.allows("object") || s.Type == nil && len(s.Properties) > 0:
		out := map[string]any{}
		for _, name := range s.Required {
			out[name] = s.Properties[name].generatedBelow(word, depth+1)
		}
		return out
	case s.allows("array"):
		out := []any{}
		least := 1
		if s.MinItems != nil {
			least = max(least, *s.MinItems)
		}
		for range min(least, longest) {
			if s.Items != nil {
				out = append(out, s.Items.generatedBelow(word, depth+1))
			}
		}
		return out
	case s.allows("string"):
		return s.text(word)
	case s.allows("boolean"):
		return false
	case s.allows("integer") || s.allows("number"):
		return s.example()
	case s.Type == nil:
		return word
	}
	return nil
}

// text is a word, or a text of the format, that fits the lengths.
func (s schema) text(word string) string {
	if text, known := formats[s.Format]; known {
		return text
	}
	runes := []rune(word)
	if s.MaxLength != nil && len(runes) > *s.MaxLength {
		runes = runes[len(runes)-max(*s.MaxLength, 0):] // its end is what differs
	}
	text := string(runes)
	if s.MinLength != nil && len(runes) < *s.MinLength {
		text += strings.Repeat("x", min(*s.MinLength, longest)-len(runes))
	}
	if pattern, err := schemas.CompilePattern(s.Pattern); s.Pattern != "" && err == nil && !pattern.MatchString(text) {
		for _, other := range []string{strings.NewReplacer(" ", "-", "~", "").Replace(text), "x", "a1", "1", "A", "2027-03-01", "/x"} {
			if pattern.MatchString(other) {
				return other
			}
		}
	}
	return text
}

// ordered are the entries of a map in the order of their names.
func ordered[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if !yield(name, m[name]) {
				return
			}
		}
	}
}
