package receipts

import (
	"github.com/holdfast-mcp/holdfast/fixtures/account"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// replayed are the specs of commands that come again.
var replayed = []suites.Test{
	{
		ID: "RC-04/update-replayed", Clauses: []string{"RC-04"},
		Title: "an update that is given again gets its stored result and moves nothing, also once a later one has moved the revision",
		Drive: on(func(s *scene) {
			s.begin()
			update := s.update()
			s.editor.Do(update)
			s.editor.Do(update)
			s.editor.Do(s.update())
			s.lastly(update)
		}),
		Judge: judge.ReplayedOnce,
	},
	{
		ID: "RC-04/submission-replayed", Clauses: []string{"RC-04"},
		Title:   "so does a submission, and an update from before it",
		Missing: noRole("submit"),
		Drive: on(func(s *scene) {
			s.begin()
			update := s.update()
			s.editor.Do(update)
			submission := s.submission()
			s.editor.Do(submission)
			s.editor.Do(submission)
			s.lastly(update)
		}),
		Judge: judge.ReplayedOnce,
	},
	{
		ID: "RC-04/past-the-editor", Clauses: []string{"RC-04"},
		Title:   "the server itself answers a replayed command with all of its stored result",
		Missing: noServer("sign_in", "update"),
		Drive: on(func(s *scene) {
			s.begin()
			visitor := s.Visitor(account.First)
			update := s.update().Params
			visitor.Ask("update", first, update)
			visitor.Ask("update", "again", update)
			visitor.Ask("update", "later", s.update().Params)
			visitor.Ask("update", "again", update)
			if _, there := s.Target.Profiles.Receipts.Server["submit"]; there {
				submission := s.submission().Params
				visitor.Ask("submit", first, submission)
				visitor.Ask("submit", "again", submission)
				visitor.Ask("update", "again", update)
			}
			s.look(converged)
		}),
		Judge: judge.ReplayedPastOnce,
	},
	{
		ID: "RC-04/duplicated", Clauses: []string{"RC-04"},
		Title:  "an update whose request the network delivers twice is applied once and confirmed",
		Faults: []string{"duplicate"},
		Drive: on(func(s *scene) {
			s.begin()
			s.editor.DuplicatesServerRequest(s.update())
			s.ServerLanded()
			s.settled()
			s.look(converged)
		}),
		Judge: judge.All(judge.Placed("duplicate", 1), judge.DuplicatedOnce),
	},
	{
		ID: "RC-05/other-content", Clauses: []string{"RC-05"},
		Title: "a command ID that is given again with another text is refused, and nothing changes",
		Drive: on(func(s *scene) {
			s.reused(func(used world.Act) world.Act {
				return with(used, "reuses", "another text", "text", s.Word("Porto"))
			})
		}),
		Judge: judge.ReusedRefused,
	},
	{
		ID: "RC-05/other-draft", Clauses: []string{"RC-05"},
		Title:   "the server refuses a command ID that comes again for another draft, and that draft does not change",
		Missing: suites.First(noDraft("other"), noServer("sign_in", "update")),
		Drive: on(func(s *scene) {
			s.begin()
			visitor := s.Visitor(account.First)
			update := s.update()
			visitor.Ask("update", first, update.Params)
			s.draft = s.Draft("other")
			s.stored(first)
			other := with(update, "draft", s.draft, "revision", s.revision())
			visitor.Ask("update", struck, other.With("reuses", "another draft").Params)
			s.stored(struck)
			visitor.Ask("update", converged, other.With("command_id", s.commandID()).Params)
		}),
		Judge: judge.ReusedPastRefused,
	},
	{
		ID: "RC-05/other-kind", Clauses: []string{"RC-05"},
		Title:   "a submission under the command ID of an update is refused, and the draft stays open",
		Missing: noRole("submit"),
		Drive: on(func(s *scene) {
			s.reused(func(used world.Act) world.Act {
				return with(s.submission(), "reuses", "a submission", "command_id", used.Params["command_id"])
			})
		}),
		Judge: judge.ReusedRefused,
	},
	{
		ID: "RC-05/past-the-editor", Clauses: []string{"RC-05"},
		Title:   "the server itself refuses a command ID that comes again with another text",
		Missing: noServer("sign_in", "update"),
		Drive: on(func(s *scene) {
			s.begin()
			visitor := s.Visitor(account.First)
			update := s.update()
			visitor.Ask("update", first, update.Params)
			s.look(first)
			other := with(update, "text", s.Word("Porto"))
			visitor.Ask("update", struck, other.With("reuses", "another text").Params)
			visitor.Ask("update", struck, with(other, "reuses", "another text and revision", "revision", s.revision()).Params)
			s.look(struck)
			visitor.Ask("update", converged, with(other, "command_id", s.commandID(), "revision", s.revision()).Params)
			s.look(converged)
		}),
		Judge: judge.ReusedPastRefused,
	},
}

// stored looks at the store alone, where the editor may not show the draft.
func (s *scene) stored(moment string) {
	about := map[string]string{"draft": s.draft}
	s.Look("draft", moment, about)
	s.Look("receipts", moment, about)
}

// reused gives a command, another one under its ID, and that one under an ID of its
// own.
func (s *scene) reused(how func(used world.Act) world.Act) {
	s.begin()
	used := s.update()
	s.editor.Do(used)
	s.look(first)
	again := how(used)
	s.editor.Do(again)
	s.settled()
	s.look(struck)
	s.lastly(with(again, "reuses", "", "command_id", s.commandID(), "revision", s.revision()))
}
