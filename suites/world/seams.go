package world

import (
	"context"
	"time"

	"github.com/holdfast-mcp/holdfast/faults/crashpoint"
	"github.com/holdfast-mcp/holdfast/faults/wire"
)

// Seams are the places at which the harness's own self-test reaches in (design
// rule 12). All are nil in a real run; a saboteur sets one of them.
type Seams struct {
	// Clock replaces the recorder's clock.
	Clock func() time.Duration
	// Line decorates a wire as faults see it.
	Line func(wire.Line) wire.Line
	// Kill decorates how a process is killed.
	Kill func(kill func(context.Context) error) func(context.Context) error
	// Skip says which looks are never taken.
	Skip func(probe, when string) bool
	// Rows replaces what a look through a probe has found.
	Rows func(probe string, rows []map[string]any) []map[string]any
	// Trigger decorates what the tracer is told to do, and where.
	Trigger func(*crashpoint.Trigger) *crashpoint.Trigger
	// Word decorates a planted canary.
	Word func(string) string
	// Shows decorates whether a probe shows a commit.
	Shows func(bool) bool
	// Press decorates how the mouse's button is pressed in the browser.
	Press func(press func(context.Context) error) func(context.Context) error
}

func (s Seams) line(l wire.Line) wire.Line {
	if s.Line == nil {
		return l
	}
	return s.Line(l)
}

func (s Seams) rows(probe string, rows []map[string]any) []map[string]any {
	if s.Rows == nil {
		return rows
	}
	return s.Rows(probe, rows)
}

func (s Seams) plant(word string) string {
	if s.Word == nil {
		return word
	}
	return s.Word(word)
}

func (s Seams) shows(really bool) bool {
	if s.Shows == nil {
		return really
	}
	return s.Shows(really)
}
