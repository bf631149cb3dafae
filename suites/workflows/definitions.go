package workflows

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// The moments around a start that may store nothing.
const (
	before = "before"
	after  = "after"
)

var definitions = []suites.Test{
	{
		ID: "WF-07/one-to-128-steps", Clauses: []string{"WF-07"},
		Title:   "a definition with 128 steps is accepted and run; one with none and one with 129 are refused and leave nothing in the store",
		Missing: suites.First(noKind("read"), noOperationFiles),
		Drive: on(func(s *scene) {
			s.begin()
			one := s.plain("read")
			for _, n := range []int{0, 129, 1, 128} {
				s.try(s.starting(slices.Repeat([]step{one}, n)...).With("count", fmt.Sprint(n)))
			}
		}),
		Judge: judge.StepCounts,
	},
	{
		ID: "WF-08/no-workflow-inside-a-workflow", Clauses: []string{"WF-08"},
		Title:   "a pipeline and every workflow tool are refused as a step, alone and behind an ordinary one, and leave nothing in the store",
		Missing: suites.First(noKind("read"), noOperationFiles, noForbidden),
		Drive: on(func(s *scene) {
			s.begin()
			tools := s.server.Tools()
			s.Mark("tools", map[string]any{"names": tools})
			ordinary := s.plain("read")
			s.try(s.starting(ordinary))
			for _, entry := range s.Forbidden(s.bound(own)) {
				nested := step{entry: entry}
				s.try(s.starting(nested).With("nested", toolOf(entry, tools)))
				s.try(s.starting(ordinary, nested).With("nested", toolOf(entry, tools)))
			}
		}),
		Judge: judge.NothingNested,
	},
}

// plain is a step without a text of its own.
func (s *scene) plain(kind string) step {
	return step{kind: kind, entry: s.server.Step(kind, s.bound(own, "text", s.Word(kind)))}
}

// try makes a start that may be refused, between two looks at the store.
func (s *scene) try(start world.Act) {
	name := map[string]string{"try": s.Word("try")}
	s.LookAtOperations(before, name)
	id := s.know(s.server.Do(start.With("try", name["try"])))
	if id != "" {
		s.settle(id)
		s.Look("checkpoint", converged, map[string]string{"operation_id": id})
	}
	s.LookAtOperations(after, name)
}

// toolOf is which of the listed tools an entry of a definition names, "" if none.
func toolOf(entry json.RawMessage, listed []string) string {
	var fields map[string]any
	if json.Unmarshal(entry, &fields) != nil {
		return ""
	}
	for _, value := range fields {
		if name, ok := value.(string); ok && slices.Contains(listed, name) {
			return name
		}
	}
	return ""
}

func noOperationFiles(f *target.File) string {
	if len(f.Profiles.Workflows.Store) == 0 {
		return "the target file does not name the files of the store in profiles.workflows.store"
	}
	return ""
}

func noForbidden(f *target.File) string {
	if len(f.Profiles.Workflows.Forbidden) == 0 {
		return "the target file names no step that is forbidden in profiles.workflows.forbidden"
	}
	return ""
}
