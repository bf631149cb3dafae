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

// Check says why a history cannot be judged: its numbers have gaps, or its
// clock ran backwards. A recording that fails here is the harness's fault.
func (h History) Check() error {
	for i, e := range h.Events {
		if e.Seq != int64(i+1) {
			return fmt.Errorf("the recording has a gap: event %d carries number %d", i+1, e.Seq)
		}
		if i > 0 && e.At < h.Events[i-1].At {
			return fmt.Errorf("the recorder's clock ran backwards: event %d at %v, event %d at %v",
				h.Events[i-1].Seq, h.Events[i-1].At, e.Seq, e.At)
		}
	}
	return nil
}

// Operation is one call with both of its ends; Returned is nil when the caller
// never got an end, which counts as outcome unknown.
type Operation struct {
	Invoked    Call
	InvokedAt  Event
	Returned   *Call
	ReturnedAt *Event
}

// Outcome of the operation; unknown when it never returned.
func (o Operation) Outcome() Outcome {
	if o.Returned == nil {
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
