package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// modeOf is the mode that the contract gives to what is in a store of checkpoints.
var modeOf = map[string]string{"folder": "0700", "file": "0600"}

// StoreIsPrivate (WF-09): at every moment the store of checkpoints is 0700 and its
// files are 0600. That the server ran under the umask that it was to run under,
// and that there was a folder with files to look at, are the controls.
func StoreIsPrivate(h history.History) Ruling {
	var r Ruling
	r.operations(h)
	umasks := h.Marks("umask")
	if len(umasks) == 0 {
		r.doubted("it is not known under which umask the server ran")
	}
	for _, m := range umasks {
		if is := text(m.Data, "is"); is != text(m.Data, "wanted") {
			r.doubted("the server was to run under the umask %s and ran under %q", text(m.Data, "wanted"), is)
		}
	}
	var wide []string
	for _, when := range []string{whenHeld, whenStruck, whenConverged} {
		look, ok := lastLook(h, "store-modes", when, nil)
		if !ok {
			r.doubted("the modes in the store were not seen at the moment %s", when)
			continue
		}
		kinds := columns(look.Rows, "kind")
		if !slices.Contains(kinds, "folder") || !slices.Contains(kinds, "file") {
			r.doubted("the store had no folder with files at the moment %s; does the target file's store name it?", when)
		}
		for _, row := range look.Rows {
			kind, mode := text(row, "kind"), text(row, "mode")
			if want, known := modeOf[kind]; known && mode != want {
				wide = append(wide, fmt.Sprintf("at the moment %s the %s %s has the mode %s, expected %s", when, kind, text(row, "file"), mode, want))
			}
		}
	}
	if len(wide) > 0 {
		r.broke("WF-09", "the store of operations is not its user's alone", most(wide)...)
	}
	return r
}
