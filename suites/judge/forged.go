package judge

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// fewestForgeries is how many forged references have to be tried.
const fewestForgeries = 40

// ForgedRefused (WF-24): status, resume and cancel refuse every forged reference, and
// none of them leads to a file outside the store: no copy of the operation's files
// that lies there is opened, and no file is made. The controls are the operation's
// own reference, under which its checkpoint is seen to be opened, and a decoy that
// the harness itself opens.
func ForgedRefused(h history.History) Ruling {
	var r Ruling
	tried := map[string]map[string]bool{}
	for _, o := range h.Operations("") {
		what := o.Param("forged")
		if what == "" {
			continue
		}
		if tried[o.Invoked.Role] == nil {
			tried[o.Invoked.Role] = map[string]bool{}
		}
		switch o.Outcome() {
		case history.Unknown:
			r.doubted("%s with a forged reference (%s) got no answer", o.Invoked.Role, what)
		case history.Done:
			r.broke("WF-24", "a forged reference is accepted", fmt.Sprintf("%s with %s: %q", o.Invoked.Role, what, shortened(o.Param("operation_id"), 80)), says(o.Invoked.Role, o))
		}
		tried[o.Invoked.Role][what] = true
	}
	for _, role := range []string{"status", "resume", "cancel"} {
		if n := len(tried[role]); n < fewestForgeries {
			r.doubted("%s was tried with %d forged references, at least %d are needed", role, n, fewestForgeries)
		}
	}
	r.opensNoDecoy(h)
	r.makesNoFile(h)
	return r
}

// opensNoDecoy looks at what the kernel says was opened.
func (r *Ruling) opensNoDecoy(h history.History) {
	var decoys []string
	for _, m := range h.Marks("decoys") {
		names, _ := texts(m.Data, "files")
		decoys = append(decoys, names...)
	}
	if len(decoys) == 0 {
		r.doubted("no decoy was put down")
	}
	opened := map[string][]string{}
	for _, when := range []string{"forged", "legal", "control"} {
		look, ok := lastLook(h, "operations-openings", when, nil)
		if !ok {
			r.doubted("which files were opened was not seen at the moment %s", when)
			return
		}
		opened[when] = columns(look.Rows, "file")
	}
	decoy := func(file string) bool { return slices.Contains(decoys, file) }
	if led := slices.DeleteFunc(slices.Clone(opened["forged"]), func(file string) bool { return !decoy(file) }); len(led) > 0 {
		r.broke("WF-24", "a forged reference led to a file outside the store", "opened: "+quoted(led))
	}
	legal := func(file string) bool {
		return !decoy(file) && slices.ContainsFunc(r.operations(h), func(o operation) bool { return strings.Contains(filepath.Base(file), o.id) })
	}
	if !slices.ContainsFunc(opened["legal"], legal) {
		r.doubted("the checkpoint was not seen to be opened under its own reference, so that nothing follows from what was not seen")
	}
	if !slices.ContainsFunc(opened["control"], decoy) {
		r.doubted("a decoy that was opened on purpose was not seen to be opened")
	}
}

func (r *Ruling) makesNoFile(h history.History) {
	was, before := lastLook(h, "names", "before", nil)
	is, after := lastLook(h, "names", "after", nil)
	if !before || !after {
		r.doubted("the files outside the store were not seen before and after")
		return
	}
	known := columns(was.Rows, "file")
	if made := slices.DeleteFunc(columns(is.Rows, "file"), func(file string) bool { return slices.Contains(known, file) }); len(made) > 0 {
		r.broke("WF-24", "a forged reference made a file outside the store", "made: "+quoted(made))
	}
}
