package durability

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

var keyed = []suites.Test{
	{
		ID: "DU-12/retried-after-a-lost-answer", Clauses: []string{"DU-12"},
		Title:   "a write whose answer never arrives, sent again with its idempotency key, takes effect once",
		Faults:  []string{"answer-lost"},
		NotFor:  keyless,
		Missing: noProbe,
		Drive: on(func(s *scene) {
			act := s.retryable()
			s.helper.LosesAnswer(faults.Withheld, act.With("attempt", "1"))
			s.helper.Do(act.With("attempt", "2"))
			s.readByFresh()
		}),
		Judge: judge.All(judge.Placed("answer-lost", 1), judge.ProbeSees("values"), judge.RetriedTakesEffectOnce),
	},
	{
		ID: "DU-12/retried-after-a-kill", Clauses: []string{"DU-12"},
		Title:   "a write whose server was killed before it answered, sent to the next server with its idempotency key, takes effect once",
		Faults:  []string{"kill-at-answer"},
		NotFor:  keyless,
		Missing: noProbe,
		Drive: on(func(s *scene) {
			act := s.retryable()
			s.helper.KilledSilently(act.With("attempt", "1"))
			s.helper = s.NewCaller()
			s.helper.Do(act.With("attempt", "2"))
			s.readByFresh()
		}),
		Judge: judge.All(judge.Placed("kill-at-answer", 1), judge.ProbeSees("values"), judge.RetriedTakesEffectOnce),
	},
}

// keyless says that no write of a target hands an idempotency key over.
func keyless(f *target.File) string {
	if keyedWrite(f) == nil {
		return `no write in profiles.durability.writes hands "{{key}}" over, so that the server is not said to take an idempotency key`
	}
	return ""
}

// keyedWrite is the first write that takes an idempotency key, nil for none.
func keyedWrite(f *target.File) *target.Tool {
	if f.Profiles.Durability == nil {
		return nil
	}
	for _, w := range f.Profiles.Durability.Writes {
		if w.Uses("key") {
			return &w
		}
	}
	return nil
}

// retryable is a write with an idempotency key. Before it two writes of one value
// under two keys show whether the reads would show a second effect.
func (s *scene) retryable() world.Act {
	twin := s.Word("twin")
	for i := range 2 {
		act := s.keyed(twin)
		write := s.helper.Do(act.With("key", fmt.Sprintf("key %s %d", twin, i+1)).With("twin", "yes"))
		if i == 0 {
			s.proveProbe(write)
		}
	}
	s.n++
	return s.keyed(s.Word("retried"))
}

func (s *scene) keyed(value string) world.Act {
	act := s.writingValue(value)
	act.Tool = keyedWrite(s.Target)
	return act
}
