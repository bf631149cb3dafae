package receipts

import (
	"strconv"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// exit is one way in which an operation of an editor ends.
type exit struct {
	words  string
	fault  string // that makes it; "" where none does
	needs  func(*target.File) string
	leaves bool // the person leaves the session in which it began
	// ends makes the operation and sees it end; what it holds until then it returns.
	ends func(s *scene, request string, act world.Act) (history.Operation, *world.Hold)
}

// The exits: by the server, by the wire in its place, and by whoever does not wait
// for the answer.
var (
	confirmedEnd   = exit{words: "is confirmed", ends: plainly}
	conflictEnd    = exit{words: "is a conflict", ends: outrun}
	refusedEnd     = answered(422, "command_reused")
	signedOutEnd   = answered(401, "signed_out")
	forbiddenEnd   = answered(403, "forbidden")
	notFoundEnd    = answered(404, "not_found")
	unavailableEnd = answered(503, "unavailable")
	deadlineEnd    = held("hangs until its deadline", (*scene).waits)
	cancelledEnd   = held("is cancelled", (*scene).cancels)
	leavingEnd     = leaving(held("loses its session, as the person signs out", (*scene).signsOut))
)

// faults names the fault of an exit, if it has one.
func (e exit) faults() []string {
	if e.fault == "" {
		return nil
	}
	return []string{e.fault}
}

// placed is the rule that it was placed.
func (e exit) placed() judge.Rule {
	if e.fault == "" {
		return judge.All()
	}
	return judge.Placed(e.fault, 1)
}

// leaving is an exit by which the person leaves the session.
func leaving(e exit) exit {
	e.leaves, e.needs = true, suites.NoAction("sign_out_editor", "sign_in_editor")
	return e
}

// goesOn makes the operation that is due behind an exit: a recheck where the outcome
// is still unknown in this session, an update otherwise.
func (s *scene) goesOn(e exit, op history.Operation, act world.Act) {
	open := outcome(op) == "OUTCOME_UNKNOWN" || op.Returned == nil || op.Returned.Answer == nil ||
		op.Invoked.Role != act.Role && outcome(op) != "confirmed"
	if open && !e.leaves {
		s.editor.Do(s.recheck(act, next))
	} else {
		s.editor.Do(s.update().At(next))
	}
	s.free()
	s.look(converged)
}

// lookLate looks behind a late answer, once the editor has answered something else.
func (s *scene) lookLate() {
	if _, there := s.Target.Profiles.Receipts.Tools["read"]; there {
		s.editor.Do(s.read(late))
	}
	s.look(late)
}

// plainly makes an operation to which nothing happens.
func plainly(s *scene, _ string, act world.Act) (history.Operation, *world.Hold) {
	return s.editor.Do(act), nil
}

// outrun makes a mutation that expects the revision before another one.
func outrun(s *scene, _ string, act world.Act) (history.Operation, *world.Hold) {
	s.editor.Do(s.update())
	s.look(entering)
	return s.editor.Do(act), nil
}

// answered is the exit of an operation whose request the wire answers.
func answered(status int, code string) exit {
	return exit{words: "is answered with " + strconv.Itoa(status), fault: "server-answered-for",
		ends: func(s *scene, request string, act world.Act) (history.Operation, *world.Hold) {
			it := s.ServerAnswers(request, s.draft, status, code)
			op := s.editor.Do(act)
			it.Release()
			return op, nil
		}}
}

// held is the exit of an operation whose answer the wire holds.
func held(words string, ends func(*scene, world.Act, *world.Hold) history.Operation) exit {
	return exit{words: words, fault: "server-held",
		ends: func(s *scene, request string, act world.Act) (history.Operation, *world.Hold) {
			hold := s.HoldFromServer(request, act)
			return ends(s, act, hold), hold
		}}
}

// waits waits until the editor gives the operation up by itself.
func (s *scene) waits(act world.Act, answer *world.Hold) history.Operation {
	flight := s.editor.Go(act, s.Patience())
	answer.Await()
	return flight.Wait()
}

// cancels cancels the operation.
func (s *scene) cancels(act world.Act, answer *world.Hold) history.Operation {
	flight := s.editor.Cancellable(act)
	answer.Await()
	return s.editor.Cancels(flight, s.draft)
}

// signsOut lets the person sign out, and in again once the operation has ended.
func (s *scene) signsOut(act world.Act, answer *world.Hold) history.Operation {
	flight := s.editor.Go(act, s.Patience())
	answer.Await()
	s.editor.Person("sign_out_editor", nil)
	op := flight.Wait()
	s.signsInAgain()
	return op
}
