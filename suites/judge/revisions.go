package judge

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// EveryRevision (WF-32): at every revision that the server speaks, start, status,
// resume and cancel are answered with results; an operation that is resumed is
// completed, and one that is cancelled is not. Nobody asked for Tasks, so that an
// answer that is a task is none.
func EveryRevision(h history.History) Ruling {
	var r Ruling
	spoken := 0
	for _, m := range h.Marks("revision") {
		revision := text(m.Data, "revision")
		if !truth(m.Data, "spoken") {
			r.Tried = append(r.Tried, fmt.Sprintf("%s: not-applicable, the server does not speak it: %s", revision, shortened(text(m.Data, "why"), 200)))
			continue
		}
		spoken++
		if r.rolesAt(h, revision) {
			r.Tried = append(r.Tried, revision+": start, status, resume and cancel were answered")
		}
	}
	if spoken == 0 {
		r.doubted("the server speaks none of the revisions that were tried")
	}
	return r
}

// rolesAt holds every call of one revision to an answer that is a result.
func (r *Ruling) rolesAt(h history.History, revision string) bool {
	said := len(r.Findings) + len(r.Doubts)
	for _, role := range askingRoles {
		made := 0
		for _, o := range h.Operations(role) {
			if o.Param("revision") != revision {
				continue
			}
			made++
			switch {
			case o.Outcome() == history.Refused:
				r.broke("WF-32", role+" does not work at a revision that the server speaks", "revision "+revision, says(role, o))
			case o.Outcome() == history.Unknown && o.Returned != nil && len(o.Returned.Answer) > 0:
				r.broke("WF-32", role+" is answered with no result although nobody asked for Tasks", "revision "+revision, o.Returned.Reason)
			case o.Outcome() == history.Unknown:
				r.doubted("%s got no answer at revision %s", role, revision)
			}
		}
		if made == 0 && len(r.Findings)+len(r.Doubts) == said {
			r.doubted("%s was not called at revision %s", role, revision)
		}
	}
	for _, o := range r.operations(h) {
		end := o.start.Param("end")
		if o.start.Param("revision") != revision {
			continue
		}
		stored, ok := r.checkpoint(h, o, whenConverged)
		if ok && (text(stored, "state") == "completed") != (end == "resumed") {
			r.broke("WF-32", "an operation that was "+end+" is not what comes of that", "revision "+revision, fmt.Sprintf("operation %s is stored as %v", o.id, stored))
		}
	}
	return len(r.Findings)+len(r.Doubts) == said
}
