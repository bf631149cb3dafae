package schedule

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/goccy/go-yaml"
	"github.com/google/renameio/v2"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// file is the form of schedule.yaml.
type file struct {
	Version    int         `yaml:"holdfast_schedule"`
	Spec       string      `yaml:"spec"`
	Target     string      `yaml:"target"`
	Seed       int64       `yaml:"seed"`
	Choices    []choice    `yaml:"choices"`
	Placements []Placement `yaml:"placements"`
}

// Write stores the schedule at path, whole or not at all.
func (s *Schedule) Write(path string) error {
	s.mu.Lock()
	f := file{
		Version: Version, Spec: s.Spec, Target: s.Target, Seed: s.Seed,
		Choices: append([]choice{}, s.choices...), Placements: append([]Placement{}, s.placements...),
	}
	s.mu.Unlock()
	text, err := yaml.Marshal(f)
	if err != nil {
		return fmt.Errorf("writing the schedule of %s: %w", s.Spec, err)
	}
	if err := renameio.WriteFile(path, text, 0o644, renameio.WithTempDir(filepath.Dir(path))); err != nil {
		return fmt.Errorf("writing the schedule of %s to %s: %w", s.Spec, path, err)
	}
	return nil
}

// Read reads a schedule for a replay: its choices are those that were recorded.
func Read(path string) (*Schedule, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading a schedule: %w; expected the schedule.yaml in a spec's folder below artifacts/ of a report", err)
	}
	var f file
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(&f); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("it is empty")
		}
		return nil, fmt.Errorf("reading the schedule %s: %s; expected what a run of holdfast wrote", path, yaml.FormatError(err, false, true))
	}
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("reading the schedule %s: %w", path, err)
	}
	return &Schedule{
		Spec: f.Spec, Target: f.Target, Seed: f.Seed,
		replayed: true, choices: f.Choices, placements: f.Placements,
	}, nil
}

// check says what is missing or contradicts itself.
func (f file) check() error {
	switch {
	case f.Version != Version:
		return fmt.Errorf("holdfast_schedule is %d, expected %d; it was written by another version, so run the spec anew", f.Version, Version)
	case f.Spec == "":
		return errors.New("spec is missing, expected a spec's ID such as WR-06/answer-withheld")
	case f.Target == "":
		return errors.New("target is missing, expected the name of the target")
	}
	known := map[string]bool{}
	for i, c := range f.Choices {
		switch {
		case c.Name == "":
			return fmt.Errorf("choices[%d] has no name", i)
		case known[c.Name]:
			return fmt.Errorf("choices[%d]: %q is there twice, expected one choice a name", i, c.Name)
		case c.Of < 1 || c.Chosen < 0 || c.Chosen >= c.Of:
			return fmt.Errorf("choices[%d] (%s): chosen is %d of %d, expected a number from 0 to of-1", i, c.Name, c.Chosen, c.Of)
		}
		known[c.Name] = true
	}
	for i, p := range f.Placements {
		if p.ID == "" || p.Name == "" {
			return fmt.Errorf("placements[%d] lacks its id or its name", i)
		}
		for _, stage := range p.Stages {
			if !slices.Contains(history.Stages(), history.Stage(stage)) {
				return fmt.Errorf("placements[%d] (%s): %q is no stage, expected some of %v", i, p.Name, stage, history.Stages())
			}
		}
	}
	return nil
}
