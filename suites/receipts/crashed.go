package receipts

import (
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// The moments around a run at one crash point.
const (
	crashed   = "crashed"   // with the server dead
	restarted = "restarted" // with the server started again
)

// together are the specs in which the server is killed at every crash point.
var together = []suites.Test{
	{
		ID: "RC-03/every-crash-point-of-an-update", Clauses: []string{"RC-03"},
		Title:   "killed at any crash point of an update, the server has moved the revision and stored the receipt, or neither, and a recheck says which",
		Faults:  []string{"crash-point"},
		NotFor:  noFile,
		Missing: noRole("recheck_update"),
		Drive:   on(func(s *scene) { s.crashes((*scene).update) }),
		Judge:   judge.TogetherAtEachPoint,
	},
	{
		ID: "RC-03/every-crash-point-of-a-submission", Clauses: []string{"RC-03"},
		Title:   "killed at any crash point of a submission, the server has submitted the draft and stored the receipt, or neither, and a recheck says which",
		Faults:  []string{"crash-point"},
		NotFor:  noFile,
		Missing: noRole("submit", "recheck_submit"),
		Drive:   on(func(s *scene) { s.crashes((*scene).submission) }),
		Judge:   judge.TogetherAtEachPoint,
	},
	{
		ID: "RC-03/killed-before-the-request", Clauses: []string{"RC-03"},
		Title:  "killed before it gets an update, the server that is started again has neither moved the revision nor stored the receipt",
		Faults: []string{"kill-at-request"},
		Drive:  on(func(s *scene) { s.killed((*world.Caller).ServerKilledAtRequest) }),
		Judge:  judge.All(judge.Placed("kill-at-request", 1), judge.TogetherOnceKilled),
	},
	{
		ID: "RC-03/killed-at-the-answer", Clauses: []string{"RC-03"},
		Title:  "killed as its answer leaves, the server that is started again has moved the revision and stored the receipt",
		Faults: []string{"kill-at-answer"},
		Drive:  on(func(s *scene) { s.killed((*world.Caller).ServerKilledAtAnswer) }),
		Judge:  judge.All(judge.Placed("kill-at-answer", 1), judge.TogetherOnceKilled),
	},
}

// killed kills the server around an update, and starts it again.
func (s *scene) killed(around func(*world.Caller, world.Act) history.Operation) {
	s.begin()
	around(s.editor, s.update())
	s.Launch()
	s.stored(restarted)
}

// noFile says that a server keeps its drafts in no file of its own: where another
// process writes them, its calls are no crash points.
func noFile(f *target.File) string {
	if f.Profiles.Receipts == nil {
		return ""
	}
	for _, name := range []string{"draft", "receipts"} {
		if p := f.Profiles.Receipts.Probes[name]; p.Postgres != "" {
			return "the probe " + name + " looks into a database that is another process, so that what the server does has no crash points in files"
		}
	}
	return ""
}

// crashes kills the server at every crash point of a mutation. The editor that gave
// it stays, and asks the server that was started again what came of it.
func (s *scene) crashes(mutation func(*scene) world.Act) {
	var act world.Act
	var told history.Operation
	of := func(run string) map[string]string { return map[string]string{"draft": s.draft, "run": run} }
	s.EachCrashPoint(world.Crash{
		Process: s.Target.Wires[world.ServerWire].To, Kept: true, Once: true,
		Prepare: func(editor *world.Caller) {
			s.editor, s.draft = editor, s.Draft("own")
			s.ready()
			act = mutation(s)
			s.look(before)
		},
		Led: world.Led{
			Ready: func() {
				s.editor = s.NewCaller()
				s.ready()
			},
			Act: func(run string) history.Outcome {
				told = s.editor.Do(act.With("run", run))
				return told.Outcome()
			},
			Again: func(run string) bool {
				s.Look("draft", restarted, of(run))
				s.Look("receipts", restarted, of(run))
				if outcome(told) == "OUTCOME_UNKNOWN" {
					s.editor.Do(s.recheck(act, converged).With("run", run))
				}
				s.Look("draft", converged, of(run))
				s.Look("receipts", converged, of(run))
				return true
			},
		},
		Look: func(run string) {
			s.LookAtRest("draft", crashed, of(run))
			s.LookAtRest("receipts", crashed, of(run))
		},
	})
}

// ready lets the editor load the draft, so that a mutation is all that it asks the
// server for from then on.
func (s *scene) ready() {
	if _, there := s.Target.Profiles.Receipts.Tools["read"]; there {
		s.editor.Do(s.read(before))
	}
}
