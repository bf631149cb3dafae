package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

func TestWhereEffectsShow(t *testing.T) {
	s := newStory()
	s.call("control", params("texts", `["seen"]`), done("operation_id", "wf_0"))
	s.look("effects", "converged", nil, row("text", "seen"))
	never := func(history.History) Ruling { return doubt("the rule was asked") }
	expectRuling(t, WhereEffectsShow(never), s.told(), nil, []string{"the rule was asked"})
	held := func(history.History) Ruling { return Ruling{} }
	rules(t, WhereEffectsShow(held), s.told(),
		variant{"the log shows nothing", edits(shows("effects", "converged")), nil, []string{
			`the outside log does not show the write "seen", which nothing was done to, so that it says nothing of others`}},
		variant{"the log was not looked at", edits(noLook("effects", "converged")), nil, []string{"what the outside service has applied was not seen at the moment converged"}},
		variant{"no write was made", edits(noCall("c1")), nil, []string{"no write was made to see whether the outside log shows any"}},
		variant{"it does not say what", edits(param("c1", "texts", "")), nil, []string{"the control c1 does not say what it wrote: unexpected end of JSON input"}},
	)
}
