package clauses

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// kinds, strongest first.
var kinds = []string{MCPMust, MCPShould, OwnClaim, Contract}

const revisionForm = `\d{4}-\d{2}-\d{2}`

var revisionRange = regexp.MustCompile(`^(` + revisionForm + `|(` + revisionForm + `)?\.\.(` + revisionForm + `)?)$`)

// Applies says whether the source obliges a server that speaks this protocol
// revision. Revisions are dates, so their order is that of their text.
func (s Source) Applies(revision string) bool {
	from, to := s.bounds()
	return (from == "" || revision >= from) && (to == "" || revision <= to)
}

func (s Source) bounds() (from, to string) {
	from, to, isRange := strings.Cut(s.Revision, "..")
	if !isRange {
		return s.Revision, s.Revision
	}
	return from, to
}

// String is the source as a person reads it, for example
// "mcp-should from 2026-07-28 (basic/transports/stdio, Shutdown)".
func (s Source) String() string {
	var b strings.Builder
	b.WriteString(s.Kind)
	switch from, to := s.bounds(); {
	case from == "" && to == "":
	case from == to:
		b.WriteString(" on " + from)
	case to == "":
		b.WriteString(" from " + from)
	case from == "":
		b.WriteString(" until " + to)
	default:
		b.WriteString(" from " + from + " to " + to)
	}
	if s.Note != "" {
		b.WriteString(" (" + s.Note + ")")
	}
	return b.String()
}

func strongest(sources []Source, revision string) (Source, bool) {
	for _, kind := range kinds {
		for _, s := range sources {
			if s.Kind == kind && s.Applies(revision) {
				return s, true
			}
		}
	}
	return Source{}, false
}

func (s Source) check() error {
	if !slices.Contains(kinds, s.Kind) {
		return fmt.Errorf("source kind %q is none of %s", s.Kind, strings.Join(kinds, ", "))
	}
	if s.Revision != "" && (!revisionRange.MatchString(s.Revision) || s.Revision == "..") {
		return fmt.Errorf("source revision %q is none of the forms A, A.., ..B, A..B with dates like 2025-11-25", s.Revision)
	}
	if from, to := s.bounds(); to != "" && from > to {
		return fmt.Errorf("source revision %q ends before it begins", s.Revision)
	}
	if s.Note == "" && s.Kind != Contract {
		return fmt.Errorf("source %s has no note; name the protocol's section or the claim", s.Kind)
	}
	return nil
}
