// Package toolspec is what the helper promises about its tools before any is
// called: strict argument schemas, answer schemas with every word as an enum,
// annotations and the access that each tool needs.
package toolspec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/holdfast-mcp/holdfast/reference/sidecar"
)

// Access is what a caller must have to use a tool (WR-39).
type Access string

// The kinds of access.
const (
	Read  Access = "read"
	Write Access = "write"
)

// The tools' names.
const (
	WorkStart    = "work_start"
	WorkNote     = "work_note"
	WorkStatus   = "work_status"
	WorkComplete = "work_complete"
	WorkCancel   = "work_cancel"
	WorkGet      = "work_get"
)

// Annotations are claims that the helper keeps (DU-06, DU-07, DU-15).
type Annotations struct {
	ReadOnly    bool
	Destructive bool // changes or removes what was there before
	Idempotent  bool // same arguments, same idempotency key, one effect
}

// Spec is the promise about one tool.
type Spec struct {
	Name        string
	Title       string
	Description string
	Access      Access
	Annotations Annotations
	Input       json.RawMessage // JSON Schema, closed
	Output      json.RawMessage // JSON Schema of structuredContent, of errors too

	version       int // contract version that the promise is of
	input, output *jsonschema.Schema
}

// Set is a fixed list of specs in the order of their names.
type Set struct{ specs []Spec }

// Specs returns the helper's tools. The result is the same at every start (WR-35).
func Specs() (*Set, error) { return Compile(sidecar.ContractVersion, Definitions()) }

// Compile makes a set of the tools that a contract version offers.
func Compile(version int, list []Spec) (*Set, error) {
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	for i := range list {
		var err error
		list[i].version = version
		if list[i].input, err = compile(list[i].Name+"/input.json", list[i].Input); err != nil {
			return nil, err
		}
		if list[i].output, err = compile(list[i].Name+"/output.json", list[i].Output); err != nil {
			return nil, err
		}
	}
	return &Set{specs: list}, nil
}

func compile(name string, schema json.RawMessage) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("read schema %s: %w", name, err)
	}
	c := jsonschema.NewCompiler()
	url := "mem:///" + name
	if err := c.AddResource(url, doc); err != nil {
		return nil, fmt.Errorf("add schema %s: %w", name, err)
	}
	s, err := c.Compile(url)
	if err != nil {
		return nil, fmt.Errorf("compile schema %s: %w", name, err)
	}
	return s, nil
}

// All returns the specs in the order of their names.
func (s *Set) All() []Spec { return s.specs }

// Check holds raw arguments against the tool's input schema. It returns nil, or
// the failure to refuse the call with: nothing has been dispatched by then (WR-26, WR-27).
func (s *Set) Check(tool string, arguments json.RawMessage) *sidecar.Failure {
	for i := range s.specs {
		if s.specs[i].Name == tool {
			return s.specs[i].check(arguments)
		}
	}
	return refused("there is no tool %q", tool)
}

func (s *Spec) check(arguments json.RawMessage) *sidecar.Failure {
	if len(bytes.TrimSpace(arguments)) == 0 {
		arguments = json.RawMessage(`{}`)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(arguments))
	if err != nil {
		return refused("the arguments of %s are no JSON: %v", s.Name, err)
	}
	if err := s.input.Validate(doc); err != nil {
		return refused("the arguments of %s do not match its inputSchema: %s", s.Name, s.problems(err))
	}
	return nil
}

// CheckAnswer holds structured content against the tool's output schema.
func (s *Spec) CheckAnswer(content json.RawMessage) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	if err != nil {
		return fmt.Errorf("the answer of %s is no JSON: %w", s.Name, err)
	}
	if err := s.output.Validate(doc); err != nil {
		return fmt.Errorf("the answer of %s does not match its outputSchema: %s", s.Name, s.problems(err))
	}
	return nil
}

func refused(format string, args ...any) *sidecar.Failure {
	return &sidecar.Failure{Class: sidecar.Permanent, Code: CodeInvalidArguments, Reason: fmt.Sprintf(format, args...) + "; nothing was stored"}
}

// problems says every violation with its place, without repeating the values:
// they may be a person's content.
func (s *Spec) problems(err error) string {
	failed, ok := err.(*jsonschema.ValidationError)
	if !ok {
		return err.Error()
	}
	var all []string
	printer := message.NewPrinter(language.English)
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 {
			all = append(all, "/"+strings.Join(e.InstanceLocation, "/")+": "+s.problem(e, printer))
		}
		for _, cause := range e.Causes {
			walk(cause)
		}
	}
	walk(failed)
	return strings.Join(all, "; ")
}

// problem names the version where a caller of another one could have meant well:
// a field or a word that this one does not have (WR-31).
func (s *Spec) problem(e *jsonschema.ValidationError, printer *message.Printer) string {
	here := fmt.Sprintf(" (this helper speaks contract version %d)", s.version)
	switch k := e.ErrorKind.(type) {
	case *kind.Pattern:
		return "control characters are not allowed here (pattern " + k.Want + ")"
	case *kind.AdditionalProperties:
		return "unknown property " + strings.Join(quoted(k.Properties), ", ") + here
	case *kind.Enum:
		return e.ErrorKind.LocalizedString(printer) + here
	default:
		return e.ErrorKind.LocalizedString(printer)
	}
}

func quoted(words []string) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = fmt.Sprintf("%q", w)
	}
	return all
}
