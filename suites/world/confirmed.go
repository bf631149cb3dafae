package world

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// Confirmation asks for the confirmation of a step of a kind, and returns its parts
// by the names under which the target file captures them; none where the kind needs
// no confirmation.
func (c *Caller) Confirmation(kind string, params map[string]string) map[string]string {
	spec := c.w.stepOf(kind)
	if spec.Preview == nil {
		return nil
	}
	op := c.Do(Act{Role: "preview", Tool: spec.Preview, Params: params})
	if op.Outcome() != history.Done {
		Inconclusive("the preview of a step of kind %s (%s) was not accepted: %s", kind, spec.Preview.Name, reasonOf(op))
	}
	known, parts := c.w.known(nil), map[string]string{}
	for name := range spec.Preview.Capture {
		parts[name] = known[name]
	}
	return parts
}

// Confirmed is one entry of a definition with a confirmation that is given, rightly
// or not.
func (w *World) Confirmed(kind string, params, confirmation map[string]string) json.RawMessage {
	all := maps.Clone(params)
	maps.Copy(all, confirmation)
	return w.entry(kind, w.stepOf(kind).Step, all)
}

// Unconfirmed is one entry of a definition without what its preview would have
// handed out.
func (w *World) Unconfirmed(kind string, params map[string]string) json.RawMessage {
	spec := w.stepOf(kind)
	if spec.Preview == nil || len(spec.Preview.Capture) == 0 {
		Inconclusive("a step of kind %q needs no confirmation by the target file, so that none can be missing", kind)
	}
	bare, _ := changed(spec.Step, func(text string) (any, bool) {
		for name := range spec.Preview.Capture {
			if strings.Contains(text, "{{"+name) {
				return nil, false
			}
		}
		return text, true
	})
	template, _ := bare.(map[string]any)
	return w.entry(kind, template, params)
}

// Malformed is one entry of a definition that has an object where a text belongs.
func (w *World) Malformed(kind string, params map[string]string) json.RawMessage {
	found := false
	spoilt, _ := changed(w.stepOf(kind).Step, func(text string) (any, bool) {
		if text != "{{text}}" {
			return text, true
		}
		found = true
		return map[string]any{"not": "a text"}, true
	})
	template, _ := spoilt.(map[string]any)
	if !found {
		Inconclusive("no value of the step of kind %q is {{text}} alone, so that none can be made malformed", kind)
	}
	return w.entry(kind, template, params)
}

// stepOf is a kind of step as the target file has it.
func (w *World) stepOf(kind string) target.WorkflowStep {
	spec, there := w.Target.Profiles.Workflows.Steps[kind]
	if !there {
		Inconclusive("the target file has no step of kind %q in profiles.workflows.steps", kind)
	}
	return spec
}

// changed is a template in which each text has become what change makes of it;
// false takes it out.
func changed(template any, change func(string) (any, bool)) (any, bool) {
	switch v := template.(type) {
	case string:
		return change(v)
	case map[string]any:
		out := map[string]any{}
		for name, part := range v {
			if kept, ok := changed(part, change); ok {
				out[name] = kept
			}
		}
		return out, true
	case []any:
		out := []any{}
		for part := range slices.Values(v) {
			if kept, ok := changed(part, change); ok {
				out = append(out, kept)
			}
		}
		return out, true
	}
	return template, true
}
