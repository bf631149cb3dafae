package judge

import (
	"fmt"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// ForeignIsUnknown (WF-03): whoever asks about an operation under another binding is
// answered byte for byte as about one that never was, but for the ID that was sent,
// and changes nothing. The control is the owner, who is told at the same moments how
// the operation stands.
func ForeignIsUnknown(h history.History) Ruling {
	var r Ruling
	judged := 0
	owners := map[string]bool{} // the operations and moments at which the owner is to be answered
	for _, o := range h.Operations("") {
		if o.Param("about") != "an operation" {
			continue
		}
		twin, ok := twinOf(h, o)
		switch {
		case !ok:
			r.doubted("call %s has no twin about an operation that never was", o.Invoked.ID)
			continue
		case o.Outcome() == history.Unknown || twin.Outcome() == history.Unknown:
			r.doubted("call %s or its twin %s got no answer", o.Invoked.ID, twin.Invoked.ID)
			continue
		}
		judged++
		owners[o.Param("owned")+" "+o.Param("moment")] = true
		r.answeredAlike(o, twin)
	}
	for _, o := range r.operations(h) {
		for _, moment := range []string{"finished", "running", "interrupted", "reviewed"} {
			if owners[o.id+" "+moment] {
				r.ownerReaches(h, o, moment)
				r.unchangedByOthers(h, o, moment)
			}
		}
	}
	if judged == 0 && r.silent() {
		r.doubted("nobody asked under another binding")
	}
	return r
}

// twinOf is the same call about an operation that never was.
func twinOf(h history.History, o history.Operation) (history.Operation, bool) {
	for _, t := range h.Operations(o.Invoked.Role) {
		if t.Param("about") == "none" && t.Param("binding") == o.Param("binding") && t.Param("moment") == o.Param("moment") && t.Param("owned") == o.Param("owned") {
			return t, true
		}
	}
	return history.Operation{}, false
}

func (r *Ruling) answeredAlike(o, twin history.Operation) {
	asked := fmt.Sprintf("%s under %s, %s", o.Invoked.Role, o.Param("binding"), o.Param("moment"))
	is, would := withoutID(o), withoutID(twin)
	switch {
	case o.Outcome() == history.Done:
		r.broke("WF-03", "another binding reaches an operation", asked, says(o.Invoked.Role, o))
	case is != would:
		r.broke("WF-03", "the answer under another binding gives away that an operation exists", asked,
			"about the operation: "+shortened(is, 200), "about one that never was: "+shortened(would, 200))
	}
}

// withoutID is what was answered, without the ID that the caller sent.
func withoutID(o history.Operation) string {
	said := string(o.Returned.Answer)
	if said == "" {
		said = o.Returned.Reason
	}
	return strings.ReplaceAll(said, o.Param("operation_id"), "the ID")
}

func (r *Ruling) ownerReaches(h history.History, o operation, moment string) {
	answers := callsAbout(h, "status", moment, o)
	for _, a := range answers {
		if a.Param("about") == "" && a.Outcome() == history.Done && stateOf(a) != "" {
			return
		}
	}
	r.doubted("its owner was not told how operation %s stands (%s), so that a refusal of others says nothing", o.id, moment)
}

func (r *Ruling) unchangedByOthers(h history.History, o operation, moment string) {
	was, before := r.checkpoint(h, o, "before "+moment)
	is, after := r.checkpoint(h, o, "after "+moment)
	if before && after && fmt.Sprint(was) != fmt.Sprint(is) {
		r.broke("WF-03", "a call under another binding changed an operation", fmt.Sprintf("operation %s (%s) was stored as %v", o.id, moment, was), fmt.Sprintf("and is stored as %v behind the calls", is))
	}
}
