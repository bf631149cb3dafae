package workrecords

import (
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

var secrets = []suites.Test{
	{
		ID: "WR-38/no-token-and-no-key", Clauses: []string{"WR-38"},
		Title:   "no token and no key of an account is in the sidecar, an answer, a look or a log, whatever goes wrong with the account",
		NotFor:  noAccountFixture,
		Missing: suites.First(noStore("sidecar"), suites.NoAction("lock", "unblock")),
		Faults:  []string{"login-refused"},
		Drive: on(func(s *scene) {
			s.ShowSecrets()
			s.beginWithoutApp()
			id := s.start(s.newTask())
			login := s.RefuseLogin(refusals)
			s.Launch(world.Only("app"))
			s.awaitAttempts(id, 1)
			s.Look("intents", held, map[string]string{"item_id": id})
			s.get(id, held)
			login.Release()
			s.settle()

			account := s.Target.Wires["account"].To
			s.StopProcess(account)
			s.note(id, s.Word("a note while the account service is gone"))
			s.awaitAttempts(id, 1)
			s.Look("intents", held, map[string]string{"item_id": id})
			s.get(id, held)
			s.Launch(world.Only(account))
			s.settle()

			s.Act("lock", nil)
			s.note(id, s.Word("a note that waits for its person"))
			s.awaitClass(id, "blocked")
			s.get(id, held)
			s.Act("unblock", nil)
			s.settle()
			s.noteAbout("never-issued", s.Word("never-issued"))
			s.lookAtEnd()
			s.EndCallers()
			s.StopProcess("app")
			s.LookAtSecrets(converged)
		}),
		Judge: judge.All(judge.Placed("login-refused", 1), judge.NoSecrets),
	},
}

// noAccountFixture says that the accounts are not the harness's own, so that it
// does not know their secrets.
func noAccountFixture(f *target.File) string {
	for _, p := range f.Processes {
		if p.Fixture == "account" {
			return ""
		}
	}
	return "the target does not take its accounts from the fixture account, so that their tokens and keys are not known"
}
