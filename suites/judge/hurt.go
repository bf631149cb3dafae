package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// HurtStoreIsTold (DU-22): of a store of which a file was damaged while the server was
// stopped, the next read is refused, or the server does not start; it is not answered
// as a success, and what the file held is kept behind a further write. Whether an answer
// without the writes is that of an empty store is told by its form, see emptied. A file that
// the reads do not need, and a log of which the whole entries are read on, are sound.
// The undamaged copy that could be read proves that the damage is what is told.
func HurtStoreIsTold(h history.History) Ruling {
	var r Ruling
	var kept []string
	for _, w := range acknowledged(h, "write") {
		if w.Param("run") == "" {
			kept = append(kept, w.Param("value"))
		}
	}
	whole := r.reads(h, "whole")
	if len(kept) == 0 || len(whole) != 1 || whole[0].err != "" || missingOf(kept, whole[0].values) > 0 {
		r.doubted("the undamaged copy of the store did not show %s, so that what is told of a damaged one says nothing", reports.Plural(len(kept), "acknowledged write"))
		return r
	}
	hurts := h.Marks("store-damaged")
	judged := 0
	for _, mark := range hurts {
		judged += r.hurt(h, mark.Data, kept)
	}
	if judged == 0 && r.silent() {
		r.doubted("no damage of %s kept the writes from being read, so that nothing was there to be told", reports.Plural(len(hurts), "file"))
	}
	return r
}

func missingOf(kept, shown []string) int {
	n := 0
	for _, v := range kept {
		if !slices.Contains(shown, v) {
			n++
		}
	}
	return n
}

// hurt rules on one damaged file, and says how many judgements that is.
func (r *Ruling) hurt(h history.History, mark map[string]any, kept []string) int {
	run, file := text(mark, "run"), text(mark, "file")
	facts := []string{fmt.Sprintf("%s: %d of %d bytes were left", file, number(mark, "is"), number(mark, "was"))}
	starts := !slices.ContainsFunc(h.Marks("server-refused"), func(m history.Mark) bool { return text(m.Data, "run") == run })
	for _, read := range r.reads(h, "hurt") {
		if read.op.Param("run") != run || read.err != "" {
			continue
		}
		facts := append(slices.Clone(facts), fmt.Sprintf("read back by call %s: %d of %d acknowledged writes", read.op.Invoked.ID, len(kept)-missingOf(kept, read.values), len(kept)))
		switch missing := missingOf(kept, read.values); {
		case missing == 0:
			return 0 // the reads do not need what was lost
		case missing == len(kept):
			r.emptied(h, file, read, facts)
		case mark["log"] == true:
			return 1
		default:
			r.broke("DU-22", "a damaged store is answered as a success", facts...)
		}
	}
	if !r.toldOrRead(h, run) && starts {
		r.doubted("what is read of the store with %s damaged is not known", file)
		return 0
	}
	r.hurtBytesKept(h, run, facts)
	return 1
}

// emptied rules on an answer that shows none of the writes: it is that of an empty
// store where it has the form of the answer on a store before the first write. What
// only its words can tell from a refusal is doubted.
func (r *Ruling) emptied(h history.History, file string, shown read, facts []string) {
	var said Ruling // of other reads nothing is said here
	for _, first := range said.reads(h, "first") {
		if first.err != "" {
			continue
		}
		if sameForm(first.op, shown.op) {
			r.broke("DU-22", "a damaged store is taken for an empty one", append(facts, "its answer: "+shortened(answerOf(shown.op), 200))...)
			return
		}
		r.doubted("with %s damaged %s answered as a success, without any of the writes, and not as an empty store is; is that a refusal? Say by refused in profiles.durability.read what its refusals look like. Its answer: %s; of an empty store: %s",
			file, shown.op.Invoked.Tool, shortened(answerOf(shown.op), 300), shortened(answerOf(first.op), 300))
		return
	}
	r.doubted("with %s damaged %s answered as a success, without any of the writes, and how it answers for an empty store is not known", file, shown.op.Invoked.Tool)
}

// toldOrRead says whether a read on a damaged store came back.
func (r *Ruling) toldOrRead(h history.History, run string) bool {
	return slices.ContainsFunc(h.Operations("read"), func(o history.Operation) bool { return o.Param("run") == run && o.Returned != nil })
}

func (r *Ruling) hurtBytesKept(h history.History, run string, facts []string) {
	look, seen := lastLook(h, "damaged-file", "", map[string]string{"run": run})
	switch {
	case !seen || look.Error != "":
		r.doubted("whether what the damaged file held is kept was not seen: %s", look.Error)
	case len(look.Rows) == 0:
		for _, w := range h.Operations("write") {
			if w.Param("run") == run {
				facts = append(facts, fmt.Sprintf("the next write %s: %s: %s", w.Invoked.ID, w.Outcome(), answerOf(w)))
			}
		}
		r.broke("DU-22", "a damaged store is overwritten", append(facts, "no file holds what it held then")...)
	}
}
