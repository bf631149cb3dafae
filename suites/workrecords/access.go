package workrecords

import (
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
)

// The moments around reads, as the judges know them.
const (
	unread  = "unread"
	read    = "read"
	written = "written"
)

var access = []suites.Test{
	{
		ID: "WR-39/without-the-access", Clauses: []string{"WR-39"},
		Title:  "each tool declares the access that it needs, and a caller that may only read is refused with nothing stored",
		NotFor: noAccess,
		Drive: on(func(s *scene) {
			s.beginWithoutApp()
			id := s.start(s.newTask())
			s.helper.LookAtTools()
			reader := s.NewReader()
			s.lookAtStoreAtRest(rest)
			for _, call := range s.everyCall(id) {
				reader.Do(call().With("by", "reader"))
				s.lookAtStoreAtRest(rest)
			}
			for _, call := range s.everyCall(id) {
				s.helper.Do(call())
				s.lookAtStoreAtRest(rest)
			}
		}),
		Judge: judge.AccessEnforced,
	},
	{
		ID: "WR-39/reading-changes-nothing", Clauses: []string{"WR-39"},
		Title:   "a tool that only reads changes neither the sidecar nor the library",
		Missing: suites.First(noStore("sidecar"), noStore("library")),
		Drive: on(func(s *scene) {
			s.begin()
			id := s.start(s.newTask().withNote(s.Word("a first note")))
			s.settle()
			s.get(id, early)
			s.LookAtStores(unread)
			s.get(id, read)
			s.get(id, read)
			s.get(s.Word("never-issued"), read)
			s.LookAtStores(read)
			s.note(id, s.Word("a note"))
			s.settle()
			s.LookAtStores(written)
		}),
		Judge: judge.ReadsChangeNothing,
	},
}

// noAccess says that a target makes no promise about who may use a tool.
func noAccess(f *target.File) string {
	if a := f.Profiles.WorkRecords.Access; a.Declared == "" || len(a.ReadOnly) == 0 {
		return "the target does not say how its tools declare the access that they need, and how a caller lacks it (profiles.work-records.access)"
	}
	return ""
}
