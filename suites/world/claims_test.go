package world

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/fixtures/mcp"
	"github.com/holdfast-mcp/holdfast/fixtures/schemas"
)

func TestGeneratedArgumentsAreAllowed(t *testing.T) {
	for name, text := range map[string]string{
		"nothing is required":  `{"type":"object","properties":{"a":{"type":"integer"}}}`,
		"texts":                `{"type":"object","required":["a","b"],"additionalProperties":false,"properties":{"a":{"type":"string","minLength":40},"b":{"type":"string","maxLength":3}}}`,
		"numbers":              `{"type":"object","required":["a","b","c"],"properties":{"a":{"type":"integer","minimum":5},"b":{"type":"number","exclusiveMaximum":0},"c":{"type":"boolean"}}}`,
		"an enumeration":       `{"type":"object","required":["a","b"],"properties":{"a":{"enum":["x","y"]},"b":{"const":3}}}`,
		"a list of objects":    `{"type":"object","required":["l"],"properties":{"l":{"type":"array","minItems":2,"items":{"type":"object","required":["t"],"properties":{"t":{"type":"string"}}}}}}`,
		"a format":             `{"type":"object","required":["a"],"properties":{"a":{"type":"string","format":"date"}}}`,
		"a pattern":            `{"type":"object","required":["a"],"properties":{"a":{"type":"string","pattern":"^[a-z0-9-]+$"}}}`,
		"several types":        `{"type":"object","required":["a"],"properties":{"a":{"type":["string","null"]}}}`,
		"no type":              `{"type":"object","required":["a"],"properties":{"a":{}}}`,
		"a default that is it": `{"type":"object","required":["a"],"properties":{"a":{"type":"string","default":"en"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			whole, err := schemas.Compile(json.RawMessage(text))
			g.Expect(err).NotTo(HaveOccurred())
			var in schema
			g.Expect(json.Unmarshal([]byte(text), &in)).To(Succeed())
			g.Expect(whole.Validate(in.generated("generated ~0123abcd"))).To(Succeed())
		})
	}
}

func TestASchemaThatHoldsItselfEnds(t *testing.T) {
	one := schema{Type: "object", Required: []string{"next"}}
	one.Properties = map[string]schema{"next": {}}
	deep := one
	for range 20 {
		deep = schema{Type: "object", Required: []string{"next"}, Properties: map[string]schema{"next": deep}}
	}
	NewWithT(t).Expect(deep.generated("w")).NotTo(BeNil())
}

func TestClaimsOfATool(t *testing.T) {
	for _, c := range []struct {
		annotations string
		claims      []Claim
	}{
		{`{"readOnlyHint":true,"idempotentHint":true,"destructiveHint":false}`, []Claim{ReadOnly}},
		{`{"idempotentHint":true,"destructiveHint":false}`, []Claim{Idempotent, NotDestructive}},
		{`{"readOnlyHint":false,"idempotentHint":false,"destructiveHint":true}`, nil},
		{`{}`, nil},
		{``, nil},
		{`{"readOnlyHint":"yes"}`, nil},
	} {
		var claims []Claim
		for _, claim := range []Claim{ReadOnly, Idempotent, NotDestructive} {
			if hintsOf(mcp.Tool{Annotations: json.RawMessage(c.annotations)}).claim(claim) {
				claims = append(claims, claim)
			}
		}
		NewWithT(t).Expect(claims).To(Equal(c.claims), c.annotations)
	}
}

func TestAServersTextIsNoTemplate(t *testing.T) {
	NewWithT(t).Expect(literally(map[string]any{"a": []any{"{{dir}}", 1}})).To(Equal(map[string]any{"a": []any{`\{{dir}}`, 1}}))
}
