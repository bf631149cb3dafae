package workflows

import (
	"encoding/json"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
)

// The controls that deny once their operation was started, by the word of the
// action deny.
var meanwhile = []struct{ control, how string }{
	{"allowlist", "its target left the allowlist after the start"},
	{"category", "its category forbade it after the start"},
	{"access", "its profile lost the access after the start"},
	{"write_mode", "writes were switched off after the start"},
	{"confirmation", "its confirmation expired after the start"},
}

// malformed is what the validation is to deny.
const malformed = "its arguments do not match the schema of its tool"

var controls = []suites.Test{
	{
		ID: "WF-04/each-control-stops-the-step", Clauses: []string{"WF-04"},
		Title:   "each control, when it denies after the start, stops the step with a code of its own, and every step leaves its audit record",
		Missing: suites.First(noConfirmation, suites.NoAction("deny", "allow"), noProbe("audit")),
		Faults:  []string{"outside-held"},
		Drive: on(func(s *scene) {
			s.begin()
			for _, m := range meanwhile {
				s.deniedMeanwhile(m.how, m.control, s.step("write"))
			}
			s.denied(malformed, 1, s.step("write"), s.malformed())
			s.rest(s.start(s.step("write"), s.step("write")))
			s.look(converged, s.operations...)
			s.Look("audit", converged, nil)
		}),
		Judge: judge.All(judge.Placed("outside-held", len(meanwhile)), judge.StepDenied("WF-04", "", denyingWays()...), judge.OwnCodes, judge.StepsAudited),
	},
	{
		ID: "WF-04/allowed-by-the-time-it-runs", Clauses: []string{"WF-04"},
		Title:   "a step that a control denied as its operation was started runs, because the control lets through when its turn comes",
		Missing: suites.First(noConfirmation, noKind("read"), suites.NoAction("deny", "allow")),
		Faults:  []string{"outside-held"},
		Drive: on(func(s *scene) {
			s.begin()
			s.allowedMeanwhile()
			s.look(converged, s.operations...)
		}),
		Judge: judge.All(judge.Placed("outside-held", 1), judge.RunsOnceAllowed(switchedOff)),
	},
}

// switchedOff is what denies a write as its operation is started, and no more once
// its turn comes.
const switchedOff = "writes are switched off"

// allowedMeanwhile starts a read and a write behind it while a control denies the
// write. While the read is held the control lets through again; the write runs only
// then. Another write, which runs before that, is denied.
func (s *scene) allowedMeanwhile() {
	denied, read, write := s.step("write"), s.plain("read"), s.step("write")
	s.Act("deny", map[string]string{"control": "write_mode"})
	s.denied(switchedOff, 0, denied)
	request := s.HoldOutsideReads()
	id := s.know(s.server.Do(s.starting(read, write).With("allowed", text(1))))
	request.Await()
	s.Act("allow", nil)
	request.Release()
	s.rest(id)
}

func denyingWays() []string {
	ways := []string{malformed}
	for _, m := range meanwhile {
		ways = append(ways, m.how)
	}
	return ways
}

// malformed is a step whose arguments do not match its schema. It is of a kind that
// needs no confirmation, if there is one: nothing else is to be wrong with it.
func (s *scene) malformed() step {
	kind := "write"
	for _, other := range []string{"safe_to_retry", "retryable", "idempotent", "abortable"} {
		if spec, there := s.Target.Profiles.Workflows.Steps[other]; there && spec.Preview == nil {
			kind = other
			break
		}
	}
	return s.made(kind, func(params map[string]string) json.RawMessage { return s.Malformed(kind, params) })
}

// noProbe says that a spec needs probes beside those of every spec.
func noProbe(names ...string) func(*target.File) string {
	return func(f *target.File) string {
		for _, name := range names {
			if _, there := f.Profiles.Workflows.Probes[name]; !there {
				return "the target file has no probe \"" + name + "\" in profiles.workflows.probes"
			}
		}
		return ""
	}
}
