package clauses

import (
	"errors"
	"fmt"
	"slices"
)

// check reports everything that is wrong with the set, not only the first.
func (c *Catalogue) check() error {
	var errs []error
	if len(c.clauses) == 0 {
		errs = append(errs, errors.New("it has no clause"))
	}
	for _, p := range c.profiles {
		if p.Name == "" || p.Prefix == "" || p.Title == "" || p.Summary == "" {
			errs = append(errs, fmt.Errorf("profile %q lacks name, prefix, title or summary", p.Name))
		}
	}
	for _, w := range c.words {
		if w.Word == "" || w.Meaning == "" {
			errs = append(errs, fmt.Errorf("word %q has no meaning", w.Word))
		}
	}
	for _, clause := range c.clauses {
		for _, err := range c.faults(clause) {
			errs = append(errs, fmt.Errorf("%s: %w", clause.ID, err))
		}
	}
	return errors.Join(errs...)
}

func (c *Catalogue) faults(clause Clause) []error {
	var errs []error
	for _, f := range []struct{ name, value string }{
		{"title", clause.Title}, {"text", clause.Text}, {"breaks", clause.Breaks},
	} {
		if f.value == "" {
			errs = append(errs, fmt.Errorf("%s is empty", f.name))
		}
	}
	if len(clause.Needs) == 0 {
		errs = append(errs, errors.New("needs is empty; every clause needs at least one tool, process or probe"))
	}
	errs = append(errs, obligation(clause.Level, clause.Sources, clause.Needs)...)
	errs = append(errs, c.seeFaults(clause)...)
	return append(errs, partFaults(clause)...)
}

func obligation(level Level, sources []Source, needs []string) []error {
	var errs []error
	if level != Must && level != Should {
		errs = append(errs, fmt.Errorf("level %q is neither must nor should", level))
	}
	if len(sources) == 0 {
		errs = append(errs, errors.New("it has no source; an obligation of ours is {kind: contract}"))
	}
	for _, s := range sources {
		if err := s.check(); err != nil {
			errs = append(errs, err)
		}
	}
	if err := checkNeeds(needs); err != nil {
		errs = append(errs, err)
	}
	return errs
}

func (c *Catalogue) seeFaults(clause Clause) []error {
	var errs []error
	if len(clause.See) == 0 {
		errs = append(errs, errors.New("see is empty; name at least one related clause"))
	}
	for i, id := range clause.See {
		switch _, ok := c.byID[id]; {
		case !ok:
			errs = append(errs, fmt.Errorf("see names %q, which is no clause of this set", id))
		case id == clause.ID:
			errs = append(errs, errors.New("see names the clause itself"))
		case slices.Contains(clause.See[:i], id):
			errs = append(errs, fmt.Errorf("see names %s twice", id))
		}
	}
	return errs
}

func partFaults(clause Clause) []error {
	if len(clause.Parts) == 0 {
		return nil
	}
	if len(clause.Parts) == 1 {
		return []error{errors.New("it has one part; a clause is divided into two or more, or not at all")}
	}
	var errs []error
	names := map[string]bool{}
	must := false
	for _, p := range clause.Parts {
		if p.Name == "" || p.Text == "" {
			errs = append(errs, fmt.Errorf("part %q lacks name or text", p.Name))
		}
		if names[p.Name] {
			errs = append(errs, fmt.Errorf("two parts are named %q", p.Name))
		}
		names[p.Name] = true
		must = must || p.Level == Must
		for _, err := range obligation(p.Level, p.Sources, p.Needs) {
			errs = append(errs, fmt.Errorf("part %q: %w", p.Name, err))
		}
		for _, s := range p.Sources {
			kind := func(of Source) bool { return of.Kind == s.Kind }
			if !slices.ContainsFunc(clause.Sources, kind) {
				errs = append(errs, fmt.Errorf("part %q has source %s, which the clause does not list", p.Name, s.Kind))
			}
		}
	}
	if must != (clause.Level == Must) {
		errs = append(errs, fmt.Errorf("level is %s, but its parts say otherwise; a clause is a must if one of its parts is", clause.Level))
	}
	return errs
}
