package judge

import (
	"encoding/json"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// edit is one defect, put into a correct history.
type edit func(events []history.Event) []history.Event

// with tells a history again with edits, numbered anew.
func with(h history.History, edits ...edit) history.History {
	events := slices.Clone(h.Events)
	for i, e := range events { // a deep copy, so that cases share nothing
		line, err := json.Marshal(e)
		if err != nil {
			panic(err)
		}
		events[i] = history.Event{}
		if err := json.Unmarshal(line, &events[i]); err != nil {
			panic(err)
		}
	}
	for _, change := range edits {
		events = change(events)
	}
	rec := history.NewRecorder(nil)
	for _, e := range events {
		rec.Record(e)
	}
	again, err := rec.History()
	if err != nil {
		panic(err)
	}
	return again
}

// each edits what fits; a defect that hits nothing is a mistake in the test.
func each(what string, fits func(history.Event) bool, change func(*history.Event)) edit {
	return func(events []history.Event) []history.Event {
		hits := 0
		for i := range events {
			if fits(events[i]) {
				hits++
				change(&events[i])
			}
		}
		if hits == 0 {
			panic("the edit hit nothing: " + what)
		}
		return events
	}
}

func removed(what string, fits func(history.Event) bool) edit {
	return func(events []history.Event) []history.Event {
		kept := slices.DeleteFunc(slices.Clone(events), fits)
		if len(kept) == len(events) {
			panic("the edit hit nothing: " + what)
		}
		return kept
	}
}

func isLook(probe, when string) func(history.Event) bool {
	return func(e history.Event) bool {
		return e.Kind == history.KindLook && e.Look.Probe == probe && e.Look.When == when
	}
}

func isCall(id string, phase history.CallPhase) func(history.Event) bool {
	return func(e history.Event) bool {
		return e.Kind == history.KindCall && e.Call.ID == id && (phase == "" || e.Call.Phase == phase)
	}
}

// noLook: the look was never taken.
func noLook(probe, when string) edit { return removed("look "+probe, isLook(probe, when)) }

// lookFails: the look was taken and failed by itself.
func lookFails(probe, when string) edit {
	return each("look "+probe, isLook(probe, when), func(e *history.Event) { e.Look.Rows, e.Look.Error = nil, "the look itself failed" })
}

// shows replaces what a look showed.
func shows(probe, when string, rows ...map[string]any) edit {
	return each("look "+probe, isLook(probe, when), func(e *history.Event) { e.Look.Rows = rows })
}

// cell changes one cell of what a look showed.
func cell(probe, when string, n int, column string, value any) edit {
	return each("look "+probe, isLook(probe, when), func(e *history.Event) { e.Look.Rows[n][column] = value })
}

// lookOf changes the looks at one item.
func lookOf(id, probe, when string, change func(*history.Look)) edit {
	return each("look "+probe+" of "+id, func(e history.Event) bool { return isLook(probe, when)(e) && e.Look.Params["item_id"] == id },
		func(e *history.Event) { change(e.Look) })
}

// noLookOf: one item was never looked at.
func noLookOf(id, probe, when string) edit {
	return removed("look "+probe+" of "+id, func(e history.Event) bool { return isLook(probe, when)(e) && e.Look.Params["item_id"] == id })
}

// noColumn: the probe does not show a column.
func noColumn(probe, when, column string) edit {
	return each("look "+probe, isLook(probe, when), func(e *history.Event) {
		for _, r := range e.Look.Rows {
			delete(r, column)
		}
	})
}

// rowsLater adds rows to what a look showed.
func rowsLater(probe, when string, rows ...map[string]any) edit {
	return each("look "+probe, isLook(probe, when), func(e *history.Event) { e.Look.Rows = append(e.Look.Rows, rows...) })
}

// noRow takes one row away.
func noRow(probe, when string, n int) edit {
	return each("look "+probe, isLook(probe, when), func(e *history.Event) { e.Look.Rows = slices.Delete(e.Look.Rows, n, n+1) })
}

// ends replaces how a call came back.
func ends(id string, with ending) edit {
	return each("call "+id, isCall(id, history.Returned), func(e *history.Event) {
		c := history.Call(with)
		c.ID, c.Phase = id, history.Returned
		e.Call = &c
	})
}

// field changes one mapped field of an answer.
func field(id, name string, value any) edit {
	return each("call "+id, isCall(id, history.Returned), func(e *history.Event) { e.Call.Fields[name] = value })
}

// noField: the answer does not have a field.
func noField(id, name string) edit {
	return each("call "+id, isCall(id, history.Returned), func(e *history.Event) { delete(e.Call.Fields, name) })
}

// param changes one of the spec's values behind a call.
func param(id, name, value string) edit {
	return each("call "+id, isCall(id, history.Invoked), func(e *history.Event) { e.Call.Params[name] = value })
}

// neverReturned: the recording ends while the call is out.
func neverReturned(id string) edit { return removed("call "+id, isCall(id, history.Returned)) }

// noCall: the call was never made.
func noCall(ids ...string) edit {
	return removed("calls", func(e history.Event) bool { return e.Kind == history.KindCall && slices.Contains(ids, e.Call.ID) })
}

// noMark: the spec never said so.
func noMark(name string) edit {
	return removed("mark "+name, func(e history.Event) bool { return e.Kind == history.KindMark && e.Mark.Name == name })
}

func markData(name, key string, value any) edit {
	return each("mark "+name, func(e history.Event) bool { return e.Kind == history.KindMark && e.Mark.Name == name },
		func(e *history.Event) { e.Mark.Data[key] = value })
}

// endedLate moves the end of a call behind everything else.
func endedLate(id string) edit {
	return func(events []history.Event) []history.Event {
		n := slices.IndexFunc(events, isCall(id, history.Returned))
		late := events[n]
		return append(slices.Delete(events, n, n+1), late)
	}
}
