package judge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// claimRole is the role of calls that are made because of what a tool claims.
const claimRole = "call"

// ChangedOnce (DU-06): a tool that claims idempotentHint: true and is called twice with
// the same arguments leaves behind the second call what it left behind the first. A
// second call may be refused. The control is a write that the same reads showed.
func ChangedOnce(h history.History) Ruling {
	var r Ruling
	r.heldTo(h, "DU-06", "claims idempotentHint: true, and its second call with the same arguments changed the state again", "second call", func(o history.Operation) ([]string, bool) {
		if o.Param("turn") != "2" || !r.calm(h, o) {
			return nil, false
		}
		before, after, ok := r.contentsAround(h, o)
		if !ok || before.equal(after) {
			return nil, ok
		}
		return before.differences(after), true
	})
	r.claimed(h)
	r.sawAChange(h)
	return r
}

// OnlyRead (DU-07): a tool that claims readOnlyHint: true leaves what can be read back
// as it was, whatever it answers. The control is that of ChangedOnce.
func OnlyRead(h history.History) Ruling {
	var r Ruling
	r.keptByCalls(h, "DU-07/read-back", "claims readOnlyHint: true and changed what can be read back", contents.equal)
	return r
}

// StoreOnlyRead (DU-07/bytes): such a tool leaves the bytes of the store as they were.
// The control is a write that changed them.
func StoreOnlyRead(h history.History) Ruling {
	var r Ruling
	r.heldTo(h, "DU-07/bytes", "claims readOnlyHint: true and changed bytes of the store", "call", func(o history.Operation) ([]string, bool) {
		before, after, seen := digests(h, o.Param("pair"))
		if !seen {
			r.doubted("the store was not seen around call %s", o.Invoked.ID)
		}
		if before == after {
			return nil, seen
		}
		return []string{}, seen
	})
	r.claimed(h)
	r.sawTheStoreChange(h)
	return r
}

// NothingDestroyed (DU-15): everything that could be read back before a call of a tool
// that claims destructiveHint: false can be read back after it. The control is that of
// ChangedOnce.
func NothingDestroyed(h history.History) Ruling {
	var r Ruling
	r.keptByCalls(h, "DU-15", "claims destructiveHint: false and changed or removed what was there", contents.within)
	return r
}

// keptByCalls holds every call to what its tool claims of the contents around it: that
// they were kept, and that other tools still show what they showed.
func (r *Ruling) keptByCalls(h history.History, clause, wrong string, kept func(before, after contents) bool) {
	r.heldTo(h, clause, wrong, "call", func(o history.Operation) ([]string, bool) {
		if !r.calm(h, o) {
			return nil, false
		}
		before, after, ok := r.contentsAround(h, o)
		gone := hiddenBy(h, o)
		if ok && !kept(before, after) {
			gone = append(before.differences(after), gone...)
		}
		return gone, ok || gone != nil
	})
	r.claimed(h)
	r.sawAChange(h)
	r.lookedFurther(h)
}

// heldTo holds every tool to its claim. judge says of one call what is wrong with it, nil
// for nothing, and whether it could be judged. A finding is of one tool, and says of how
// many calls it is.
func (r *Ruling) heldTo(h history.History, clause, wrong, kind string, judge func(history.Operation) ([]string, bool)) {
	var tools []string
	calls, broken, facts := map[string]int{}, map[string]int{}, map[string][]string{}
	for _, o := range h.Operations(claimRole) {
		of, judged := judge(o)
		tool := o.Invoked.Tool
		if !judged {
			continue
		}
		if calls[tool]++; calls[tool] == 1 {
			tools = append(tools, tool)
		}
		if of == nil {
			continue
		}
		const told = 3 // the facts of more calls would be no news
		if broken[tool]++; broken[tool] <= told {
			facts[tool] = append(facts[tool], slices.Concat(calledSo(o), of)...)
		}
	}
	for _, tool := range tools {
		if broken[tool] > 0 {
			r.broke(clause, fmt.Sprintf("%s %s, in %d of %s", tool, wrong, broken[tool], reports.Plural(calls[tool], kind)), facts[tool]...)
		}
	}
}

// calledSo are the facts of a call.
func calledSo(o history.Operation) []string {
	return []string{
		fmt.Sprintf("call %s: %s %s", o.Invoked.ID, o.Invoked.Tool, shortened(string(o.Invoked.Arguments), 300)),
		"its arguments: " + map[bool]string{true: "generated from its inputSchema", false: "given by the target file"}[o.Param("arguments") == "generated"],
		"its answer: " + answerOf(o),
	}
}

// calm doubts a call that got no answer, and any call behind one: what it did may still
// come.
func (r *Ruling) calm(h history.History, o history.Operation) bool {
	for _, other := range h.Operations("") {
		if outcomeUnknown(other) && other.InvokedAt.Seq <= o.InvokedAt.Seq && other.Invoked.Role != lookRole {
			r.doubted("call %s (%s) got no answer, so that a change around call %s could be its own", other.Invoked.ID, other.Invoked.Tool, o.Invoked.ID)
			return false
		}
	}
	return true
}

// claimed tells which of the tools that claim something were called, and doubts where
// none accepted a call: one that was refused says little.
func (r *Ruling) claimed(h history.History) {
	for _, m := range h.Marks("claims") {
		names, _ := texts(m.Data, "tools")
		uncallable, _ := texts(m.Data, "uncallable")
		var called, generated, refused []string
		for _, name := range names {
			ops := slices.DeleteFunc(h.Operations(claimRole), func(o history.Operation) bool { return o.Invoked.Tool != name })
			counts := slices.ContainsFunc(ops, func(o history.Operation) bool { return o.Outcome() == history.Done })
			switch {
			case counts && ops[0].Param("arguments") == "generated":
				called, generated = append(called, name), append(generated, name)
			case counts:
				called = append(called, name)
			case len(ops) > 0:
				refused = append(refused, name)
			}
		}
		claim := text(m.Data, "claim")
		r.Tried = append(r.Tried, fmt.Sprintf("%s: %d of %s could be called", claim, len(called), reports.Plural(len(names), "tool")))
		if len(generated) > 0 {
			r.Tried = append(r.Tried, "called with generated arguments: "+strings.Join(generated, ", "))
		}
		if len(refused) > 0 {
			r.Tried = append(r.Tried, "refused by the server: "+strings.Join(refused, ", "))
		}
		for _, why := range uncallable {
			r.Tried = append(r.Tried, "not called: "+why)
		}
		if len(called) == 0 {
			r.doubted("none of the tools with %s could be called (%s); name a call of one in profiles.durability.calls", claim, strings.Join(names, ", "))
		}
	}
	if len(h.Marks("claims")) == 0 {
		r.doubted("the tools were never asked for what they claim")
	}
}

// contents are what could be read back at a moment: by the target's read, and through its
// probe if it has one.
type contents struct {
	read   read
	rows   []string // nil without a probe
	failed string   // why the probe showed nothing
}

// contentsAround are the last look before a call and the first one behind it, of the looks
// that share its pair; not ok means that nothing can be said, with a doubt why.
func (r *Ruling) contentsAround(h history.History, o history.Operation) (before, after contents, ok bool) {
	var said Ruling // of other calls' reads nothing is said here
	foundBefore, foundAfter := false, false
	for _, x := range said.reads(h, "") {
		switch {
		case x.op.Param("pair") != o.Param("pair") || o.Param("pair") == "":
		case endedBefore(x.op, o.InvokedAt.Seq):
			before.read, foundBefore = x, true
		case endedBefore(o, x.op.InvokedAt.Seq) && !foundAfter:
			after.read, foundAfter = x, true
		}
	}
	switch {
	case !foundBefore || before.read.err != "":
		r.doubted("the state was not read before call %s", o.Invoked.ID)
		return before, after, false
	case !foundAfter:
		r.doubted("the state was not read after call %s", o.Invoked.ID)
		return before, after, false
	}
	r.probed(h, o, &before, &after)
	return before, after, true
}

// probed adds what the probe showed behind the two reads.
func (r *Ruling) probed(h history.History, o history.Operation, before, after *contents) {
	for _, e := range h.Events {
		if e.Kind != history.KindLook || e.Look.Probe != "values" || e.Look.Params["pair"] != o.Param("pair") {
			continue
		}
		switch {
		case e.Seq < o.InvokedAt.Seq:
			before.rows, before.failed = rowTexts(e.Look.Rows), e.Look.Error
		case after.rows == nil:
			after.rows, after.failed = rowTexts(e.Look.Rows), e.Look.Error
		}
	}
	if before.failed != "" || after.failed != "" {
		r.doubted("a look through the probe values around call %s failed: %s", o.Invoked.ID, cmp.Or(before.failed, after.failed))
		before.rows, after.rows = nil, nil
	}
	if (before.rows == nil) != (after.rows == nil) {
		r.doubted("the probe values was not looked through both before and after call %s", o.Invoked.ID)
		before.rows, after.rows = nil, nil
	}
}

func rowTexts(rows []map[string]any) []string {
	out := []string{}
	for _, row := range rows {
		raw, err := json.Marshal(row)
		if err != nil {
			raw = fmt.Append(nil, row)
		}
		out = append(out, string(raw))
	}
	return out
}

// equal says whether two looks show the same, in whatever order.
func (s contents) equal(other contents) bool {
	return other.read.err == "" && maps.Equal(count(s.read.values), count(other.read.values)) && maps.Equal(count(s.rows), count(other.rows))
}

// within says whether another one shows all that this one does.
func (s contents) within(other contents) bool {
	return other.read.err == "" && len(missing(s.read.values, other.read.values)) == 0 && len(missing(s.rows, other.rows)) == 0
}

// differences are the facts of what changed from this contents to another.
func (s contents) differences(other contents) []string {
	if other.read.err != "" {
		return []string{"the read then: " + other.read.err}
	}
	var facts []string
	for _, d := range []struct {
		what     string
		was, now []string
	}{{"read back", s.read.values, other.read.values}, {"probe values", s.rows, other.rows}} {
		if gone := missing(d.was, d.now); len(gone) > 0 {
			facts = append(facts, d.what+", gone: "+quoted(gone))
		}
		if fresh := missing(d.now, d.was); len(fresh) > 0 {
			facts = append(facts, d.what+", new: "+quoted(fresh))
		}
	}
	return facts
}

// missing are the texts of a list that another one lacks, as often as it lacks them.
func missing(list, other []string) []string {
	left := count(other)
	var out []string
	for _, text := range list {
		if left[text] == 0 {
			out = append(out, text)
			continue
		}
		left[text]--
	}
	return out
}
