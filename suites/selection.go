package suites

import (
	"regexp"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/spell"
	"github.com/holdfast-mcp/holdfast/suites/clauses"
)

// choose returns the tests of a selection, in order. A profile, an ID or a
// pattern that matches nothing is the caller's error, which names it and what
// may have been meant.
func (h Harness) choose(s reports.Selection) ([]Test, error) {
	if s.Level != string(clauses.Must) && s.Level != string(clauses.Should) {
		return nil, Usage("--level is %q; expected must or should", s.Level)
	}
	for _, name := range s.Profiles {
		if _, ok := h.Catalogue.Profile(name); !ok {
			return nil, Usage("--profile %q names no profile; expected one of %s%s",
				name, strings.Join(h.Catalogue.Profiles(), ", "), nearText(name, h.Catalogue.Profiles()))
		}
	}
	selected, err := h.matching("--select", s.Select)
	if err != nil {
		return nil, err
	}
	skipped, err := h.matching("--skip", s.Skip)
	if err != nil {
		return nil, err
	}
	var chosen []Test
	for _, t := range h.Tests {
		switch {
		case len(s.Profiles) > 0 && !slices.Contains(s.Profiles, t.Profile):
		case len(s.Select) > 0 && !selected[t.ID]:
		case skipped[t.ID]:
		default:
			chosen = append(chosen, t)
		}
	}
	if len(chosen) == 0 {
		return nil, Usage("the selection is empty: no spec is left after %s; `holdfast list` shows what there is", asked(s))
	}
	return chosen, nil
}

// asked repeats what the caller wrote.
func asked(s reports.Selection) string {
	var flags []string
	for _, f := range []struct {
		name   string
		values []string
	}{{"--profile", s.Profiles}, {"--select", s.Select}, {"--skip", s.Skip}} {
		for _, v := range f.values {
			flags = append(flags, f.name+" "+v)
		}
	}
	return strings.Join(flags, " ")
}

// matching is the set of the test IDs that the patterns match.
func (h Harness) matching(flag string, patterns []string) (map[string]bool, error) {
	ids := map[string]bool{}
	for _, p := range patterns {
		any := false
		match := glob(p)
		for _, t := range h.Tests {
			if matches(match, t) {
				ids[t.ID], any = true, true
			}
		}
		if !any {
			return nil, h.noMatch(flag, p, match)
		}
	}
	return ids, nil
}

func (h Harness) noMatch(flag, pattern string, match *regexp.Regexp) error {
	for _, c := range h.Catalogue.All() {
		if match.MatchString(c.ID) {
			return Usage("%s %q matches the clause %s, which has no spec yet, so that there is nothing to run", flag, pattern, c.ID)
		}
	}
	words := h.Catalogue.Profiles()
	for _, t := range h.Tests {
		words = append(words, t.ID)
		words = append(words, t.Clauses...)
	}
	near := h.Catalogue.Suggest(pattern)
	near = append(near, nearest(pattern, words)...)
	return Usage("%s %q matches no spec, clause or profile%s; `holdfast list` shows what there is, and * stands for any text",
		flag, pattern, didYouMean(near))
}

// matches says whether a pattern means a test: by its ID, by a clause that it
// speaks for, or by its profile.
func matches(match *regexp.Regexp, t Test) bool {
	if match.MatchString(t.ID) || match.MatchString(t.Profile) {
		return true
	}
	return slices.ContainsFunc(t.Clauses, func(ref string) bool {
		return match.MatchString(ref) || match.MatchString(baseOf(ref))
	})
}

// glob turns a pattern into an expression: * stands for any text, ? for one
// character, everything else for itself.
func glob(pattern string) *regexp.Regexp {
	quoted := regexp.QuoteMeta(pattern)
	quoted = strings.ReplaceAll(quoted, `\*`, `.*`)
	quoted = strings.ReplaceAll(quoted, `\?`, `.`)
	return regexp.MustCompile(`^(?s:` + quoted + `)$`)
}

// farthest is how many slips a word may have and still be what was meant.
const farthest = 3

// nearest lists the words that are nearly the one that was written, at most three.
func nearest(written string, words []string) []string {
	type near struct {
		word  string
		slips int
	}
	var found []near
	for _, w := range words {
		d := spell.Slips(strings.ToLower(written), strings.ToLower(w))
		if strings.Contains(strings.ToLower(w), strings.ToLower(strings.Trim(written, "*?"))) && len(written) > 2 {
			d = min(d, 1)
		}
		if d <= min(farthest, len(written)/2) && !slices.ContainsFunc(found, func(n near) bool { return n.word == w }) {
			found = append(found, near{w, d})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return a.slips - b.slips })
	var out []string
	for _, n := range found[:min(len(found), 3)] {
		out = append(out, n.word)
	}
	return out
}

func nearText(written string, words []string) string { return didYouMean(nearest(written, words)) }

func didYouMean(near []string) string {
	var unique []string
	for _, n := range near {
		if !slices.Contains(unique, n) && len(unique) < 3 {
			unique = append(unique, n)
		}
	}
	if len(unique) == 0 {
		return ""
	}
	return " (did you mean " + strings.Join(unique, ", ") + "?)"
}
