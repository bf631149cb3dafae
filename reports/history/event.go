// Package history is the record of one spec: everything that was sent, seen,
// broken and looked at, in one order and on one monotonic clock. Judges read
// nothing else, so an old recording can be judged again by a newer version.
package history

import (
	"encoding/json"
	"time"
)

// Kind says which payload of an Event is set.
type Kind string

// The kinds of event.
const (
	KindProcess Kind = "process" // a process of the target started, died, was paused
	KindMessage Kind = "message" // one raw MCP message as the caller's session saw it
	KindCall    Kind = "call"    // a tool call as the caller lived it
	KindRequest Kind = "request" // what the harness's own proxy counted on a wire
	KindLook    Kind = "look"    // an independent look at a surface
	KindFault   Kind = "fault"   // a fault reached a stage
	KindMark    Kind = "mark"    // the spec says what it is doing (phase, expectation, number)
)

// Event is one line of history.jsonl.
type Event struct {
	// Seq counts from 1 without gaps within one history.
	Seq int64 `json:"seq"`
	// At is the time since the history's start, on the monotonic clock, in ns.
	At   time.Duration `json:"at_ns"`
	Kind Kind          `json:"kind"`

	Process *Process `json:"process,omitempty"`
	Message *Message `json:"message,omitempty"`
	Call    *Call    `json:"call,omitempty"`
	Request *Request `json:"request,omitempty"`
	Look    *Look    `json:"look,omitempty"`
	Fault   *Fault   `json:"fault,omitempty"`
	Mark    *Mark    `json:"mark,omitempty"`
}

// ProcessState is what happened to a process.
type ProcessState string

// What can happen to a process.
const (
	Started ProcessState = "started"
	Ready   ProcessState = "ready"
	Killed  ProcessState = "killed" // SIGKILL was sent by the harness, to the whole group
	Paused  ProcessState = "paused"
	Resumed ProcessState = "resumed"
	Stopped ProcessState = "stopped" // ended in order by the harness
	Exited  ProcessState = "exited"  // reaped; Code and Signal are known
)

// Process is an event of one process of the target.
type Process struct {
	Name     string       `json:"name"`     // its name in the target file
	Instance int          `json:"instance"` // 1 for the first start of this name, then 2, …
	PID      int          `json:"pid"`
	State    ProcessState `json:"state"`
	Code     int          `json:"code,omitempty"`   // exit code, on Exited
	Signal   string       `json:"signal,omitempty"` // signal that ended it, on Exited
	Detail   string       `json:"detail,omitempty"`
}

// Message is one raw MCP message at the caller's end. Raw is kept as text,
// because what a helper prints need not be JSON.
type Message struct {
	Session  string `json:"session"`
	Outgoing bool   `json:"outgoing"`
	Raw      string `json:"raw"`
	// Garbage is why Raw is not an MCP message, empty when it is one (DU-14).
	Garbage string `json:"garbage,omitempty"`
}

// CallPhase tells a call's two events apart.
type CallPhase string

// A call is invoked once and returned at most once.
const (
	Invoked  CallPhase = "invoked"
	Returned CallPhase = "returned"
)

// Outcome is what the caller can know of a call (design rule 8).
type Outcome string

// The three outcomes. Unknown may still take effect later.
const (
	Done    Outcome = "done"    // acknowledged: accepted by the target's own structure
	Refused Outcome = "refused" // refused by structure, or not accepted by the predicate
	Unknown Outcome = "unknown" // no answer came: it may have happened, or may yet
)

// Call is a tool call as its caller lived it. Both of its events carry ID,
// Session, Role and Tool; the second carries the outcome.
type Call struct {
	ID        string          `json:"id"`
	Phase     CallPhase       `json:"phase"`
	Session   string          `json:"session"`
	Role      string          `json:"role"` // the profile's word: start, note, get, write, read …
	Tool      string          `json:"tool"` // the target's name of it
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Params are the spec's own values behind the arguments: task_key, key, text, value …
	Params map[string]string `json:"params,omitempty"`

	Outcome Outcome         `json:"outcome,omitempty"`
	Answer  json.RawMessage `json:"answer,omitempty"` // the JSON-RPC result, or the error object
	// IsError: the answer was a tool error (isError) or a JSON-RPC error.
	IsError bool `json:"is_error,omitempty"`
	// Fields are what the target file's answer mapping found, in the contract's words.
	Fields map[string]any `json:"fields,omitempty"`
	// Unfound are the fields that the answer mapping names and did not find.
	Unfound []string `json:"unfound,omitempty"`
	// Unmapped: the target file's jq does not fit the answer; Reason says where.
	Unmapped bool `json:"unmapped,omitempty"`
	// Reason is why the outcome is refused or unknown, for a person.
	Reason string `json:"reason,omitempty"`
}

// Request is one message on a wire, counted by the harness and not by the target.
type Request struct {
	Wire string `json:"wire"`
	// ID is the proxy's own number of the exchange; request and answer share it.
	ID       int64  `json:"id"`
	IsAnswer bool   `json:"is_answer,omitempty"`
	Method   string `json:"method,omitempty"` // HTTP method, or JSON-RPC method on an MCP wire
	Path     string `json:"path,omitempty"`   // HTTP path
	Tool     string `json:"tool,omitempty"`   // of a tools/call
	RPCID    string `json:"rpc_id,omitempty"` // JSON-RPC id as raw JSON
	Status   int    `json:"status,omitempty"` // HTTP status of an answer
	Bytes    int    `json:"bytes,omitempty"`
	// Action is what the proxy did: forwarded, held, released, dropped, replaced.
	Action string `json:"action"`
}

// Surface is an independent place to look.
type Surface string

// The surfaces of the contract.
const (
	SurfaceAnswer Surface = "answer"
	SurfacePerson Surface = "person"
	SurfaceStore  Surface = "store"
	SurfaceWire   Surface = "wire"
)

// Look is one look through a probe.
type Look struct {
	Surface Surface           `json:"surface"`
	Probe   string            `json:"probe"`
	Params  map[string]string `json:"params,omitempty"`
	// When says at which moment of the spec: "before", "proof", "converged", "final" …
	When string `json:"when,omitempty"`
	// Rows are what was found, in order; none means that nothing is there.
	Rows []map[string]any `json:"rows"`
	// Error: the look itself failed, so that it says nothing about the target.
	Error string `json:"error,omitempty"`
}

// Stage is how far a fault came (design rule 2).
type Stage string

// The stages in order. Proven carries how: committed or absent.
const (
	Armed    Stage = "armed"
	Matched  Stage = "matched"
	Held     Stage = "held"
	Proven   Stage = "proven"
	Fired    Stage = "fired"
	Observed Stage = "observed"
	Healed   Stage = "healed"
)

// Stages lists the stages in their order.
func Stages() []Stage { return []Stage{Armed, Matched, Held, Proven, Fired, Observed, Healed} }

// Fault is one stage reached by one fault.
type Fault struct {
	ID    string `json:"id"`   // unique in the history: f1, f2 …
	Name  string `json:"name"` // answer-lost, request-lost, caller-gone, delay, race, kill, login-held …
	Stage Stage  `json:"stage"`
	// Position says where it is placed: wire, call, occurrence, phase.
	Position string `json:"position,omitempty"`
	// Proof is "committed" or "absent" on Proven, else empty.
	Proof string `json:"proof,omitempty"`
	// By names the second route that proved it: the probe, or the fence.
	By       string         `json:"by,omitempty"`
	Evidence map[string]any `json:"evidence,omitempty"`
}

// Mark is the spec's own word in the history.
type Mark struct {
	Name string         `json:"name"`
	Data map[string]any `json:"data,omitempty"`
}
