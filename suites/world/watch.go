package world

import (
	"maps"
	"reflect"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// Watch waits as Await does, for a fact about what a probe shows, and records
// each look that shows something else than the one before it. A look that fails
// shows nothing.
func (w *World) Watch(what, name, when string, params map[string]string, fact func(rows []map[string]any) bool) bool {
	var last []map[string]any
	seen := false
	return w.Await(what, func() bool {
		rows, err := w.rows(name, params)
		if err != nil {
			return false
		}
		skipped := w.config.Seams.Skip != nil && w.config.Seams.Skip(name, when)
		if !skipped && (!seen || !reflect.DeepEqual(rows, last)) {
			w.config.Recorder.Record(history.Event{Kind: history.KindLook, Look: &history.Look{
				Surface: surfaceOf(name), Probe: name, When: when, Params: maps.Clone(params), Rows: rows}})
		}
		last, seen = rows, true
		return fact(rows)
	})
}
