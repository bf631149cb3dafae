package faults

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// Lane is one racing request.
type Lane struct {
	Line  wire.Line
	Match wire.Match
}

// Lanes are n requests of one kind on one wire: its next n occurrences.
func Lanes(line wire.Line, m wire.Match, n int) []Lane {
	lanes := make([]Lane, n)
	for i := range lanes {
		m.Occurrence = i + 1
		lanes[i] = Lane{Line: line, Match: m}
	}
	return lanes
}

// Race holds all its requests together and releases them at once (design rule
// 13). If they are not all held it is a *Missed with ErrNotSimultaneous.
type Race struct {
	Lanes  []Lane
	Limits wait.Limits
}

// Arm places it; the calls are made after that, all at the same time.
func (r Race) Arm(l *Ledger) Fault {
	words := make([]string, len(r.Lanes))
	race := &race{limits: orDefault(r.Limits)}
	for i, lane := range r.Lanes {
		lane.Match.Answer = false
		words[i] = fmt.Sprintf("%s · %s", lane.Line.Name(), lane.Match)
		race.lanes = append(race.lanes, running{Lane: lane, before: lane.Line.Count(lane.Match), trap: lane.Line.Trap(lane.Match)})
	}
	if len(words) > 3 {
		words = append(words[:2], "…", words[len(words)-1])
	}
	race.Placement = l.Arm("race", strings.Join(words, " | "))
	return race
}

type race struct {
	*Placement
	limits wait.Limits
	lanes  []running
}

type running struct {
	Lane
	before int
	trap   wire.Trap
	held   wire.Held
}

func (r running) same() wire.Match { return wire.Match{Exchange: r.held.Message().Exchange} }

func (r *race) missed(stage history.Stage, err error) error {
	return errors.Join(&Missed{Fault: r.Name(), Position: r.Position(), Stage: stage, Err: err}, r.Heal())
}

// Strike implements Fault.
func (r *race) Strike(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, r.limits.Answer)
	defer cancel()
	exchanges := make([]int64, len(r.lanes))
	for i := range r.lanes {
		lane := &r.lanes[i]
		var err error
		if lane.held, err = lane.trap.Held(waiting); err != nil {
			return r.missed(history.Held, fmt.Errorf("%w: %d of %d: %w", ErrNotSimultaneous, i, len(r.lanes), err))
		}
		exchanges[i] = lane.held.Message().Exchange
		r.Reach(history.Matched, map[string]any{"wire": lane.Line.Name(), "exchange": exchanges[i], "first_of": len(r.lanes)})
	}
	passed := 0
	for _, lane := range r.lanes {
		if n := lane.Line.Count(lane.Match); n <= lane.before {
			return r.missed(history.Held, fmt.Errorf("%w on wire %s: its count stands at %d as before", ErrMiscounted, lane.Line.Name(), n))
		}
		passed += lane.Line.Passed(lane.same())
	}
	r.Reach(history.Held, map[string]any{"together": len(r.lanes), "exchanges": exchanges})
	if passed != 0 {
		return r.missed(history.Proven, fmt.Errorf("%w: %d of %d requests had left while they were to be held", ErrNotSimultaneous, passed, len(r.lanes)))
	}
	r.Prove(Absent, "the wire, where all of them are held and none has left", map[string]any{"held": len(r.lanes), "passed": 0})
	for _, lane := range r.lanes {
		lane.held.Release()
	}
	r.Reach(history.Fired, map[string]any{"released": len(r.lanes)})
	return nil
}

// Observe implements Fault: it sees to it that every request went through once.
func (r *race) Observe(_ history.Outcome, evidence map[string]any) error {
	err := wait.For(context.Background(), "every released request to leave", r.limits.Answer, func(context.Context) (bool, error) {
		for _, lane := range r.lanes {
			if lane.Line.Passed(lane.same()) != 1 {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		return r.missed(history.Observed, fmt.Errorf("%w: %w", ErrMiscounted, err))
	}
	r.Reach(history.Observed, map[string]any{"passed": len(r.lanes), "evidence": evidence})
	return nil
}

// Heal implements Fault.
func (r *race) Heal() error {
	for _, lane := range r.lanes {
		lane.trap.Disarm()
	}
	r.Reach(history.Healed, map[string]any{"wire": "as before"})
	return nil
}
