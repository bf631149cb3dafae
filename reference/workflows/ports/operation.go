package ports

import (
	"encoding/json"
	"slices"
	"time"
)

// Binding says to whom an operation belongs. The other half of its address is
// its ID (WF-03).
type Binding struct {
	Profile string `json:"profile"` // who acts: the bot profile
	Target  string `json:"target"`  // where: the guild
}

// Operation is one durable workflow as its checkpoint holds it.
type Operation struct {
	ID string `json:"operation"`
	Binding
	// Seq counts the checkpoints of this operation, from 1.
	Seq     int       `json:"seq"`
	State   State     `json:"state"`
	Code    Code      `json:"code,omitempty"` // why it stands where it stands
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	Steps   []Step    `json:"steps"`
}

// Step is one ordinary tool call of an operation.
type Step struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	State     StepState       `json:"state"`
	Code      Code            `json:"code,omitempty"`
	Attempts  int             `json:"attempts"` // how often it became in_flight
	// Sent is what the policy declared as the step went out first, nil before.
	// What was not sent as idempotent cannot be sent again as idempotent.
	Sent *Declared `json:"sent,omitempty"`
	// ResultSHA256 is the digest of the tool's result (hex), Result the result
	// itself unless it is long.
	ResultSHA256 string          `json:"result_sha256,omitempty"`
	Result       json.RawMessage `json:"result,omitempty"`
}

// Declared is what a tool's policy says about repeating it. The two are separate
// claims, and only both together permit a retry (WF-16, WF-17).
type Declared struct {
	Idempotent  bool `json:"idempotent"`
	SafeToRetry bool `json:"safe_to_retry"`
}

// Retryable says whether both claims are made.
func (d Declared) Retryable() bool { return d.Idempotent && d.SafeToRetry }

// Clone is a copy whose steps can be changed without changing o's.
func (o Operation) Clone() Operation {
	o.Steps = slices.Clone(o.Steps)
	return o
}

// Next is the index of the first step that is not done; len(o.Steps) if all are.
func (o Operation) Next() int {
	i := slices.IndexFunc(o.Steps, func(s Step) bool { return s.State != Done })
	if i < 0 {
		return len(o.Steps)
	}
	return i
}

// Count is how many steps are in a state.
func (o Operation) Count(state StepState) int {
	n := 0
	for _, s := range o.Steps {
		if s.State == state {
			n++
		}
	}
	return n
}
