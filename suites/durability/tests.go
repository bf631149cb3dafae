package durability

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// Profile is the name under which a target claims these clauses.
const Profile = "durability"

// Tests are the specs of profile DU, in the contract's order.
func Tests() []suites.Test {
	all := slices.Concat(kills, lost, crashPoints, concurrent, full, cancelled, ends, sessions, honest, keyed, schemas, claims, damaged, forms, firstStarts, handles, debris, jobs)
	for i := range all {
		all[i].Profile = Profile
		if !readless(all[i].ID) {
			all[i].NotFor = keptAnd(all[i].NotFor)
		}
		all[i].NotFor = claimedAnd(all[i].NotFor)
	}
	return all
}

// claimedAnd is why a spec is not for a target: the profile is not claimed, or what
// the spec says itself (nil: nothing).
func claimedAnd(more func(*target.File) string) func(*target.File) string {
	return func(f *target.File) string {
		if why := notClaimed(f); why != "" || more == nil {
			return why
		}
		return more(f)
	}
}

func notClaimed(f *target.File) string {
	if f.Profiles.Durability == nil {
		return "the target does not claim the profile durability"
	}
	return ""
}

// noProbe says that the commit of a write cannot be proven without a probe.
func noProbe(f *target.File) string {
	if f.Profiles.Durability != nil && len(f.Profiles.Durability.Probes) == 0 {
		return "the target file has no probe in profiles.durability.probes, so that a commit behind a lost answer cannot be proven"
	}
	return ""
}

var kills = []suites.Test{
	{
		ID: "DU-01/killed-behind-the-answer", Clauses: []string{"DU-01"},
		Title:  "an acknowledged write is there after the server was killed as its answer left",
		Faults: []string{"kill-at-answer"}, Numbers: reports.Numbers{Rounds: 5},
		Drive: on(func(s *scene) {
			for range s.Numbers().Rounds {
				s.helper.KilledAsAnswerLeaves(s.writing())
				s.helper = s.NewCaller()
			}
			s.read(s.helper, "final")
		}),
		Judge: judge.Numbered(func(n reports.Numbers) judge.Rule {
			return judge.All(judge.Placed("kill-at-answer", n.Rounds), judge.AckedSurvive("DU-01", n.Rounds))
		}),
	},
}

var lost = []suites.Test{
	lostAnswer("DU-02/answer-withheld", faults.Withheld, "never arrives"),
	lostAnswer("DU-02/answer-cut", faults.Cut, "is cut off with the connection"),
	{
		ID: "DU-02/request-lost", Clauses: []string{"DU-02"},
		Title:   "a write whose request never arrived is absent after a kill and restart, and the store is readable",
		Faults:  []string{"request-lost"},
		Missing: noProbe,
		Drive: on(func(s *scene) {
			s.proveProbe(s.write())
			s.helper.LosesRequest(s.writing().With("fenced", "yes"))
			s.helper.Killed()
			s.helper = s.NewCaller()
			s.read(s.helper, "final")
		}),
		Judge: judge.All(judge.Placed("request-lost", 1), judge.ProbeSees("values"), judge.WholeOrAbsent, judge.AckedSurvive("DU-02", 1)),
	},
}

func lostAnswer(id string, shape faults.Shape, how string) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{"DU-02"},
		Title:   "a write whose answer " + how + " is whole or absent after a kill and restart",
		Faults:  []string{"answer-lost"},
		Missing: noProbe,
		Drive: on(func(s *scene) {
			s.proveProbe(s.write())
			s.helper.LosesAnswer(shape, s.writing())
			s.helper.Killed()
			s.helper = s.NewCaller()
			s.read(s.helper, "final")
		}),
		Judge: judge.All(judge.Placed("answer-lost", 1), judge.ProbeSees("values"), judge.WholeOrAbsent, judge.AckedSurvive("DU-02", 1)),
	}
}

var concurrent = []suites.Test{
	{
		ID: "DU-04/concurrent-on-one-connection", Clauses: []string{"DU-04"},
		Title:  "of many writes held together and released at once on one connection all acknowledged ones are there",
		Faults: []string{"race"}, Numbers: reports.Numbers{Concurrent: 50, Rounds: 1},
		Drive: on(func(s *scene) {
			s.races(s.helper)
			s.readByFresh()
		}),
		Judge: judge.Numbered(func(n reports.Numbers) judge.Rule {
			return judge.All(judge.Placed("race", n.Rounds), judge.AckedSurvive("DU-04", 2))
		}),
	},
	{
		ID: "DU-04/few-at-once", Clauses: []string{"DU-04"},
		Title:  "of few writes at once on one connection, again and again, all acknowledged ones are there",
		Faults: []string{"race"}, Numbers: reports.Numbers{Rounds: fewRounds},
		Drive: on(func(s *scene) {
			s.racesOf(few, s.helper)
			s.readByFresh()
		}),
		Judge: judge.Numbered(func(n reports.Numbers) judge.Rule {
			return judge.All(judge.Placed("race", n.Rounds), judge.AckedSurvive("DU-04", 2))
		}),
	},
	{
		ID: "DU-05/two-servers-overlapping", Clauses: []string{"DU-05"},
		Title:  "of many writes through two servers on one store at once all acknowledged ones are there",
		Faults: []string{"race"}, Numbers: reports.Numbers{Concurrent: 50, Rounds: 1},
		Drive: on(func(s *scene) {
			s.races(s.helper, s.NewCallerBeside())
			s.readByFresh()
		}),
		Judge: judge.Numbered(func(n reports.Numbers) judge.Rule {
			return judge.All(judge.Placed("race", n.Rounds), judge.AckedSurvive("DU-05", 2))
		}),
	},
	{
		ID: "DU-05/two-servers-one-held-in-a-write", Clauses: []string{"DU-05"},
		Title:  "of writes through a second server while the first is held in the middle of a write of its own all acknowledged ones are there",
		Faults: []string{"hold"},
		Drive: on(func(s *scene) {
			s.write()
			s.EndCallers()
			s.HoldInWrites(heldPlaces, s.writing)
			s.readByFresh()
		}),
		Judge: judge.All(judge.HeldWithin, judge.AckedSurvive("DU-05", 2)),
	},
	{
		ID: "DU-05/two-servers-alternating", Clauses: []string{"DU-05"},
		Title:   "of writes through two servers on one store in strict alternation all acknowledged ones are there",
		Numbers: reports.Numbers{Alternations: 10},
		Drive: on(func(s *scene) {
			second := s.NewCallerBeside()
			for range s.Numbers().Alternations {
				s.helper.Do(s.writing())
				second.Do(s.writing())
			}
			s.readByFresh()
		}),
		Judge: judge.Numbered(func(n reports.Numbers) judge.Rule {
			return judge.All(judge.Alternating, judge.AckedSurvive("DU-05", 2*n.Alternations-1))
		}),
	},
}

const (
	// few writes at once in fewRounds rounds: where a server takes one write in
	// microseconds, many at once are many behind one another, and of few in many rounds
	// some meet. All together they are no more than the many, which is what a read of a
	// server that shows the newest alone was seen to show.
	few       = 4
	fewRounds = 12
	// heldPlaces is at how many places of a write a server is held, the first and the
	// last of them included, while another one writes.
	heldPlaces = 3
)

// races makes the concurrent writes through some callers, in as many rounds as are
// asked for.
func (s *scene) races(callers ...*world.Caller) { s.racesOf(s.Numbers().Concurrent, callers...) }

// racesOf makes n writes at once, in as many rounds.
func (s *scene) racesOf(n int, callers ...*world.Caller) {
	for round := range s.Numbers().Rounds {
		acts := s.many(n)
		for i := range acts {
			acts[i] = acts[i].With("round", fmt.Sprint(round+1))
		}
		s.Together(acts, callers...)
	}
}

// many makes n acts of distinct values.
func (s *scene) many(n int) []world.Act {
	acts := make([]world.Act, n)
	for i := range acts {
		acts[i] = s.writing()
	}
	return acts
}

var honest = []suites.Test{
	{
		ID: "DU-20/an-error-changed-nothing", Clauses: []string{"DU-20"},
		Title: "what was answered with an error left what can be read back as it was",
		Drive: on(func(s *scene) {
			s.around(s.writing())
			for _, bad := range s.helper.InvalidCalls(s.Word("never-written")) {
				s.around(bad)
			}
		}),
		Judge: judge.ErrorChangedNothing,
	},
	{
		ID: "DU-21/read-back-at-once", Clauses: []string{"DU-21"},
		Title: "without any fault an acknowledged write can be read back at once, whatever its text",
		Drive: on(func(s *scene) {
			acts := []world.Act{s.writing(), s.writing(), s.writing()}
			for _, value := range s.awkward() {
				acts = append(acts, s.writingValue(value))
			}
			for _, act := range append(acts, s.writing()) {
				if s.around(act).Outcome() == history.Unknown {
					return // nothing is judged behind a write without an answer
				}
			}
		}),
		Judge: judge.ReadBack,
	},
}
