// Package baseline reads the list of known failures and lays it over the results
// of a run. A baseline excuses a failure; it never replaces a verdict.
package baseline

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// What an entry may expect.
const (
	KnownFailing = "known-failing" // fails; stale as soon as nothing fails
	KnownFlaky   = "known-flaky"   // fails at times
)

// List is a baseline as it was written.
type List struct {
	File    string
	Entries []Entry
}

// Entry is one known failure, of a spec or of all specs of a clause.
type Entry struct {
	Spec    string `yaml:"spec"`
	Clause  string `yaml:"clause"`
	Expect  string `yaml:"expect"`
	Reason  string `yaml:"reason"`
	Issue   string `yaml:"issue"`
	Expires string `yaml:"expires"` // YYYY-MM-DD, the last day that counts
}

const example = `- {spec: DU-04/concurrent-on-one-connection, expect: known-failing, reason: "…", issue: "…", expires: 2030-01-31}`

// Read reads a baseline file: a YAML list of entries. The error names the place,
// what was written and what was expected.
func Read(path string) (List, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return List{}, fmt.Errorf("reading the baseline: %w; check the path given to --baseline", err)
	}
	list := List{File: path}
	decoder := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict())
	if err := decoder.Decode(&list.Entries); err != nil && !errors.Is(err, io.EOF) {
		return List{}, fmt.Errorf("the baseline %s cannot be read: %s\nexpected a list of entries such as\n  %s", path, yaml.FormatError(err, false, true), example)
	}
	for i, e := range list.Entries {
		if err := e.check(); err != nil {
			return List{}, fmt.Errorf("the baseline %s, entry %d (%s): %w", path, i+1, e.name(), err)
		}
	}
	return list, nil
}

func (e Entry) name() string {
	if e.Spec == "" && e.Clause == "" {
		return "of nothing"
	}
	return e.Spec + e.Clause
}

func (e Entry) check() error {
	if (e.Spec == "") == (e.Clause == "") {
		return errors.New("expected either spec or clause; write one of the two, for example\n  " + example)
	}
	if e.Expect != KnownFailing && e.Expect != KnownFlaky {
		return fmt.Errorf("expect is %q; expected %s or %s", e.Expect, KnownFailing, KnownFlaky)
	}
	if strings.TrimSpace(e.Reason) == "" {
		return errors.New("it has no reason; write in a sentence why the failure is accepted")
	}
	if e.Expires == "" {
		return nil
	}
	if _, err := time.Parse(time.DateOnly, e.Expires); err != nil {
		return fmt.Errorf("expires is %q; expected a day such as 2030-01-31", e.Expires)
	}
	return nil
}

// Apply marks the failed specs that the list excuses (Spec.Expected) and says
// what became of every entry. today is the day of the run; known says whether a
// spec or clause of that ID exists at all, in this run or not.
func (l List) Apply(specs []reports.Spec, today time.Time, known func(id string) bool) *reports.Baseline {
	b := &reports.Baseline{File: l.File, Entries: []reports.BaselineEntry{}}
	for _, e := range l.Entries {
		entry := reports.BaselineEntry{
			Spec: e.Spec, Clause: e.Clause, Expect: e.Expect, Reason: e.Reason, Issue: e.Issue, Expires: e.Expires,
		}
		entry.State, entry.Why = e.lay(specs, today, known)
		b.Entries = append(b.Entries, entry)
	}
	return b
}

func (e Entry) covers(s reports.Spec) bool {
	return s.ID == e.Spec || (e.Clause != "" && slices.Contains(s.Clauses, e.Clause))
}

// lay marks what the entry excuses and returns its state.
func (e Entry) lay(specs []reports.Spec, today time.Time, known func(string) bool) (state, why string) {
	if !known(e.Spec + e.Clause) {
		return reports.BaselineStale, "this version has no spec or clause of that name; correct or remove the entry"
	}
	if e.Expires != "" && today.Format(time.DateOnly) > e.Expires {
		return reports.BaselineExpired, fmt.Sprintf("its last day was %s; fix what fails, or look at it again and give it a new day", e.Expires)
	}
	planned, judged, failed := false, false, false
	for i, s := range specs {
		if !e.covers(s) {
			continue
		}
		planned = true
		switch s.Verdict {
		case verdict.Pass:
			judged = true
		case verdict.Fail:
			judged, failed = true, true
			specs[i].Expected = e.Expect
		}
	}
	switch {
	case !planned:
		return reports.BaselineUnused, "no spec of this run is of that name"
	case failed:
		return reports.BaselineApplies, ""
	case !judged:
		return reports.BaselineUnused, "nothing that it names was judged in this run"
	case e.Expect == KnownFlaky:
		return reports.BaselineApplies, "nothing failed this time"
	}
	return reports.BaselineStale, "everything that it names passes now; remove the entry"
}
