package judge

import (
	"fmt"
	"reflect"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// unwritten is a time in which nobody may write the library, between two looks at
// its write log.
type unwritten struct {
	clause, before, after string
	// since says in words when the later look was taken: "while the library was locked".
	since string
	// summary is the finding where the log has changed.
	summary string
}

// libraryUnwritten compares the two looks at the write log. That some write was
// ever seen is the control.
func (r *Ruling) libraryUnwritten(h history.History, u unwritten) {
	before, okB := lastLook(h, "writes", u.before, nil)
	after, okA := lastLook(h, "writes", u.after, nil)
	switch {
	case !okB || !okA:
		r.doubted("the library's write log was not seen both before and %s", u.since)
	case len(before.Rows)+len(after.Rows) == 0:
		r.doubted("no library write was ever seen, so that one would not have been noticed either")
	case !reflect.DeepEqual(before.Rows, after.Rows):
		r.broke(u.clause, u.summary, fmt.Sprintf("%s before, %d after", reports.Plural(len(before.Rows), "write"), len(after.Rows)))
	}
}
