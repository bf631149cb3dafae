package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// denials are what makes one control deny, by the control's word.
var denials = []struct {
	control string
	edit    func(*ports.Policy)
}{
	{"allowlist", func(p *ports.Policy) { p.Guilds = nil }},
	{"category", func(p *ports.Policy) { p.Categories = nil }},
	{"access", func(p *ports.Policy) { p.Profiles = nil }},
	{"write_mode", func(p *ports.Policy) { p.Writes = "off" }},
	{"confirmation", func(p *ports.Policy) { p.ConfirmSeconds = 0 }}, // those that were handed out are expired too
}

// Controls lists the controls that Deny knows.
func Controls() []string {
	var all []string
	for _, d := range denials {
		all = append(all, d.control)
	}
	return all
}

// Deny changes a policy file so that one control denies from now on.
func Deny(path, control string) error {
	i := slices.Index(Controls(), control)
	if i < 0 {
		return fmt.Errorf("change the policy %s: there is no control %q; there are %s", path, control, strings.Join(Controls(), ", "))
	}
	p, err := read(path)
	if err != nil {
		return err
	}
	denials[i].edit(&p)
	return Write(path, p)
}

// Confirm changes a policy file so that a write by one tool needs a confirmation
// from now on, whatever the tool declares of repeating it.
func Confirm(path, tool string) error {
	p, err := read(path)
	if err != nil {
		return err
	}
	t, there := p.Tools[tool]
	if !there {
		return fmt.Errorf("change the policy %s: it has no tool %q; there are %s", path, tool, strings.Join(slices.Sorted(maps.Keys(p.Tools)), ", "))
	}
	t.Approval = "required"
	p.Tools[tool] = t
	return Write(path, p)
}

// Allow writes the default policy, in which every control lets through.
func Allow(path string) error { return Write(path, Default()) }
