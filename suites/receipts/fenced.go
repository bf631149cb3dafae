package receipts

import (
	"encoding/json"
	"strings"

	"github.com/holdfast-mcp/holdfast/fixtures/account"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
)

// fenced are the specs of commands that are given up.
var fenced = []suites.Test{
	{
		ID: "RC-28/late-request", Clauses: []string{"RC-28"}, NotFor: noGivingUp,
		Title:   "an update that is given up while its request is on the way is declared not applied, and refused when it arrives",
		Faults:  []string{"server-held"},
		Missing: noServer("sign_in", "update"),
		Drive: on(func(s *scene) {
			s.begin()
			update := s.update().With("held", "yes")
			hold := s.HoldToServer("update", s.draft)
			flight := s.editor.Go(update, s.Patience())
			hold.Await()
			flight.Wait()
			s.editor.Do(s.recheck(update, rechecked).With("give_up", "true"))
			s.settled()
			s.look(rechecked)
			hold.Release()
			s.ServerLanded()
			s.Visitor(account.First).Ask("update", struck, update.Params)
			s.look(struck)
			s.lastly(s.update())
		}),
		Judge: judge.All(judge.Placed("server-held", 1), judge.FencedStaysOut),
	},
	{
		ID: "RC-28/applied-before", Clauses: []string{"RC-28"}, NotFor: noGivingUp,
		Title:  "an update that is given up behind its commit is confirmed",
		Faults: []string{"answer-lost"},
		Drive: on(func(s *scene) {
			s.begin()
			update := s.update()
			s.editor.LosesServerAnswer(update)
			s.look(struck)
			s.lastly(s.recheck(update, converged).With("give_up", "true"))
		}),
		Judge: judge.All(judge.Placed("answer-lost", 1), judge.GivenUpConfirmed),
	},
}

// noGivingUp says that a recheck of the target cannot declare a command not applied.
func noGivingUp(f *target.File) string {
	if f.Profiles.Receipts == nil {
		return ""
	}
	arguments, err := json.Marshal(f.Profiles.Receipts.Tools["recheck_update"].Arguments)
	if err != nil || !strings.Contains(string(arguments), "give_up") {
		return "the target's recheck_update takes no give_up, so that no command can be declared not applied"
	}
	return ""
}
