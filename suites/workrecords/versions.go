package workrecords

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/fixtures/targets"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// current is the contract version of a target as its file stands.
const current = 3

// Pair is a helper and an app, each of a contract version, and the outcome of
// running them on one sidecar: agrees, repaired or refused.
type Pair struct {
	Helper, App int
	Outcome     string
}

// The moments of a pair, as the judges know them.
const (
	beforeCalls = "before-calls" // the pair has met
	afterCalls  = "after-calls"  // further calls were made
)

// named is a contract version as target files name it.
func named(version int) string {
	if version == current {
		return ""
	}
	return strconv.Itoa(version)
}

// noVersion says that a process is not to be had in a contract version.
func noVersion(process string, version int) func(*target.File) string {
	return func(f *target.File) string {
		if f.Profiles.WorkRecords == nil {
			return ""
		}
		name := processOf(f, process)
		if _, own, older := strings.Cut(f.Processes[name].Reference, "@"); older {
			return fmt.Sprintf("process %s is the reference's of contract version %s alone; versions are paired on targets that stand for the current one", name, own)
		}
		_, err := targets.InVersion(f, name, named(version))
		if err != nil {
			return err.Error()
		}
		return ""
	}
}

// processOf is the name that a target file has for the helper.
func processOf(f *target.File, process string) string {
	if process == "helper" {
		return f.Helper()
	}
	return process
}

// version is a process in a contract version.
func (s *scene) version(process string, version int) world.Version {
	return s.Version(processOf(s.Target, process), named(version))
}

// newer is the process of the newer contract version of a pair: the sidecar is
// in its form once both have seen it.
func (s *scene) newer(p Pair) world.Version {
	if p.Helper > p.App {
		return s.version("helper", p.Helper)
	}
	return s.version("app", p.App)
}

// met is WR-31 for one pair: the helper accepts while no app is there, then the
// app comes, further calls are made, and what had been accepted has to end as a
// record under the newer version of the two.
func met(id string, p Pair) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{"WR-31"},
		Title:  fmt.Sprintf("a helper of contract version %d and an app of version %d: %s", p.Helper, p.App, cmp.Or(p.Outcome, "not in the table of pairs")),
		NotFor: suites.First(noVersion("helper", p.Helper), noVersion("app", p.App)),
		Drive: on(func(s *scene) {
			if p.Outcome == "" {
				world.Broken("the table of pairs does not say what becomes of a helper of version %d and an app of version %d", p.Helper, p.App)
			}
			s.Mark("pair", map[string]any{"helper": p.Helper, "app": p.App, "outcome": p.Outcome, "current": current})
			s.Launch(world.Without("app"))
			s.helper = s.version("helper", p.Helper).NewCaller()
			start := s.starting(s.newTask())
			id := s.helper.Do(start.With("accepted", "yes")).Text("item_id")
			if id != "" {
				s.helper.Do(s.noting(id, s.Word("an early note")).With("accepted", "yes"))
			}

			s.version("app", p.App).Launch()
			id = cmp.Or(s.untilMet(start), id, s.Word("never-issued"))
			newer := s.newer(p)
			s.lookThrough(newer, beforeCalls)
			s.further(start, id)
			s.lookThrough(newer, afterCalls)

			s.agreeOn(p)
			s.Await("what had been accepted is applied", func() bool {
				return s.helper.Do(start.At("converging")).Text("state") == "applied"
			})
			s.Await("every intent to be applied or failed", func() bool { return settled(newer.Peek("intents", nil)) })
			s.helper.Do(start.At(converged))
			s.lookThrough(newer, converged)
			s.Look("items", converged, nil)
		}),
		Judge: judge.PairHolds,
	}
}

// untilMet repeats a start until it is refused or applied, and returns the item
// ID that was answered last, "" for none.
func (s *scene) untilMet(start world.Act) (id string) {
	s.Await("a start to be applied, or refused because of its version", func() bool {
		o := s.helper.Do(start.At("meeting"))
		id = cmp.Or(o.Text("item_id"), id)
		return o.Outcome() == history.Refused || o.Text("state") == "applied"
	})
	return id
}

// further makes one call of each kind.
func (s *scene) further(start world.Act, id string) {
	for _, act := range []world.Act{
		start,
		s.starting(s.newTask()),
		s.noting(id, s.Word("a further note")),
		s.following("status", id, "doing"),
		s.following("complete", id, ""),
		{Role: "get", Params: map[string]string{"item_id": id}},
	} {
		if _, there := s.Target.Profiles.WorkRecords.Tools[act.Role]; there {
			s.helper.Do(act.With("further", "yes"))
		}
	}
}

func (s *scene) lookThrough(v world.Version, moment string) {
	v.Look("anchors", moment, nil)
	v.Look("intents", moment, nil)
}

// agreeOn replaces the older one of a pair by one of the newer version.
func (s *scene) agreeOn(p Pair) {
	switch {
	case p.App < p.Helper:
		s.StopProcess("app")
		s.version("app", p.Helper).Launch()
	case p.Helper < p.App:
		s.EndCallers()
		s.helper = s.version("helper", p.App).NewCaller()
	}
}

// settled says that there are intents and that each has come to its end.
func settled(intents []map[string]any) bool {
	for _, row := range intents {
		if row["state"] != "applied" && row["state"] != "failed" {
			return false
		}
	}
	return len(intents) > 0
}

// laterWords is WR-31 for calls that use a field or a word that a helper's
// version does not have.
func laterWords(id string, version int) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{"WR-31"},
		Title:  fmt.Sprintf("a helper of contract version %d refuses a field or a word of another version, naming its own", version),
		NotFor: suites.First(noVersion("helper", version), ofNoVersion),
		Drive: on(func(s *scene) {
			s.Launch(world.Without("app"))
			v := s.version("helper", version)
			s.helper = v.NewCaller()
			s.Mark("supported", map[string]any{"version": version, "current": current})
			s.helper.Do(s.starting(s.newTask()))
			s.lookThrough(v, beforeCalls)
			for _, act := range s.laterCalls(version) {
				s.helper.Do(act)
			}
			s.lookThrough(v, afterCalls)
			s.helper.Do(s.starting(s.newTask()).With("control", "yes"))
			s.lookThrough(v, converged)
		}),
		Judge: judge.LaterWordsRefused,
	}
}

// laterCalls are calls whose field or word came with a later version: what
// version 1 did not have, and what no version has yet.
func (s *scene) laterCalls(version int) []world.Act {
	later := func(act world.Act, what string) world.Act { return act.With("later", what) }
	id := s.Word("never-issued")
	acts := []world.Act{
		later(s.helper.Saying(s.starting(s.newTask()), "of_a_later_version", "yes"), "a field that no version has"),
		later(s.following("status", id, "of_a_later_version"), "a status that no version has"),
	}
	if version == 1 {
		acts = append(acts,
			later(s.starting(s.newTask().withNote(s.Word("a first note"))), "a first note, which came with version 2"),
			later(s.noting(id, s.Word("a note")).With("attachment", "attachment.txt"), "an attachment, which came with version 2"),
			later(s.following("status", id, "waiting"), "a status that came with version 2"))
	}
	return acts
}

// ofNoVersion says that nobody tells the contract version of a target: neither of
// its halves is the reference's, and its file has no versions.
func ofNoVersion(f *target.File) string {
	if f.Profiles.WorkRecords == nil || len(f.Versions) > 0 {
		return ""
	}
	for _, p := range f.Processes {
		if p.Reference != "" {
			return ""
		}
	}
	return "the target file names no contract version: it has no versions, and no process is the reference's"
}

// pairs are the specs of WR-31: every helper with every app.
func pairs(table []Pair) []suites.Test {
	of := func(helper, app int) Pair {
		for _, p := range table {
			if p.Helper == helper && p.App == app {
				return p
			}
		}
		return Pair{Helper: helper, App: app}
	}
	return []suites.Test{
		met("WR-31/helper-1-app-1", of(1, 1)),
		met("WR-31/helper-1-app-2", of(1, 2)),
		met("WR-31/helper-1-app-3", of(1, 3)),
		met("WR-31/helper-2-app-1", of(2, 1)),
		met("WR-31/helper-2-app-2", of(2, 2)),
		met("WR-31/helper-2-app-3", of(2, 3)),
		met("WR-31/helper-3-app-1", of(3, 1)),
		met("WR-31/helper-3-app-2", of(3, 2)),
		met("WR-31/helper-3-app-3", of(3, 3)),
		laterWords("WR-31/words-of-another-version-1", 1),
		laterWords("WR-31/words-of-another-version-2", 2),
		laterWords("WR-31/words-of-another-version-3", 3),
	}
}
