package world

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/fixtures/mcp"
	"github.com/holdfast-mcp/holdfast/fixtures/schemas"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
)

// Claim is what a tool can promise by its annotations.
type Claim string

// The claims, in the words of MCP. Of a tool that claims to be read-only the other
// two are not meant (ToolAnnotations).
const (
	ReadOnly       Claim = "readOnlyHint: true"
	Idempotent     Claim = "idempotentHint: true"
	NotDestructive Claim = "destructiveHint: false"
	// AnyTool is the claim of every tool: its schemas.
	AnyTool Claim = "schemas"
	// Structured is the claim of a tool that says what its results look like.
	Structured Claim = "an outputSchema"
)

// annotations are the hints of a tool, nil for one that it does not give.
type annotations struct {
	ReadOnly    *bool `json:"readOnlyHint"`
	Idempotent  *bool `json:"idempotentHint"`
	Destructive *bool `json:"destructiveHint"`
	OpenWorld   *bool `json:"openWorldHint"`
}

func hintsOf(t mcp.Tool) annotations {
	var a annotations
	_ = json.Unmarshal(t.Annotations, &a) // what is no annotation claims nothing
	return a
}

func says(hint *bool, value bool) bool { return hint != nil && *hint == value }

func (a annotations) claim(c Claim) bool {
	switch reads := says(a.ReadOnly, true); c {
	case ReadOnly:
		return reads
	case Idempotent:
		return !reads && says(a.Idempotent, true)
	case NotDestructive:
		return !reads && says(a.Destructive, false)
	}
	return true
}

// makes says whether a tool makes a claim.
func makes(t mcp.Tool, c Claim) bool {
	if c == Structured {
		return len(t.OutputSchema) > 0 && string(t.OutputSchema) != "null"
	}
	return hintsOf(t).claim(c)
}

// ClaimsMark tells which tools claim something: {"claim": TEXT, "tools": [NAME…],
// "uncallable": [WHY…]}.
const ClaimsMark = "claims"

// Callable is a tool with the calls that can be made of it.
type Callable struct {
	Tool  string
	Calls []Call
	// Reads: it says readOnlyHint: true, or is the target file's read.
	Reads bool
}

// Call makes an act of one tool call. Its arguments are the target file's, with fresh
// values, or were generated from the inputSchema.
type Call struct {
	tool      target.Tool
	generated bool
}

// Once are the target file's calls of the tool, or the first that was generated.
func (c Callable) Once() []Call {
	if c.Calls[0].generated {
		return c.Calls[:1]
	}
	return c.Calls
}

// CallRole is the role of calls that are made because of a claim.
const CallRole = "call"

// Act is the call with these values of the templates.
func (c Call) Act(params map[string]string) Act {
	tool := c.tool
	tool.Values = "" // what it shows is not read
	return Act{Role: CallRole, Tool: &tool, Params: params}.With("arguments", c.how())
}

func (c Call) how() string {
	if c.generated {
		return "generated"
	}
	return "given"
}

// Claiming are the tools of the helper that make a claim, with their calls, and tells
// the judges which. Without one the spec stops as not applicable. Those whose
// arguments had to be generated have one call more for each of a few texts in them,
// with only that text changed.
func (c *Caller) Claiming(claim Claim) []Callable {
	var all []Callable
	var names, uncallable []string
	for _, t := range c.tools() {
		if !makes(t, claim) {
			continue
		}
		names = append(names, t.Name)
		calls, why := c.callsOf(t)
		if why != "" {
			uncallable = append(uncallable, t.Name+": "+why)
			continue
		}
		all = append(all, Callable{t.Name, calls, hintsOf(t).claim(ReadOnly) || t.Name == c.w.Target.Profiles.Durability.Read.Name})
	}
	if len(names) == 0 {
		Inapplicable("no tool of the server claims %s", claim)
	}
	c.w.Mark(ClaimsMark, map[string]any{"claim": string(claim), "tools": names, "uncallable": uncallable})
	return all
}

// callsOf are the calls of a tool, or why there is none.
func (c *Caller) callsOf(t mcp.Tool) ([]Call, string) {
	d := c.w.Target.Profiles.Durability
	for _, given := range [][]target.Tool{d.Calls, d.Writes, {d.Read}} {
		var calls []Call
		for _, tool := range given {
			if tool.Name == t.Name {
				calls = append(calls, Call{tool: tool})
			}
		}
		if len(calls) > 0 {
			return calls, ""
		}
	}
	if hints := hintsOf(t); says(hints.OpenWorld, true) && !says(hints.ReadOnly, true) {
		return nil, "it says openWorldHint: true, so that no call of it is generated"
	}
	return c.generatedCalls(t)
}

// mostVaried bounds the calls in which one text is changed.
const mostVaried = 4

func (c *Caller) generatedCalls(t mcp.Tool) ([]Call, string) {
	in, unread := schemaOf(t.InputSchema)
	whole, err := schemas.Compile(t.InputSchema)
	if err != nil || unread != nil {
		return nil, "its inputSchema cannot be read"
	}
	base, _ := in.generated(c.w.Word("generated")).(map[string]any)
	if base == nil {
		base = map[string]any{}
	}
	if err := whole.Validate(base); err != nil {
		return nil, "no arguments could be generated that its inputSchema allows"
	}
	calls := []Call{generatedCall(t.Name, base)}
	for name, property := range ordered(in.Properties) {
		text, there := base[name].(string)
		if !there || len(calls) > mostVaried {
			continue
		}
		other := with(base, name, property.generated(c.w.Word("generated"))).(map[string]any)
		if other[name] != text && whole.Validate(other) == nil {
			calls = append(calls, generatedCall(t.Name, other))
		}
	}
	return calls, ""
}

func generatedCall(name string, arguments map[string]any) Call {
	return Call{target.Tool{Name: name, Arguments: literally(arguments).(map[string]any)}, true}
}

func indices[T any](all []T) []int {
	out := make([]int, len(all))
	for i := range out {
		out[i] = i
	}
	return out
}

// literally keeps a text that came from the server from being taken for a template.
func literally(v any) any {
	switch v := v.(type) {
	case string:
		return strings.ReplaceAll(v, "{{", `\{{`)
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = literally(out[i])
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for name, part := range v {
			out[name] = literally(part)
		}
		return out
	}
	return v
}

// Breaches are calls that break the inputSchema of a tool by one keyword each, at most
// a number of them, each made out of a valid call with fresh values: so none of them
// is refused for what another one was. Where the valid call does not match the schema
// itself there are none, and the reason.
func (c *Caller) Breaches(of Callable, fresh func() map[string]string, most int) ([]Act, string) {
	raw := c.rawInputSchema(of.Tool)
	in, unread := schemaOf(raw)
	whole, err := schemas.Compile(raw)
	if err != nil || unread != nil {
		return nil, "its inputSchema cannot be read"
	}
	call := of.Calls[0]
	valid := func() any {
		if call.generated {
			return in.generated(c.w.Word("generated"))
		}
		return c.expanded(call.Act(fresh()))
	}
	if err := whole.Validate(valid()); err != nil {
		return nil, "its call in the target file does not match its own inputSchema"
	}
	var acts []Act
	for _, i := range some(indices(in.breaches(valid())), most) {
		again := in.breaches(valid())
		if i >= len(again) || whole.Validate(again[i].value) == nil {
			continue // another keyword of the schema allows it after all
		}
		tool := call.tool
		tool.Values = "" // whatever a call answers that is to be refused, it is no read
		arguments, object := literally(again[i].value).(map[string]any)
		if !object {
			continue
		}
		tool.Arguments = arguments
		acts = append(acts, Act{Role: "invalid", Tool: &tool, Params: map[string]string{
			"violation": again[i].what, "keyword": again[i].keyword, "arguments": call.how(),
		}})
	}
	return acts, ""
}

// AgreedMark tells the revision that a caller and its helper agreed on:
// {"session": NAME, "revision": TEXT}.
const AgreedMark = "agreed"

// Agreed is the revision that the caller and its helper agreed on; it is told to the
// judges.
func (c *Caller) Agreed() string {
	c.w.Mark(AgreedMark, map[string]any{"session": c.name, "revision": c.agreed})
	return c.agreed
}
