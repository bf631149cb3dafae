package judge

import "github.com/holdfast-mcp/holdfast/reports/history"

// IncompleteRefused (RC-01): a mutation that lacks its expected revision or its
// command ID is refused, and nothing of the draft changes. One that has both, of the
// same tool, is confirmed.
func IncompleteRefused(h history.History) Ruling {
	var r Ruling
	whole, lacking, draft := 0, 0, ""
	for _, c := range r.theCommands(h) {
		what := c.Param("lacks")
		if what == "" {
			whole++
			r.lands(h, c)
			continue
		}
		lacking++
		draft = c.draft
		said := outcomeOf(c.Operation)
		switch {
		case c.Returned == nil || c.Returned.Answer == nil:
			r.doubted("the %s without %s got no answer: %s", c.kind, what, answerOf(c.Operation))
		case c.Outcome() != history.Refused || said != "" && said != "refused" && said != "not_sent":
			r.broke("RC-01", "a mutation that lacks its revision or its command ID is not refused", "the "+c.kind+" without "+what, answeredWith(c.Operation), "expected refused")
		}
	}
	if lacking > 0 {
		r.keeps(h, "RC-01", "a mutation that lacks its revision or its command ID takes effect", draft, whenBefore, whenStruck)
	}
	if whole == 0 || lacking == 0 {
		r.doubted("%d mutations lacked something and %d did not; one of each is needed", lacking, whole)
	}
	return r
}

// IncompletePastRefused (RC-01): so is one that goes to the server past the editor.
func IncompletePastRefused(h history.History) Ruling {
	var r Ruling
	whole, lacking, draft := 0, 0, ""
	for _, a := range askings(h, "update") {
		switch what := a.params["lacks"]; {
		case what == "":
			whole++
			if !a.done() {
				r.doubted("%s with nothing missing; %s, so that a refusal says nothing", a.words(), a.said())
			}
		case a.status == 0:
			r.doubted("%s without %s, and no answer came", a.words(), what)
		default:
			lacking++
			draft = a.params["draft"]
			if !a.refused() {
				r.broke("RC-01", "the server does not refuse a mutation that lacks its revision or its command ID", a.words()+" without "+what, a.said())
			}
		}
	}
	if lacking > 0 {
		r.keeps(h, "RC-01", "a mutation that lacks its revision or its command ID takes effect", draft, whenBefore, whenStruck)
	}
	if whole == 0 || lacking == 0 {
		r.doubted("%d mutations lacked something and %d did not; one of each is needed", lacking, whole)
	}
	return r
}
