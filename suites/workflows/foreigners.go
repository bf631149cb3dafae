package workflows

import (
	"slices"
	"strings"
	"unicode"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

var foreigners = []suites.Test{
	{
		ID: "WF-03/a-foreign-operation-is-an-unknown-one", Clauses: []string{"WF-03"},
		Title:   "status, resume and cancel under another profile or target are answered as for an operation that never was, and change nothing",
		Missing: noForeignBinding,
		Faults:  []string{"outside-held"},
		Drive: on(func(s *scene) {
			s.begin()
			finished := s.start(s.step("write"))
			s.settle(finished)
			s.foreigners(finished, "finished")

			first, second := s.step("write"), s.step("write")
			request := s.HoldOutside(first.text)
			running := s.start(first, second)
			request.Await()
			s.foreigners(running, "running")
			s.server = s.server.Restarted()
			request.Release()
			s.foreigners(running, "interrupted")
			s.ask("resume", running, resumed)
			s.settle(running)
			s.foreigners(running, "reviewed")
		}),
		Judge: judge.All(judge.Placed("outside-held", 1), judge.ForeignIsUnknown),
	},
}

// foreigners asks under every other binding about an operation, and about one that
// never was. Its owner asks behind that.
func (s *scene) foreigners(id, moment string) {
	if id == "" {
		return
	}
	about := map[string]string{"operation_id": id}
	s.Look("checkpoint", before+" "+moment, about)
	for _, binding := range []string{otherProfile, otherTarget} {
		if _, there := s.Target.Profiles.Workflows.Bindings[binding]; !there {
			continue
		}
		for _, role := range []string{"status", "resume", "cancel"} {
			for _, asked := range []struct{ about, id string }{{"an operation", id}, {"none", neverWas(id)}} {
				s.server.Do(world.Act{Role: role, Params: s.bound(binding, "operation_id", asked.id, "moment", moment, "binding", binding, "about", asked.about, "owned", id)})
			}
		}
	}
	s.Look("checkpoint", after+" "+moment, about)
	s.ask("status", id, moment)
}

// neverWas is an ID of the same shape that was never issued: the last letters and
// digits of one that was, backwards.
func neverWas(id string) string {
	begin := strings.LastIndexFunc(id, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) + 1
	random := []rune(id[begin:])
	slices.Reverse(random)
	if other := id[:begin] + string(random); other != id {
		return other
	}
	world.Inconclusive("the ID %q is the same backwards, so that no other of its shape could be made of it", id)
	return ""
}

func noForeignBinding(f *target.File) string {
	if w := f.Profiles.Workflows; w.Bindings[otherProfile] == nil && w.Bindings[otherTarget] == nil {
		return "the target file has neither other_profile nor other_target in profiles.workflows.bindings"
	}
	return ""
}
