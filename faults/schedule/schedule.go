// Package schedule records what a spec chose and where its faults were placed,
// so that the spec can be performed again with the same choices.
package schedule

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// Version is the version of the file's form that this build writes and reads.
const Version = 1

// Schedule is one spec's choices. It is safe for concurrent use.
type Schedule struct {
	Spec   string
	Target string // its name
	Seed   int64

	mu         sync.Mutex
	replayed   bool
	choices    []choice
	placements []Placement
}

// choice is one named choice among a number of possibilities.
type choice struct {
	Name   string `yaml:"name"`
	Of     int    `yaml:"of"`
	Chosen int    `yaml:"chosen"`
}

// Placement is where one fault was placed and how far it came.
type Placement struct {
	ID       string   `yaml:"id"`
	Name     string   `yaml:"name"`
	Position string   `yaml:"position"`
	Stages   []string `yaml:"stages"`
}

// New begins the schedule of a spec on a target, of that name.
func New(spec, target string, seed int64) *Schedule {
	return &Schedule{Spec: spec, Target: target, Seed: seed}
}

// Choose picks a number from 0 to n-1. It depends on the seed and the name only,
// not on the order of the calls; the same name gives the same number again. Of a
// schedule that was read the recorded number is given.
func (s *Schedule) Choose(name string, n int) (int, error) {
	if n < 1 {
		return 0, fmt.Errorf("choosing %q of %d possibilities: expected at least one", name, n)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.choices {
		if c.Name != name {
			continue
		}
		if c.Of != n {
			return 0, fmt.Errorf("choosing %q: the schedule of %s has it as one of %d, the spec asks for one of %d; %s", name, s.Spec, c.Of, n, s.advice())
		}
		return c.Chosen, nil
	}
	if s.replayed {
		return 0, fmt.Errorf("choosing %q: the schedule of %s has no such choice, only [%s]; %s", name, s.Spec, strings.Join(s.names(), " "), s.advice())
	}
	c := choice{Name: name, Of: n, Chosen: int(s.number("choice", name) % uint64(n))}
	s.choices = append(s.choices, c)
	return c.Chosen, nil
}

func (s *Schedule) advice() string {
	if s.replayed {
		return "the spec has changed since the schedule was recorded: run it anew and replay that"
	}
	return "one name stands for one choice: give the other one a name of its own"
}

func (s *Schedule) names() []string {
	names := make([]string, len(s.choices))
	for i, c := range s.choices {
		names[i] = c.Name
	}
	return names
}

// Word is the n-th pseudo-random number of the schedule, for texts that occur
// nowhere else. It depends on spec, seed and n, and is not recorded.
func (s *Schedule) Word(n int) uint32 {
	return uint32(s.number("word", fmt.Sprint(n)))
}

// number is deterministic and the same on every machine.
func (s *Schedule) number(kind, name string) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s\x00%s\x00%s", s.Seed, s.Spec, kind, name))
	return binary.BigEndian.Uint64(sum[:8])
}

// Note takes over where the faults of a history were placed. A schedule that was
// read keeps what it has.
func (s *Schedule) Note(h history.History) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.replayed {
		s.placements = placementsOf(h)
	}
}

// Placements are where the faults were placed, as recorded.
func (s *Schedule) Placements() []Placement {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.placements)
}

// Departures says where the faults of a replay were placed otherwise than
// recorded, in words; none means that the replay followed the schedule.
func (s *Schedule) Departures(h history.History) []string {
	recorded, now := s.Placements(), placementsOf(h)
	var all []string
	for i := range max(len(recorded), len(now)) {
		switch {
		case i >= len(now):
			all = append(all, fmt.Sprintf("%s (%s) was not placed again", recorded[i].Name, recorded[i].Position))
		case i >= len(recorded):
			all = append(all, fmt.Sprintf("%s (%s) is not in the schedule", now[i].Name, now[i].Position))
		case recorded[i].Name != now[i].Name || recorded[i].Position != now[i].Position:
			all = append(all, fmt.Sprintf("%s (%s) was placed instead of %s (%s)", now[i].Name, now[i].Position, recorded[i].Name, recorded[i].Position))
		case !slices.Equal(recorded[i].Stages, now[i].Stages):
			all = append(all, fmt.Sprintf("%s (%s) came to [%s] instead of [%s]", now[i].Name, now[i].Position,
				strings.Join(now[i].Stages, " "), strings.Join(recorded[i].Stages, " ")))
		}
	}
	return all
}

func placementsOf(h history.History) []Placement {
	var all []Placement
	for _, f := range h.Faults() {
		p := Placement{ID: f.ID, Name: f.Name, Position: f.Position}
		for _, e := range f.Stages {
			p.Stages = append(p.Stages, string(e.Fault.Stage))
		}
		all = append(all, p)
	}
	return all
}
