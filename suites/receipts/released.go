package receipts

import (
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// Beside the moments of scene.go.
const (
	entering = "entering" // right before the operation that is to end
	over     = "over"     // behind its end
	late     = "late"     // behind an answer that came after that
	next     = "next"     // of the operation behind it, which finds the editor free or not
)

var released = []suites.Test{
	ofMutation("RC-29/update-confirmed", anUpdate, confirmedEnd),
	ofMutation("RC-29/update-conflict", anUpdate, conflictEnd),
	ofMutation("RC-29/update-refused", anUpdate, refusedEnd),
	ofMutation("RC-29/update-signed-out", anUpdate, signedOutEnd),
	ofMutation("RC-29/update-forbidden", anUpdate, forbiddenEnd),
	ofMutation("RC-29/update-not-found", anUpdate, notFoundEnd),
	ofMutation("RC-29/update-unavailable", anUpdate, unavailableEnd),
	ofMutation("RC-29/update-deadline", anUpdate, deadlineEnd),
	ofMutation("RC-29/update-cancelled", anUpdate, cancelledEnd),
	ofMutation("RC-29/update-signed-out-meanwhile", anUpdate, leavingEnd),
	ofMutation("RC-29/submission-confirmed", aSubmission, confirmedEnd),
	ofMutation("RC-29/submission-signed-out", aSubmission, signedOutEnd),
	ofMutation("RC-29/submission-deadline", aSubmission, deadlineEnd),
	ofRecheck("RC-29/recheck-confirmed", confirmedEnd),
	ofRecheck("RC-29/recheck-signed-out", signedOutEnd),
	ofRecheck("RC-29/recheck-forbidden", forbiddenEnd),
	ofRecheck("RC-29/recheck-not-found", notFoundEnd),
	ofRecheck("RC-29/recheck-unavailable", unavailableEnd),
	ofHeldRecheck("RC-29/recheck-deadline", deadlineEnd),
	ofHeldRecheck("RC-29/recheck-cancelled", cancelledEnd),
	ofHeldRecheck("RC-29/recheck-signed-out-meanwhile", leavingEnd),
	onlyItsOwn,
	neighboursOwn,
}

// mutation is a kind of command whose exits are tried.
type mutation struct {
	words   string
	request string
	act     func(*scene) world.Act
	roles   []string // of the tools that its exits take
}

var (
	anUpdate    = mutation{"an update", "update", (*scene).update, []string{"recheck_update"}}
	aSubmission = mutation{"a submission", "submit", (*scene).submission, []string{"submit", "recheck_submit"}}
)

// ofMutation is the spec of an exit of a mutation: the editor is free behind it.
func ofMutation(id string, m mutation, e exit) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{"RC-29"}, Faults: e.faults(), Missing: suites.First(noRole(m.roles...), e.needs),
		Title: m.words + " that " + e.words + " leaves the editor free for the next operation",
		Drive: on(func(s *scene) {
			s.begin()
			act := m.act(s)
			s.look(entering)
			op, hold := e.ends(s, m.request, act.At(over))
			s.free()
			s.look(over)
			if hold != nil {
				hold.Release()
				s.ServerLanded()
			}
			s.goesOn(e, op, act)
		}),
		Judge: judge.All(e.placed(), judge.ReleasesItsOwn),
	}
}

// ofRecheck is the spec of an exit of a recheck: the editor is free behind it.
func ofRecheck(id string, e exit) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{"RC-29"}, Faults: append(e.faults(), "answer-lost"), Missing: suites.First(noRole("recheck_update"), e.needs),
		Title: "a recheck that " + e.words + " leaves the editor free for the next operation",
		Drive: on(func(s *scene) {
			act, op, _ := s.recheckEnds(e)
			s.goesOn(e, op, act)
		}),
		Judge: judge.All(judge.Placed("answer-lost", 1), e.placed(), judge.ReleasesItsOwn),
	}
}

// ofHeldRecheck is that of one whose answer comes once it is over.
func ofHeldRecheck(id string, e exit) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{"RC-29"}, Faults: append(e.faults(), "answer-lost"), Missing: suites.First(noRole("recheck_update"), e.needs),
		Title: "a recheck that " + e.words + " leaves the editor free for the next operation, and its late answer changes nothing",
		Drive: on(func(s *scene) {
			act, op, answer := s.recheckEnds(e)
			answer.Release()
			s.ServerLanded()
			s.lookLate()
			s.goesOn(e, op, act)
		}),
		Judge: judge.All(judge.Placed("answer-lost", 1), e.placed(), judge.LateAnswerChangesNothing, judge.ReleasesItsOwn),
	}
}

// recheckEnds loses the answer to an update, and lets its recheck end.
func (s *scene) recheckEnds(e exit) (world.Act, history.Operation, *world.Hold) {
	s.begin()
	act := s.update()
	s.editor.LosesServerAnswer(act)
	s.look(entering)
	op, answer := e.ends(s, "lookup", s.recheck(act, over))
	s.free()
	s.look(over)
	return act, op, answer
}

// onlyItsOwn is about two drafts in one editor.
var onlyItsOwn = suites.Test{
	ID: "RC-29/two-drafts", Clauses: []string{"RC-29"}, Faults: []string{"server-held"}, NotFor: onePageOneDraft, Missing: noDraft("other"),
	Title: "an update that ends leaves that of another draft in the same editor in flight",
	Drive: on(func(s *scene) {
		s.begin()
		other := s.Draft("other")
		own, others := s.HoldToServer("update", s.draft), s.HoldToServer("update", other)
		first := s.editor.Go(s.update().At(over), s.Patience())
		second := s.editor.Go(with(s.update(), "draft", other, "revision", s.revisionOf(other)).At(next), s.Patience())
		own.Await()
		others.Await()
		own.Release()
		first.Wait()
		s.free()
		s.editor.LookAtEditor(over, s.draft)
		s.editor.LookAtEditor(over, other)
		others.Release()
		second.Wait()
		s.editor.LookAtEditor(converged, s.draft)
		s.editor.LookAtEditor(converged, other)
	}),
	Judge: judge.All(judge.Placed("server-held", 2), judge.LeavesOthersInFlight),
}

// neighboursOwn is about one draft in two editors.
var neighboursOwn = suites.Test{
	ID: "RC-29/two-editors", Clauses: []string{"RC-29"}, Faults: []string{"answer-lost", "server-held"}, Missing: noRole("recheck_update"),
	Title: "a recheck that ends leaves the update of a second editor in flight",
	Drive: on(func(s *scene) {
		s.begin()
		neighbour := s.NewCaller()
		neighbour.LookAtEditor(before, s.draft)
		lost := s.update()
		s.editor.LosesServerAnswer(lost)
		held := s.HoldToServer("update", s.draft)
		flight := neighbour.Go(s.update().At(next), s.Patience())
		held.Await()
		s.editor.Do(s.recheck(lost, over))
		s.free()
		s.editor.LookAtEditor(over, s.draft)
		neighbour.LookAtEditor(over, s.draft)
		held.Release()
		flight.Wait()
		s.editor.LookAtEditor(converged, s.draft)
		neighbour.LookAtEditor(converged, s.draft)
	}),
	Judge: judge.All(judge.Placed("answer-lost", 1), judge.Placed("server-held", 1), judge.LeavesOthersInFlight),
}

// revisionOf is that of a draft as it is stored now.
func (s *scene) revisionOf(draft string) string {
	own := s.draft
	defer func() { s.draft = own }()
	s.draft = draft
	return s.revision()
}

// onePageOneDraft says that an editor which is a page shows the draft that it was
// opened on, and no other.
func onePageOneDraft(f *target.File) string {
	if f.Processes[f.Helper()].IsPage() {
		return "its editor is a page, which shows one draft"
	}
	return ""
}
