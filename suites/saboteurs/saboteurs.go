// Package saboteurs are ways in which the harness could fool itself, each as a
// decorator of one seam of the world (design rule 12). With any of them the
// specs concerned must end inconclusive, error or not-run, never pass.
package saboteurs

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-mcp/holdfast/faults/crashpoint"
	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// Saboteur is one way in which the harness could fool itself.
type Saboteur struct {
	Name  string
	Title string
	// Specs are patterns of the specs that it must spoil.
	Specs []string
	// Target is the built-in target on which they are run; "" is the reference.
	Target string
	seams  func() world.Seams
}

// All are the saboteurs, in the order of design rule 12.
func All() []Saboteur { return slices.Clone(all) }

// Seams are the decorators of a saboteur; none for the name "".
func Seams(name string) (world.Seams, error) {
	if name == "" {
		return world.Seams{}, nil
	}
	names := []string{}
	for _, s := range all {
		if s.Name == name {
			return s.seams(), nil
		}
		names = append(names, s.Name)
	}
	return world.Seams{}, fmt.Errorf("no saboteur %q; there are %s", name, strings.Join(names, ", "))
}

var all = []Saboteur{
	{
		Name: "kill-does-nothing", Title: "a kill that does nothing",
		Specs: []string{"WR-02/*", "WR-05/order-across-kills-of-the-helper", "WF-14/killed-*", "WF-29/interrupted-and-reviewed", "DU-01/*"},
		seams: killsNobody,
	},
	{
		Name: "strike-elsewhere", Title: "a tracer that strikes at the first point, wherever it was told to",
		Specs: []string{"DU-03/every-crash-point-of-a-write", "DU-23/accepts-writes-behind-kills"},
		seams: strikesFirst,
	},
	{
		Name: "strike-before-any-file", Title: "a tracer that strikes before the write has made any file, wherever it was told to",
		Specs: []string{"DU-23/*"}, Target: "notes",
		seams: strikesFirst,
	},
	{
		Name: "server-lives-on", Title: "a kill that does nothing, to a server whose child has work in hand",
		Specs: []string{"DU-24/*"}, Target: "notes",
		seams: killsNobody,
	},
	{
		Name: "cut-before-commit", Title: "a cut before the commit: the request is lost where its answer should be",
		Specs: []string{"WR-06/answer-withheld", "WR-06/answer-cut", "WR-07/answer-withheld", "DU-02/answer-withheld", "DU-02/answer-cut"},
		seams: func() world.Seams {
			return world.Seams{Line: func(l wire.Line) wire.Line { return early{l} }}
		},
	},
	{
		Name: "answer-leaks", Title: "an answer that leaks although it was dropped",
		Specs: []string{"WR-06/answer-withheld", "WR-07/answer-withheld", "DU-02/answer-withheld"},
		seams: func() world.Seams {
			return world.Seams{Line: func(l wire.Line) wire.Line { return leaky{l} }}
		},
	},
	{
		Name: "probe-says-committed", Title: "a probe that always says committed",
		Specs: []string{"WR-06/answer-withheld", "WR-07/answer-cut", "DU-02/answer-withheld", "DU-02/answer-cut", "RC-07/answer-lost", "RC-17/*", "RC-18/*", "RC-29/recheck-*"},
		seams: func() world.Seams {
			return world.Seams{Shows: func(bool) bool { return true }}
		},
	},
	{
		Name: "counter-stuck", Title: "a counter of requests that is stuck at zero",
		Specs: []string{"WR-06/request-lost", "WR-06/racing-*", "WF-12/*", "WF-14/killed-*", "WF-27/*", "DU-02/request-lost", "DU-04/*"},
		seams: func() world.Seams {
			return world.Seams{Line: func(l wire.Line) wire.Line { return stuck{l} }}
		},
	},
	{
		Name: "surface-unread", Title: "a surface that is never read",
		Specs: []string{"WR-36/*", "WR-09/*", "WR-13/*"},
		seams: func() world.Seams {
			return world.Seams{Skip: func(probe, _ string) bool { return probe == "card" || probe == "anchor" }}
		},
	},
	{
		Name: "page-unopened", Title: "a page that nobody looks at, without scripts or in a browser",
		Specs: []string{"WR-36/*", "WR-13/deleted-by-a-click"},
		seams: func() world.Seams {
			return world.Seams{Skip: func(probe, _ string) bool { return probe == "card" }}
		},
	},
	{
		Name: "click-missed", Title: "a click that is told of and never made",
		Specs: []string{"WR-13/deleted-by-a-click"},
		seams: func() world.Seams {
			return world.Seams{Press: func(func(context.Context) error) func(context.Context) error {
				return func(context.Context) error { return nil }
			}}
		},
	},
	{
		Name: "canary-unplanted", Title: "a canary that is never planted",
		Specs: []string{"WR-29/through-the-repository", "WF-23/*"},
		seams: func() world.Seams {
			return world.Seams{Word: func(string) string { return "no canary" }}
		},
	},
	{
		Name: "hold-lets-pass", Title: "a hold that lets everything pass, and says that it holds it",
		Specs: []string{"WF-01/*", "WF-12/*", "WF-20/*", "WF-29/running-and-completed", "WF-30/*"},
		seams: func() world.Seams {
			return world.Seams{Line: func(l wire.Line) wire.Line { return open{l} }}
		},
	},
	{
		Name: "write-never-held", Title: "a server that is to be held in the middle of a write, and is not",
		Specs: []string{"DU-05/two-servers-one-held-in-a-write"},
		seams: func() world.Seams {
			return world.Seams{Trigger: func(t *crashpoint.Trigger) *crashpoint.Trigger {
				if t != nil && t.Do == crashpoint.Hold {
					return nil
				}
				return t
			}}
		},
	},
	{
		Name: "outside-log-stuck", Title: "a log of what the outside service has applied that is stuck at nothing",
		Specs: []string{"WF-05/*", "WF-06/*", "WF-11/*", "WF-13/*", "WF-14/killed-*", "WF-18/*", "WF-20/current-step-aborted", "WF-27/*", "WF-31/*"},
		seams: func() world.Seams {
			return world.Seams{Rows: func(probe string, rows []map[string]any) []map[string]any {
				if probe == "effects" {
					return []map[string]any{}
				}
				return rows
			}}
		},
	},
	{
		Name: "checkpoint-unread", Title: "a checkpoint that is never read",
		Specs: []string{"WF-01/*", "WF-12/*", "WF-13/*", "WF-14/killed-*", "WF-27/*"},
		seams: func() world.Seams {
			return world.Seams{Skip: func(probe, _ string) bool { return probe == "checkpoint" }}
		},
	},
	{
		Name: "server-not-answered-for", Title: "answers in the server's place that never take it: the request goes on, and the wire says that it was answered",
		Specs: []string{"RC-18/answered-on-the-way", "RC-19/answered-on-the-way", "RC-29/update-forbidden", "RC-29/recheck-not-found"},
		seams: func() world.Seams {
			return world.Seams{Line: func(l wire.Line) wire.Line { return stepsAside{l} }}
		},
	},
	{
		Name: "editor-unread", Title: "an editor of drafts that nobody looks at",
		Specs: []string{"RC-07/answer-lost", "RC-17/*", "RC-18/*", "RC-19/*", "RC-29/*"},
		seams: func() world.Seams {
			return world.Seams{Skip: func(probe, _ string) bool { return probe == "editor" }}
		},
	},
	{
		Name: "worker-silent", Title: "a worker that reports nothing",
		Specs: []string{"WR-01/*"},
		seams: func() world.Seams {
			return world.Seams{Skip: func(string, string) bool {
				if self, err := os.FindProcess(os.Getpid()); err == nil {
					_ = self.Kill() // the worker is gone at once and says nothing more
				}
				return true
			}}
		},
	},
	{
		Name: "clock-backwards", Title: "a recorder's clock that runs backwards",
		Specs: []string{"WR-01/*", "DU-21/*"},
		seams: func() world.Seams {
			left := time.Hour
			return world.Seams{Clock: func() time.Duration { left -= time.Millisecond; return left }}
		},
	},
}

// killsNobody says of every kill that it was done.
func killsNobody() world.Seams {
	return world.Seams{Kill: func(func(context.Context) error) func(context.Context) error {
		return func(context.Context) error { return nil }
	}}
}

// strikesFirst strikes before the first call.
func strikesFirst() world.Seams {
	return world.Seams{Trigger: func(t *crashpoint.Trigger) *crashpoint.Trigger {
		if t != nil {
			first := *t
			first.At, first.Side = crashpoint.Address{N: 1}, crashpoint.Before
			t = &first
		}
		return t
	}}
}

// early holds the request where the answer should be held.
type early struct{ wire.Line }

func (e early) Trap(m wire.Match) wire.Trap {
	m.Answer = false
	return e.Line.Trap(m)
}

// leaky lets every dropped message go on.
type leaky struct{ wire.Line }

func (l leaky) Trap(m wire.Match) wire.Trap { return leakyTrap{l.Line.Trap(m)} }

type leakyTrap struct{ wire.Trap }

func (t leakyTrap) Held(ctx context.Context) (wire.Held, error) {
	held, err := t.Trap.Held(ctx)
	return leakyHeld{held}, err
}

type leakyHeld struct{ wire.Held }

func (h leakyHeld) Drop() { h.Release() }

// open holds nothing of what a gate is to hold.
type open struct{ wire.Line }

func (o open) Gate(m wire.Match) wire.Gate {
	gate := o.Line.Gate(m)
	gate.Open()
	return openGate{gate, o.Line, m}
}

type openGate struct {
	wire.Gate
	line  wire.Line
	match wire.Match
}

// Waiting is what has passed.
func (g openGate) Waiting() int { return g.line.Passed(g.match) }

// stepsAside answers nothing in the place of a callee, and counts what it was to answer.
type stepsAside struct{ wire.Line }

func (s stepsAside) Instead(_ int, m wire.Match, _ int, _ []byte) wire.Refusal {
	return idle{s.Line, m, s.Count(m)}
}

type idle struct {
	line  wire.Line
	match wire.Match
	came  int
}

func (i idle) Used() int { return i.line.Count(i.match) - i.came }
func (idle) Stop()       {}

// stuck counts nothing.
type stuck struct{ wire.Line }

func (stuck) Count(wire.Match) int  { return 0 }
func (stuck) Passed(wire.Match) int { return 0 }
