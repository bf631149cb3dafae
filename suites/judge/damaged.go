package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// whenWronged is the moment behind something that was done to a file of the store.
const whenWronged = "wronged"

// DamageIsTold (WF-25): about an operation whose checkpoint was damaged every call
// is refused with a code of its own, its file is kept byte for byte, none of its
// steps goes out, and the other operations are not affected.
func DamageIsTold(h history.History) Ruling {
	var r Ruling
	wrongs := h.Marks("damaged")
	if len(wrongs) == 0 {
		return doubt("no checkpoint was damaged")
	}
	hurt := wrongs[len(wrongs)-1].Data
	if text(hurt, "was") == text(hurt, "is") {
		r.doubted("the checkpoint of operation %s was to be damaged (%s) and is as it was", text(hurt, "operation_id"), text(hurt, "how"))
		return r
	}
	found := false
	for _, o := range r.operations(h) {
		if o.id != text(hurt, "operation_id") {
			r.unaffected(h, o)
			continue
		}
		found = true
		r.damageTold(h, o)
		r.fileKept(h, o, "WF-25", "a damaged checkpoint is not kept as it is", text(hurt, "is"))
		r.nothingMore(h, o, "WF-25", "a step of an operation with a damaged checkpoint goes out")
	}
	if !found && r.silent() {
		r.doubted("the operation whose checkpoint was damaged is not known")
	}
	return r
}

// damageTold holds the answers about an operation to a clear error.
func (r *Ruling) damageTold(h history.History, o operation) {
	unknown := codeOfUnknown(h)
	if unknown == "" {
		r.doubted("no status of an operation that is not there was refused with a code, so that it cannot be told from the error of a damaged one")
		return
	}
	for _, role := range []string{"status", "resume", "cancel"} {
		answers := callsAbout(h, role, whenWronged, o)
		if len(answers) == 0 {
			r.doubted("%s of the operation with a damaged checkpoint was not asked for", role)
		}
		for _, a := range answers {
			switch code := a.Text("code"); {
			case a.Outcome() == history.Unknown:
				r.broke("WF-25", "a call about an operation with a damaged checkpoint is not answered", says(role, a))
			case a.Outcome() == history.Done:
				r.broke("WF-25", "a damaged checkpoint is taken for a whole one", says(role, a), "expected a refusal")
			case code == "":
				r.doubted("the refusal of %s %s has no code; does the target file map it?", role, a.Invoked.ID)
			case code == unknown:
				r.broke("WF-25", "a damaged checkpoint is told as an operation that is not there", says(role, a), fmt.Sprintf("an operation that never was is refused with %q as well", unknown))
			}
		}
	}
}

// codeOfUnknown is the code of a status of an operation that no start was answered
// with, "" where none was asked for.
func codeOfUnknown(h history.History) string {
	var started []string
	for _, o := range acknowledged(h, "start") {
		started = append(started, o.Text("operation_id"))
	}
	code := ""
	for _, a := range h.Operations("status") {
		if a.Param("moment") == whenWronged && a.Outcome() == history.Refused && !slices.Contains(started, a.Param("operation_id")) {
			code = a.Text("code")
		}
	}
	return code
}

// fileKept holds every look at an operation's file behind a wrong to a digest.
func (r *Ruling) fileKept(h history.History, o operation, clause, summary, digest string) {
	looks := 0
	for _, look := range h.Looks("checkpoint-file", whenWronged) {
		if !includes(look.Params, o.about()) || look.Error != "" {
			continue
		}
		looks++
		switch {
		case len(look.Rows) == 0:
			r.broke(clause, summary, fmt.Sprintf("the file of operation %s is gone", o.id))
			return
		case text(look.Rows[0], "sha256") != digest:
			r.broke(clause, summary, fmt.Sprintf("the file of operation %s holds something else, in %d bytes", o.id, number(look.Rows[0], "size")))
			return
		}
	}
	if looks == 0 {
		r.doubted("the file of operation %s was not seen at the moment %s", o.id, whenWronged)
	}
}

// nothingMore counts what went out of an operation since it was struck.
func (r *Ruling) nothingMore(h history.History, o operation, clause, summary string) {
	for _, step := range o.texts {
		then, _, ok := r.wentOut(h, step, whenStruck)
		now, _, also := r.wentOut(h, step, whenConverged)
		if ok && also && now != then {
			r.broke(clause, summary, fmt.Sprintf("operation %s: %d requests of step %q had come, and %d at the end", o.id, then, shortened(step, 60), now))
		}
	}
}

// unaffected holds an operation that nothing was done to, beside one that was
// wronged, to its end.
func (r *Ruling) unaffected(h history.History, o operation) {
	for _, a := range callsAbout(h, "status", whenWronged, o) {
		if a.Outcome() != history.Done || stateOf(a) != "completed" {
			r.broke("WF-25", "the damaged checkpoint of one operation affects another", says("status", a), "expected completed")
		}
	}
	if end, ok := r.checkpoint(h, o, whenConverged); ok && text(end, "state") != "completed" {
		r.broke("WF-25", "the damaged checkpoint of one operation affects another", fmt.Sprintf("operation %s is stored as %v, expected completed", o.id, end))
	}
}
