package receipts

import (
	"github.com/holdfast-mcp/holdfast/fixtures/account"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// first is the moment behind the first use of a command, before it is used again.
const first = "first"

// complete are the specs of what a command has to carry, and of what comes of one
// with which nothing is wrong.
var complete = []suites.Test{
	{
		ID: "RC-01/incomplete-update", Clauses: []string{"RC-01"},
		Title: "an update without its expected revision, its command ID, or both is refused, and nothing changes",
		Drive: on(func(s *scene) { s.incomplete((*scene).update) }),
		Judge: judge.IncompleteRefused,
	},
	{
		ID: "RC-01/incomplete-submission", Clauses: []string{"RC-01"},
		Title:   "a submission without its expected revision, its command ID, or both is refused, and nothing changes",
		Missing: noRole("submit"),
		Drive:   on(func(s *scene) { s.incomplete((*scene).submission) }),
		Judge:   judge.IncompleteRefused,
	},
	{
		ID: "RC-01/past-the-editor", Clauses: []string{"RC-01"},
		Title:   "so it is by the server itself, where the editor is passed by",
		Missing: noServer("sign_in", "update"),
		Drive: on(func(s *scene) {
			s.begin()
			visitor := s.Visitor(account.First)
			whole := s.update()
			visitor.Ask("update", struck, whole.With("command_id", "").With("lacks", "its command ID").Params)
			visitor.Ask("update", struck, whole.With("revision", "null").With("lacks", "its expected revision").Params)
			s.look(struck)
			visitor.Ask("update", converged, whole.Params)
			s.look(converged)
		}),
		Judge: judge.IncompletePastRefused,
	},
	{
		ID: "RC-02/update", Clauses: []string{"RC-02"},
		Title: "an update is confirmed from its revision to the next, with one receipt, and the editor shows it as saved",
		Drive: on(func(s *scene) { s.normal(s.begun().update()) }),
		Judge: judge.NormalPath,
	},
	{
		ID: "RC-02/submission", Clauses: []string{"RC-02"},
		Title:   "so is a submission, which changes the draft's status and nothing else",
		Missing: noRole("submit"),
		Drive:   on(func(s *scene) { s.normal(s.begun().submission()) }),
		Judge:   judge.NormalPath,
	},
}

// begun is a scene that has begun.
func (s *scene) begun() *scene {
	s.begin()
	return s
}

// incomplete tries a mutation with each of its two identities taken away, and whole.
func (s *scene) incomplete(mutation func(*scene) world.Act) {
	s.begin()
	for _, lack := range [][]string{
		{"lacks", "its expected revision", "revision", ""},
		{"lacks", "its command ID", "command_id", ""},
		{"lacks", "both", "revision", "", "command_id", ""},
	} {
		s.editor.Do(with(mutation(s), lack...))
	}
	s.settled()
	s.look(struck)
	s.lastly(mutation(s))
}

// normal gives a command with which nothing is wrong.
func (s *scene) normal(act world.Act) {
	s.lastly(act) // with a look before the read, which may bring the editor up to date
	if _, there := s.Target.Profiles.Receipts.Tools["read"]; there {
		s.editor.Do(s.read(converged))
	}
}
