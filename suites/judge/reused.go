package judge

import "github.com/holdfast-mcp/holdfast/reports/history"

// ReusedRefused (RC-05): a command ID that was used before is refused for anything
// else, and nothing changes in any draft that it names. The same under an ID of its
// own is confirmed.
func ReusedRefused(h history.History) Ruling {
	var r Ruling
	reused, fresh := 0, 0
	for _, c := range r.theCommands(h) {
		how := c.Param("reuses")
		if how == "" {
			fresh++
			r.lands(h, c)
			continue
		}
		reused++
		switch {
		case c.Returned == nil || c.Returned.Answer == nil:
			r.doubted("%s got no answer: %s", c.words(), answerOf(c.Operation))
		case outcomeOf(c.Operation) != "refused":
			r.broke("RC-05", "a command ID is not refused for something else than it was used for", c.words(), "it is reused for "+how, answeredWith(c.Operation), "expected refused")
		}
		r.keeps(h, "RC-05", "a reused command ID changes something", c.draft, whenFirst, whenStruck)
	}
	if reused == 0 || fresh < 2 {
		r.doubted("%d command IDs were reused and %d fresh; one and two are needed", reused, fresh)
	}
	return r
}

// ReusedPastRefused (RC-05): so it is past the editor.
func ReusedPastRefused(h history.History) Ruling {
	var r Ruling
	reused, fresh := 0, 0
	for _, a := range askings(h, "update") {
		switch how := a.params["reuses"]; {
		case how == "":
			fresh++
			if !a.done() {
				r.doubted("%s, with which nothing is wrong; %s, so that a refusal says nothing", a.words(), a.said())
			}
		case a.status == 0:
			r.doubted("%s again, and no answer came", a.words())
		default:
			reused++
			if !a.refused() {
				r.broke("RC-05", "the server does not refuse a command ID for something else than it was used for", a.words(), "it is reused for "+how, a.said())
			}
			r.keeps(h, "RC-05", "a reused command ID changes something", a.params["draft"], whenFirst, whenStruck)
		}
	}
	if reused == 0 || fresh < 2 {
		r.doubted("%d command IDs were reused and %d fresh; one and two are needed", reused, fresh)
	}
	return r
}
