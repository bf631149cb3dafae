package workrecords

import (
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// rest is the moment of a look at a store that nobody writes to just then.
const rest = "rest"

var atTheDoor = []suites.Test{
	{
		ID: "WR-26/unknown-values", Clauses: []string{"WR-26"},
		Title: "a value that an enumeration of any tool does not have is refused, and nothing of the call is stored",
		Drive: on(func(s *scene) { s.breakSchemas("enum") }),
		Judge: judge.RefusedAtTheDoor("WR-26", "enum"),
	},
	{
		ID: "WR-27/every-violation-of-the-schemas", Clauses: []string{"WR-27"},
		Title: "every violation that a tool's own inputSchema names is refused, and nothing of the call is stored",
		Drive: on(func(s *scene) { s.breakSchemas() }),
		Judge: judge.RefusedAtTheDoor("WR-27"),
	},
}

// breakSchemas makes every call that breaks a tool's inputSchema by one of the
// keywords, none meaning any, and then a valid one of the same tool.
func (s *scene) breakSchemas(keywords ...string) {
	s.beginWithoutApp()
	id := s.start(s.newTask())
	s.lookAtStoreAtRest(rest)
	broken := 0
	for _, valid := range s.everyCall(id) {
		acts := s.helper.Violations(valid, keywords...)
		for _, act := range acts {
			s.helper.Do(act)
			s.lookAtStoreAtRest(rest)
		}
		if len(acts) > 0 {
			s.helper.Do(valid())
			s.lookAtStoreAtRest(rest)
		}
		broken += len(acts)
	}
	if broken == 0 && len(keywords) > 0 && !s.helper.Demands(keywords...) {
		world.Inapplicable("no tool of the target has %s in its inputSchema", strings.Join(keywords, " or "))
	}
}

// everyCall makes a valid call of each of the target's tools; each has keys of its own.
func (s *scene) everyCall(id string) []func() world.Act {
	all := []struct {
		role string
		make func() world.Act
	}{
		{"start", func() world.Act { return s.starting(s.newTask().withNote(s.Word("a first note"))) }},
		{"note", func() world.Act {
			if noStaging(s.Target) != "" {
				return s.noting(id, s.Word("a note"))
			}
			return s.attaching(id)
		}},
		{"status", func() world.Act { return s.following("status", id, "doing") }},
		{"get", func() world.Act { return world.Act{Role: "get", Params: map[string]string{"item_id": id}} }},
		{"complete", func() world.Act { return s.following("complete", id, "") }},
		{"cancel", func() world.Act { return s.following("cancel", id, "") }},
	}
	var calls []func() world.Act
	for _, call := range all {
		if _, there := s.Target.Profiles.WorkRecords.Tools[call.role]; there {
			calls = append(calls, call.make)
		}
	}
	return calls
}

// noTool says that a spec needs a tool that the target file leaves out.
func noTool(role string) func(*target.File) string {
	return func(f *target.File) string {
		if f.Profiles.WorkRecords != nil && !slices.Contains(rolesOf(f), role) {
			return "the target file has no tool " + role + " in profiles.work-records.tools"
		}
		return ""
	}
}

func rolesOf(f *target.File) []string {
	var roles []string
	for _, role := range target.ToolRoles() {
		if _, there := f.Profiles.WorkRecords.Tools[role]; there {
			roles = append(roles, role)
		}
	}
	return roles
}
