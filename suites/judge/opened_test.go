package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// watched is WR-29: a helper at work while the library was watched.
func watched(opened, control []map[string]any) history.History {
	s := newStory()
	s.call("note", params("item_id", "i1"), done())
	s.call("get", params("item_id", "i1"), done())
	s.look("library-openings", "early", nil, opened...)
	s.look("library-openings", "control", nil, control...)
	return s.told()
}

func TestNeverOpened(t *testing.T) {
	own := []map[string]any{row("file", "library/library.db")}
	rule := NeverOpened("library")
	expectRuling(t, rule, watched(nil, own), nil, nil)
	expectRuling(t, rule, watched(own, own), finds(broken("WR-29", "the helper opened files of the library", `files: "library/library.db"`)), nil)
	expectRuling(t, rule, watched(nil, nil), nil, []string{"not even the harness's own opening of a file of the library was seen"})
	expectRuling(t, rule, newStory().told(), nil, []string{"not even the harness's own opening of a file of the library was seen"})

	s := newStory()
	s.look("library-openings", "early", nil)
	s.look("library-openings", "control", nil, own...)
	expectRuling(t, rule, s.told(), nil, []string{"the helper was given no note and no read while the library was watched"})
}

func TestAnAnswerThatWasNotUnderstoodIsHeldAgainstNobody(t *testing.T) {
	s := newStory()
	s.call("write", value("v"), done())
	e := refused("", "")
	e.Unmapped, e.Reason = true, "the target file's mapping does not fit the answer: no"
	s.call("read", params("moment", "final"), e)
	accuse := func(history.History) Ruling {
		var r Ruling
		r.broke("DU-01", "something is wrong")
		return r
	}
	expectRuling(t, func(h history.History) Ruling { return Ruled(accuse, h) }, s.told(), nil,
		[]string{"the answer of call c2 (work_read) was not understood: the target file's mapping does not fit the answer: no"})
}
