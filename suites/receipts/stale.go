package receipts

import (
	"github.com/holdfast-mcp/holdfast/fixtures/account"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
)

// stale are the specs of commands that expect a revision which the draft has left.
var stale = []suites.Test{
	{
		ID: "RC-06/update", Clauses: []string{"RC-06"},
		Title: "an update that expects an older revision is a conflict, and nothing changes",
		Drive: on(func(s *scene) {
			s.begin()
			late := s.update().With("stale", "yes")
			s.editor.Do(s.update())
			s.lookedAround(late)
			s.lastly(s.update())
		}),
		Judge: judge.StaleIsConflict,
	},
	{
		ID: "RC-06/submission", Clauses: []string{"RC-06"},
		Title:   "so is a submission, and the draft stays open",
		Missing: noRole("submit"),
		Drive: on(func(s *scene) {
			s.begin()
			late := s.submission().With("stale", "yes")
			s.editor.Do(s.update())
			s.lookedAround(late)
			s.lastly(s.submission())
		}),
		Judge: judge.StaleIsConflict,
	},
	{
		ID: "RC-06/moved-elsewhere", Clauses: []string{"RC-06"},
		Title:   "an update from the revision that the editor shows is a conflict once the draft was moved past the editor",
		Missing: noServer("sign_in", "update"),
		Drive: on(func(s *scene) {
			s.begin()
			late := s.update().With("stale", "yes")
			s.Visitor(account.First).Ask("update", first, s.update().Params)
			s.lookedAround(late)
			s.lastly(s.update())
		}),
		Judge: judge.StaleIsConflict,
	},
}
