package receipts

import (
	"github.com/holdfast-mcp/holdfast/fixtures/account"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

var dispatching = []suites.Test{
	{
		ID: "RC-08/cancelled", Clauses: []string{"RC-08", "RC-21"},
		Title:  "an update that is cancelled while the editor still reads the draft is not sent, also not once the reading is over",
		Faults: []string{"server-held"},
		Drive: on(func(s *scene) {
			s.Launch()
			s.draft = s.Draft("own")
			s.editor = s.NewCaller()
			s.editor.SignsIn(account.First)
			s.lookPast(ready) // the editor has to read the draft for the update
			reading := s.HoldToServer("read", s.draft)
			update := s.editor.Cancellable(s.update().At(unsent))
			reading.Await()
			s.editor.Cancels(update, s.draft)
			reading.Release()
			s.nothingSent()
		}),
		Judge: judge.All(judge.Placed("server-held", 1), judge.NotSent),
	},
	{
		ID: "RC-08/refused", Clauses: []string{"RC-08"},
		Title: "an update that the editor itself refuses is not sent",
		Drive: on(func(s *scene) {
			s.begin()
			s.look(ready)
			s.editor.Do(with(s.update(), "command_id", "").At(unsent))
			s.nothingSent()
		}),
		Judge: judge.NotSent,
	},
	{
		ID: "RC-08/server-away", Clauses: []string{"RC-08"},
		Title:  "an update whose server cannot be reached is not sent",
		Faults: []string{"server-away"},
		Drive: on(func(s *scene) {
			s.begin()
			s.look(ready)
			away := s.ServerAway()
			s.editor.Do(s.update().At(unsent))
			away.Release()
			s.nothingSent()
		}),
		Judge: judge.All(judge.Placed("server-away", 1), judge.NotSent),
	},
	{
		ID: "RC-21/request-held", Clauses: []string{"RC-21", "RC-09"},
		Title:   "an update that is cancelled once its request has left is an unknown outcome, stays one while the request is under way, and is found by recheck once it has committed",
		Faults:  []string{"server-held"},
		Missing: noRole("recheck_update"),
		Drive: on(func(s *scene) {
			s.begin()
			act := s.update()
			request := s.HoldToServer("update", s.draft)
			s.cancelled(request, act)
			s.inVain(act)
			request.Release()
			s.ServerLanded()
			s.converges(act)
		}),
		Judge: judge.All(judge.Placed("server-held", 1), judge.CancelledIsUnknown, judge.Under("RC-21", judge.AbsenceProvesNothing), judge.Under("RC-21", judge.ConfirmedByRecheck), judge.OneMutation),
	},
	{
		ID: "RC-21/answer-held", Clauses: []string{"RC-21", "RC-09"},
		Title:   "an update that is cancelled behind its commit is an unknown outcome, and one recheck confirms it",
		Faults:  []string{"server-held"},
		Missing: noRole("recheck_update"),
		Drive: on(func(s *scene) {
			s.begin()
			act := s.update()
			answer := s.HoldFromServer("update", act)
			s.cancelled(answer, act)
			answer.Release()
			s.ServerLanded()
			s.converges(act)
		}),
		Judge: judge.All(judge.Placed("server-held", 1), judge.CancelledIsUnknown, judge.Under("RC-21", judge.ConfirmedByRecheck), judge.OneMutation),
	},
}

// lookPast looks at all surfaces but the editor, which would read the draft to show it.
func (s *scene) lookPast(moment string) {
	about := map[string]string{"draft": s.draft}
	s.Look("draft", moment, about)
	s.Look("receipts", moment, about)
	s.LookAtServer(moment, s.draft)
}

// nothingSent looks behind a command that is not to leave, and then makes one that
// is: the control of the counter.
func (s *scene) nothingSent() {
	s.settled()
	s.ServerLanded()
	s.look(unsent)
	s.lastly(s.update())
}

// cancelled makes a mutation and cancels it while something of it is held.
func (s *scene) cancelled(it *world.Hold, act world.Act) {
	flight := s.editor.Cancellable(act)
	it.Await()
	s.editor.Cancels(flight, s.draft)
	s.AwaitThough("the editor to have let the cancelled update go", func() bool { return s.editor.PeekAtEditor(s.draft)["save_state"] == "unknown" })
	s.look(struck)
}
