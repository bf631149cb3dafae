package judge

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// The moments at which the stores of a pair are looked at.
const (
	whenBeforeCalls = "before-calls" // the pair has met
	whenAfterCalls  = "after-calls"  // further calls were made
)

// pairAgrees is the outcome in which nothing is refused. In the others the helper's
// calls are, and what differs is whose app applies what it had accepted.
const pairAgrees = "agrees"

// pairOf is the pair that a history is about.
type pairOf struct {
	helper, app, current int
	outcome              string
}

func (p pairOf) String() string {
	return fmt.Sprintf("helper of version %d, app of version %d (%s)", p.helper, p.app, p.outcome)
}

// PairHolds (WR-31): of a helper and an app of different contract versions every
// call is refused naming both, by structure where the helper's version has one,
// and leaves nothing; those of the same version refuse nothing. What had been
// accepted before they met does not stay provisional without end: the helper says
// that it is refused, or it is applied, and under the newer version of the two it
// becomes a record, once, under the ID that was answered.
func PairHolds(h history.History) Ruling {
	marks := h.Marks("pair")
	if len(marks) == 0 {
		return doubt("it is not recorded which versions met")
	}
	m := marks[0].Data
	p := pairOf{number(m, "helper"), number(m, "app"), number(m, "current"), text(m, "outcome")}
	var r Ruling
	accepted := acknowledgedWith(h, "accepted")
	if len(accepted) == 0 {
		return doubt("nothing was accepted before helper and app met")
	}
	r.metAtAll(h, p)
	if p.outcome == pairAgrees {
		r.agreeing(h, p)
	} else {
		r.refusing(h, p)
		r.leftNothing(h, "WR-31", "a call was refused because of its version and left something in the store", p.String())
	}
	for _, o := range accepted {
		r.becameRecord(h, p, o)
	}
	return r
}

// acknowledgedWith are the acknowledged calls that carry a parameter.
func acknowledgedWith(h history.History, param string) []history.Operation {
	return slices.DeleteFunc(acknowledged(h, ""), func(o history.Operation) bool { return o.Param(param) == "" })
}

// metAtAll wants somebody who asks to be told of the disagreement, or of the
// record, instead of being told to wait without end.
func (r *Ruling) metAtAll(h history.History, p pairOf) {
	asked := 0
	for _, o := range h.Operations("start") {
		if o.Param("moment") != "meeting" {
			continue
		}
		asked++
		if o.Outcome() == history.Refused || o.Text("state") == "applied" {
			return
		}
	}
	if asked == 0 {
		r.doubted("nobody asked about what had been accepted")
		return
	}
	r.broke("WR-31", "what was accepted is neither applied nor refused: it stays provisional without end", p.String(),
		fmt.Sprintf("the start was asked for %s", reports.Plural(asked, "time")))
}

// furtherCalls are those that were made once the pair had met.
func (r *Ruling) furtherCalls(h history.History) []history.Operation {
	const least = 3
	calls := slices.DeleteFunc(h.Operations(""), func(o history.Operation) bool { return o.Param("further") == "" })
	if len(calls) < least {
		r.doubted("%s made once the pair had met, at least %d are needed", reports.Plural(len(calls), "call"), least)
	}
	for _, o := range calls {
		if o.Outcome() == history.Unknown {
			r.doubted("call %s (%s) got no answer", o.Invoked.ID, o.Invoked.Role)
		}
	}
	return calls
}

func (r *Ruling) agreeing(h history.History, p pairOf) {
	for _, o := range r.furtherCalls(h) {
		if o.Outcome() == history.Refused {
			r.broke("WR-31", "a call was refused although helper and app are of the same version", p.String(), callAndAnswer(o))
		}
	}
}

func (r *Ruling) refusing(h history.History, p pairOf) {
	for _, o := range r.furtherCalls(h) {
		switch {
		case o.Outcome() == history.Done:
			r.broke("WR-31", "a call was accepted although helper and app are of different versions", p.String(), callAndAnswer(o))
		case o.Outcome() == history.Unknown:
		case !namesVersions(o, p.helper, p.app):
			r.broke("WR-31", "a refusal does not name both versions", p.String(), callAndAnswer(o))
		case p.helper == p.current && (o.Text("failure_class") != "permanent" || o.Text("failure_code") == ""):
			r.broke("WR-31", "a disagreement of versions was not told by structure", p.String(),
				fmt.Sprintf("call %s (%s): class %q, code %q", o.Invoked.ID, o.Invoked.Role, o.Text("failure_class"), o.Text("failure_code")))
		}
	}
}

func callAndAnswer(o history.Operation) string {
	return fmt.Sprintf("call %s (%s) was answered: %s", o.Invoked.ID, o.Invoked.Role, answerOf(o))
}

// versionWord finds the numbers that are called versions.
var versionWord = regexp.MustCompile(`(?i)\bv(?:ersions?)?[\s:#"]{0,3}(\d+)\b`)

// namesVersions says that the reason of a refusal names contract versions.
func namesVersions(o history.Operation, versions ...int) bool {
	var named []string
	for _, found := range versionWord.FindAllStringSubmatch(cmp.Or(o.Text("failure_reason"), o.Returned.Reason), -1) {
		named = append(named, found[1])
	}
	return !slices.ContainsFunc(versions, func(v int) bool { return !slices.Contains(named, strconv.Itoa(v)) })
}

// leftNothing compares which anchors and intents there are before and after calls
// that were refused; how they stand may change meanwhile.
func (r *Ruling) leftNothing(h history.History, clause, summary string, about string) {
	for _, probe := range []string{"anchors", "intents"} {
		before, okB := lastLook(h, probe, whenBeforeCalls, nil)
		after, okA := lastLook(h, probe, whenAfterCalls, nil)
		switch {
		case !okB || !okA:
			r.doubted("the %s were not seen both before and after the refused calls", probe)
		case len(before.Rows) == 0:
			r.doubted("no %s were seen before the refused calls, so that nothing more would have been seen either", probe)
		case !slices.Equal(rowNames(before.Rows), rowNames(after.Rows)):
			r.broke(clause, summary, about,
				fmt.Sprintf("%s before: %s", probe, quoted(rowNames(before.Rows))), fmt.Sprintf("%s after: %s", probe, quoted(rowNames(after.Rows))))
		}
	}
}

// rowNames tell rows of anchors or intents apart, whatever became of them.
func rowNames(rows []map[string]any) []string {
	var all []string
	for _, row := range rows {
		all = append(all, cmp.Or(text(row, "task_key"), text(row, "seq")+" "+text(row, "kind"))+" "+text(row, "item_id"))
	}
	return all
}

// becameRecord follows what had been accepted to its record.
func (r *Ruling) becameRecord(h history.History, p pairOf, o history.Operation) {
	var again *history.Operation
	for _, last := range h.Operations("start") {
		if last.Param("moment") == whenConverged {
			again = &last
		}
	}
	items, okI := lastLook(h, "items", whenConverged, nil)
	anchors, okA := lastLook(h, "anchors", whenConverged, nil)
	switch {
	case again == nil || again.Outcome() == history.Unknown:
		r.doubted("the start was not asked for once helper and app agreed, or not answered")
		return
	case !okI || !okA:
		r.doubted("anchors and items were not both seen once helper and app agreed")
		return
	}
	id, first := again.Text("item_id"), o.Text("item_id")
	record := slices.DeleteFunc(slices.Clone(items.Rows), func(row map[string]any) bool { return text(row, "item_id") != id })
	what := fmt.Sprintf("call %s (%s) was accepted before they met", o.Invoked.ID, o.Invoked.Role)
	switch {
	case again.Outcome() == history.Refused, id == "", len(record) == 0:
		r.broke("WR-31", "what had been accepted became no record, also with helper and app of one version", p.String(), what, callAndAnswer(*again),
			"the library holds "+reports.Plural(len(items.Rows), "item"))
	case first != "" && first != id:
		r.broke("WR-31", "what had been accepted came under another ID", p.String(), what, fmt.Sprintf("answered %q, then %q", first, id))
	case len(record) > 1 || o.Invoked.Role == "start" && countIf(items.Rows, sameTitle(o)) > 1:
		r.broke("WR-31", "what had been accepted became more than one record", p.String(), what)
	case o.Invoked.Role == "note" && count(notesOf(record[0]))[o.Param("text")] != 1:
		r.broke("WR-31", "a note that had been accepted is not on the record once", p.String(), what, "the record shows "+quoted(notesOf(record[0])))
	case max(p.helper, p.app) == p.current && !slices.ContainsFunc(anchors.Rows, func(row map[string]any) bool {
		return text(row, "item_id") == id && text(row, "state") == "live"
	}):
		r.broke("WR-31", "the anchor of a record stays provisional with helper and app of one version", p.String(), what, "item "+id)
	}
}

func sameTitle(o history.Operation) func(map[string]any) bool {
	return func(row map[string]any) bool { return text(row, "title") == o.Param("title") }
}

func notesOf(record map[string]any) []string {
	notes, _ := texts(record, "notes")
	return notes
}

// LaterWordsRefused (WR-31): a call that uses a field or a word which the helper's
// version does not have (parameter "later") is refused, names the version that is
// supported, and leaves nothing. The control is a good call that is stored.
func LaterWordsRefused(h history.History) Ruling {
	marks := h.Marks("supported")
	if len(marks) == 0 {
		return doubt("it is not recorded which version is supported")
	}
	version, current := number(marks[0].Data, "version"), number(marks[0].Data, "current")
	var r Ruling
	tried := 0
	for _, o := range h.Operations("") {
		later := o.Param("later")
		if later == "" {
			continue
		}
		tried++
		what := fmt.Sprintf("a helper of version %d was called with %s", version, later)
		switch {
		case o.Outcome() == history.Unknown:
			r.doubted("%s, and gave no answer", what)
		case o.Outcome() == history.Done:
			r.broke("WR-31", "a field or word of another version was accepted", what, callAndAnswer(o))
		case !namesVersions(o, version):
			r.broke("WR-31", "the refusal of a field or word of another version does not name the version that is supported", what, callAndAnswer(o))
		case version == current && (o.Text("failure_class") != "permanent" || o.Text("failure_code") == ""):
			r.broke("WR-31", "a disagreement of versions was not told by structure", what, callAndAnswer(o))
		}
	}
	if tried == 0 {
		r.doubted("no field and no word of another version was tried")
	}
	r.leftNothing(h, "WR-31", "a field or word of another version was refused and left something in the store", fmt.Sprintf("helper of version %d", version))
	after, okA := lastLook(h, "intents", whenAfterCalls, nil)
	control, okC := lastLook(h, "intents", whenConverged, nil)
	if !okA || !okC || len(control.Rows) <= len(after.Rows) {
		r.doubted("a good call was not seen in the store, so that a refused one would not have been seen either")
	}
	return r
}
