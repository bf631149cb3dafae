package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// surfaces are the columns of what Flagship lays side by side.
var surfaces = []string{"tool answer", "visible editor", "database", "wire"}

// The places of the surfaces in a row.
const (
	inAnswer = iota
	inEditor
	inStore
	onWire
)

// cells are what each surface shows of one thing; one that does not show it is not there.
type cells map[int]string

// side is what the surfaces show at one moment of the flagship.
type side struct {
	answer, read       map[string]any // the mapped fields of the mutation or its recheck, and of a read
	shown, stored      map[string]any
	requests, receipts int
}

// Flagship (RC-25): tool answer, visible editor, database and wire, compared in one
// run, while the outcome is unknown and behind its recovery. A recheck while the
// receipt is hidden leaves everything as it was; the one behind it ends in one saved
// revision, one mutation request, one receipt and one edit that is visibly unsaved.
// What the surfaces showed is laid side by side also where all of it is right.
func Flagship(h history.History) Ruling {
	var r Ruling
	all := commands(h)
	if len(all) != 1 || all[0].kind != "update" {
		return doubt("%d mutations were asked for, expected one update", len(all))
	}
	c, typed := all[0], keystrokes(h, whenTyped)
	if len(typed) != 1 || typed[0].field != "other" {
		return doubt("the person has to type once into the other field while the outcome is unknown, and typed %d times", len(typed))
	}
	was, seen := r.storedDraft(h, c.draft, whenBefore)
	shown, visible := r.shown(h, c.draft, whenBefore)
	unsure, first := r.sideOf(h, c, whenStruck, c.Operation)
	hidden, sure := rechecks(h, c, whenRechecked), rechecks(h, c, whenConverged)
	if len(hidden) != 1 || len(sure) != 1 {
		r.doubted("%d rechecks were made while the receipt was hidden and %d behind it; one of each is needed", len(hidden), len(sure))
		return r
	}
	end, second := r.sideOf(h, c, whenConverged, sure[0])
	read, told := r.readAt(h, c.draft, whenConverged)
	if !seen || !visible || !first || !second || !told || !r.tookKeystroke(h, c, typed[0]) {
		return r
	}
	if text(shown, "other") != text(was, "other") {
		r.doubted("the editor showed %q in the other field before, and stored was %q", text(shown, "other"), text(was, "other"))
		return r
	}
	end.read = read.Returned.Fields
	r.compare("while the outcome is unknown", uncertain(c, was, shown, unsure))
	if got := outcomeOf(hidden[0]); got != "OUTCOME_UNKNOWN" {
		r.broke("RC-25", "a recheck while the receipt is hidden knows the outcome", c.words(), answeredWith(hidden[0]))
	}
	r.compare("behind the recovery", recoveredRows(c, typed[0], was, end))
	return r
}

// sideOf gathers what the surfaces show at a moment.
func (r *Ruling) sideOf(h history.History, c command, when string, o history.Operation) (side, bool) {
	s := side{answer: map[string]any{}}
	if o.Returned != nil {
		s.answer = o.Returned.Fields
	}
	before, _, counted := r.requests(h, c.draft, c.kind, whenBefore)
	came, _, again := r.requests(h, c.draft, c.kind, when)
	receipts, told := r.receipts(h, c, when)
	var stored, visible bool
	s.stored, stored = r.storedDraft(h, c.draft, when)
	s.shown, visible = r.shown(h, c.draft, when)
	s.requests, s.receipts = came-before, len(receipts)
	return s, counted && again && told && stored && visible
}

// uncertain are the rows of the moment at which the server has committed and the
// editor cannot know: the store is ahead of what a person sees.
func uncertain(c command, was, shown map[string]any, s side) []reports.Compared {
	wanted, revision := cells{inStore: strconv.Itoa(c.revision + 1)}, cells{inStore: text(s.stored, "revision")}
	if _, there := s.shown["revision"]; there {
		wanted[inEditor], revision[inEditor] = strconv.Itoa(c.revision), text(s.shown, "revision")
	}
	return []reports.Compared{
		compared("outcome", cells{inAnswer: "OUTCOME_UNKNOWN"}, cells{inAnswer: text(s.answer, "outcome")}),
		compared("command ID", cells{inAnswer: c.id}, cells{inAnswer: text(s.answer, "command_id")}),
		compared("value", cells{inEditor: text(shown, "changed"), inStore: c.text}, cells{inEditor: text(s.shown, "changed"), inStore: text(s.stored, "changed")}),
		compared("revision", wanted, revision),
		compared("other field", cells{inEditor: text(shown, "other"), inStore: text(was, "other")}, cells{inEditor: text(s.shown, "other"), inStore: text(s.stored, "other")}),
		alike("editor's label", "unknown", cells{inEditor: text(s.shown, "save_state")}),
		alike("mutation requests", "1", cells{onWire: strconv.Itoa(s.requests)}),
		alike("matching receipts", "1", cells{inStore: strconv.Itoa(s.receipts)}),
	}
}

// recoveredRows are the rows of the source's table.
func recoveredRows(c command, k keystroke, was map[string]any, s side) []reports.Compared {
	revision := cells{inAnswer: text(s.answer, "to_revision"), inStore: text(s.stored, "revision")}
	if _, there := s.shown["revision"]; there {
		revision[inEditor] = text(s.shown, "revision")
	}
	return []reports.Compared{
		alike("saved value", c.text, cells{inAnswer: text(s.read, "saved_changed"), inEditor: text(s.shown, "changed"), inStore: text(s.stored, "changed")}),
		alike("saved revision", strconv.Itoa(c.revision+1), revision),
		alike("saved other field", text(was, "other"), cells{inAnswer: text(s.read, "saved_other"), inStore: text(s.stored, "other")}),
		alike("visible other field", k.text, cells{inEditor: text(s.shown, "other")}),
		alike("editor's label", "unsaved", cells{inAnswer: unsavedWord(s.read), inEditor: text(s.shown, "save_state")}),
		alike("mutation requests", "1", cells{onWire: strconv.Itoa(s.requests)}),
		alike("matching receipts", "1", cells{inStore: strconv.Itoa(s.receipts)}),
	}
}

// unsavedWord is what a read says of unsaved changes, in the words of the label.
func unsavedWord(read map[string]any) string {
	if read["unsaved"] == true {
		return "unsaved"
	}
	return "saved"
}

// alike is a row of which every surface that shows it is to show the same.
func alike(of, wanted string, told cells) reports.Compared {
	each := cells{}
	for surface := range told {
		each[surface] = wanted
	}
	return compared(of, each, told)
}

// compared is a row: what each surface is to show of a thing, and what it tells.
func compared(of string, wanted, told cells) reports.Compared {
	row := reports.Compared{Of: of, Shown: make([]string, len(surfaces)), Agrees: true}
	var each, values []string
	for i, surface := range surfaces {
		want, there := wanted[i]
		if !there {
			continue
		}
		each, values = append(each, surface+": "+want), append(values, want)
		row.Shown[i], row.Agrees = cmp.Or(told[i], "(empty)"), row.Agrees && told[i] == want
	}
	row.Expected = strings.Join(each, ", ")
	if slices.Max(values) == slices.Min(values) {
		row.Expected = values[0]
	}
	return row
}

// compare lays rows side by side, and holds each of them to what is expected.
func (r *Ruling) compare(moment string, rows []reports.Compared) {
	r.Comparisons = append(r.Comparisons, reports.Comparison{Title: "The surfaces " + moment, Surfaces: surfaces, Rows: rows})
	for _, row := range rows {
		if row.Agrees {
			continue
		}
		facts := []string{fmt.Sprintf("expected %q", row.Expected)}
		for i, shown := range row.Shown {
			if shown != "" {
				facts = append(facts, fmt.Sprintf("%s: %q", surfaces[i], shown))
			}
		}
		r.broke("RC-25", moment+", the "+row.Of+" is not what a surface should show", facts...)
	}
}
