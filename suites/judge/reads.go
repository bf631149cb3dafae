package judge

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// Reads of profile DU carry the parameter "moment"; these are its words.
const (
	momentBefore = "before" // before the write or the invalid call
	momentAfter  = "after"  // right after it, on the same connection
	momentFinal  = "final"  // after everything, by a fresh process where the spec says so
)

// read is one read call that came back, with what it showed.
type read struct {
	op     history.Operation
	values []string
	err    string // why it showed nothing, "" when it did
}

// reads are the reads of a moment that came back, "" for any. One that never
// did, or whose values nobody looked at, is doubted and left out.
func (r *Ruling) reads(h history.History, moment string) []read {
	var out []read
	for _, o := range h.Operations("read") {
		if moment != "" && o.Param("moment") != moment {
			continue
		}
		x := read{op: o}
		switch {
		case o.Returned == nil:
			r.doubted("the read %s never came back", o.Invoked.ID)
			continue
		case o.Outcome() != history.Done:
			x.err = fmt.Sprintf("%s: %s", o.Outcome(), o.Returned.Reason)
		default:
			values, ok := texts(o.Returned.Fields, "values")
			if _, there := o.Returned.Fields["values"]; !there || !ok {
				r.doubted("the read %s shows no list of values", o.Invoked.ID)
				continue
			}
			x.values = values
		}
		out = append(out, x)
	}
	return out
}

// around finds the reads before and after a call; the three share the parameter
// "pair". Only a read that does not overlap the call tells what the call did.
func (r *Ruling) around(h history.History, o history.Operation) (before, after *read) {
	word := o.Param("pair")
	if word == "" {
		return nil, nil
	}
	var said Ruling // of other calls' reads nothing is said here
	for _, x := range said.reads(h, "") {
		if x.op.Param("pair") != word {
			continue
		}
		switch moment := x.op.Param("moment"); {
		case moment == momentBefore && endedBefore(x.op, o.InvokedAt.Seq):
			before = &x
		case moment == momentAfter && endedBefore(o, x.op.InvokedAt.Seq):
			after = &x
		}
	}
	return before, after
}

// worked says whether a read had shown values before an event; only then does a
// read that fails say something about the store, and not about the read.
func (r *Ruling) worked(h history.History, before int64) bool {
	var said Ruling
	for _, x := range said.reads(h, "") {
		if x.err == "" && endedBefore(x.op, before) {
			return true
		}
	}
	r.doubted("no read had worked before, so that a read which fails says nothing about the store")
	return false
}
