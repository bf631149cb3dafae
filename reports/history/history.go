package history

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// History is a whole recording, in order.
type History struct {
	Events []Event
}

// maxLine bounds one line of a recording, in bytes; a longer one is refused.
const maxLine = 64 << 20

// Read reads a recording (history.jsonl).
func Read(in io.Reader) (History, error) {
	scanner := bufio.NewScanner(in)
	scanner.Buffer(make([]byte, 64<<10), maxLine)
	var h History
	for line := 1; scanner.Scan(); line++ {
		if len(scanner.Bytes()) == 0 {
			continue
		}
		var e Event
		if err := json.Unmarshal(scanner.Bytes(), &e); err != nil {
			return History{}, fmt.Errorf("history line %d: expected one JSON event a line: %w", line, err)
		}
		h.Events = append(h.Events, e)
	}
	if err := scanner.Err(); err != nil {
		return History{}, fmt.Errorf("reading the history: %w", err)
	}
	return h, nil
}

// Check says why a history cannot be judged: its numbers have gaps, its clock ran
// backwards, an event lacks what its kind says, or a call's two ends do not pair.
// A recording that fails here is the harness's fault.
func (h History) Check() error {
	ends := map[string]CallPhase{}
	for i, e := range h.Events {
		if e.Seq != int64(i+1) {
			return fmt.Errorf("the recording has a gap: event %d carries number %d", i+1, e.Seq)
		}
		if !e.complete() {
			return fmt.Errorf("the recording is damaged: event %d is of kind %q and carries nothing of it", e.Seq, e.Kind)
		}
		if c := e.Call; c != nil {
			if was := ends[c.ID]; (c.Phase == Invoked) != (was == "") || was == Returned {
				return fmt.Errorf("the recording is damaged: event %d says that call %s was %s, after it was %s", e.Seq, c.ID, c.Phase, orNever(was))
			}
			ends[c.ID] = c.Phase
		}
		if i > 0 && e.At < h.Events[i-1].At {
			return fmt.Errorf("the recorder's clock ran backwards: event %d at %v, event %d at %v",
				h.Events[i-1].Seq, h.Events[i-1].At, e.Seq, e.At)
		}
	}
	return nil
}

// complete says whether the payload that the kind names is there.
func (e Event) complete() bool {
	switch e.Kind {
	case KindProcess:
		return e.Process != nil
	case KindMessage:
		return e.Message != nil
	case KindCall:
		return e.Call != nil
	case KindRequest:
		return e.Request != nil
	case KindLook:
		return e.Look != nil
	case KindFault:
		return e.Fault != nil
	case KindMark:
		return e.Mark != nil
	}
	return false
}

func orNever(p CallPhase) string {
	if p == "" {
		return "never invoked"
	}
	return string(p)
}

// Operation is one call with both of its ends; Returned is nil when the caller
// never got an end, which counts as outcome unknown.
type Operation struct {
	Invoked    Call
	InvokedAt  Event
	Returned   *Call
	ReturnedAt *Event
}

// Outcome of the operation; unknown when it never returned, or came back with no
// word for it.
func (o Operation) Outcome() Outcome {
	if o.Returned == nil || o.Returned.Outcome == "" {
		return Unknown
	}
	return o.Returned.Outcome
}

// Field returns a mapped field of the answer, nil when there is none.
func (o Operation) Field(name string) any {
	if o.Returned == nil {
		return nil
	}
	return o.Returned.Fields[name]
}

// Text returns a mapped field of the answer as text, "" when there is none.
func (o Operation) Text(name string) string {
	s, _ := o.Field(name).(string)
	return s
}

// Param is a value that the spec put behind the call's arguments.
func (o Operation) Param(name string) string { return o.Invoked.Params[name] }

// Operations pairs the calls of the history, in the order in which they were
// invoked; role "" takes all.
func (h History) Operations(role string) []Operation {
	var ops []Operation
	at := map[string]int{}
	for i, e := range h.Events {
		if e.Kind != KindCall || e.Call == nil {
			continue
		}
		switch e.Call.Phase {
		case Invoked:
			if role == "" || e.Call.Role == role {
				at[e.Call.ID] = len(ops)
				ops = append(ops, Operation{Invoked: *e.Call, InvokedAt: e})
			}
		case Returned:
			if n, ok := at[e.Call.ID]; ok {
				ops[n].Returned, ops[n].ReturnedAt = h.Events[i].Call, &h.Events[i]
			}
		}
	}
	return ops
}

// Looks returns the looks through a probe at a moment, in order; "" takes any.
func (h History) Looks(probe, when string) []Look {
	var looks []Look
	for _, e := range h.Events {
		if e.Kind == KindLook && (probe == "" || e.Look.Probe == probe) && (when == "" || e.Look.When == when) {
			looks = append(looks, *e.Look)
		}
	}
	return looks
}

// Marks returns the spec's marks of a name, in order.
func (h History) Marks(name string) []Mark {
	var marks []Mark
	for _, e := range h.Events {
		if e.Kind == KindMark && e.Mark.Name == name {
			marks = append(marks, *e.Mark)
		}
	}
	return marks
}

// Faults groups the stages of every fault, in the order in which they were armed.
func (h History) Faults() []FaultTrace {
	var traces []FaultTrace
	at := map[string]int{}
	for _, e := range h.Events {
		if e.Kind != KindFault {
			continue
		}
		n, ok := at[e.Fault.ID]
		if !ok {
			n = len(traces)
			at[e.Fault.ID] = n
			traces = append(traces, FaultTrace{ID: e.Fault.ID, Name: e.Fault.Name, Position: e.Fault.Position})
		}
		traces[n].Stages = append(traces[n].Stages, e)
	}
	return traces
}

// FaultTrace is everything that one fault went through.
type FaultTrace struct {
	ID, Name, Position string
	Stages             []Event
}

// Reached returns the event of a stage, and whether the fault came that far.
func (f FaultTrace) Reached(stage Stage) (Event, bool) {
	for _, e := range f.Stages {
		if e.Fault.Stage == stage {
			return e, true
		}
	}
	return Event{}, false
}
