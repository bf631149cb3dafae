package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// secretControls are where a token was put on purpose, or may be.
var secretControls = []string{"mark", "log of secret-control", "token file"}

// reportControls are files of the report into which a token was written on purpose,
// and from which it was taken out again.
var reportControls = []string{"report's history.jsonl", "report's secret-control.log"}

// NoSecrets (WR-38): no token and no key of an account was found in the messages,
// answers and looks of the history, in a log, or in a file of the sidecar or of the
// report. That it was found where it was put on purpose is the control of each
// route; the report's own files are searched as they are kept, behind that.
func NoSecrets(h history.History) Ruling {
	look, ok := lastLook(h, "secrets", whenConverged, nil)
	if !ok {
		return doubt("nobody searched for the secrets of the accounts")
	}
	var r Ruling
	texts, shown, kept := map[string]int{}, map[string]int{}, map[string]bool{}
	for _, row := range look.Rows {
		source, found := text(row, "source"), number(row, "found")
		kind, _, _ := strings.Cut(source, " ")
		if slices.Contains(secretControls, source) {
			shown[source] = found
			continue
		}
		texts[kind] += number(row, "texts")
		kept[source] = true
		switch {
		case found == 0:
		case kind == "report's":
			r.doubted("holdfast itself kept %s in the %s", reports.Plural(found, "secret"), source)
		default:
			r.broke("WR-38", "a token or key of an account stands where nobody may read it", fmt.Sprintf("%s: %s", source, reports.Plural(found, "time")))
		}
	}
	for _, control := range secretControls {
		if shown[control] == 0 {
			r.doubted("a token was not found where it was put on purpose: %s", control)
		}
	}
	for _, control := range reportControls {
		if !kept[control] {
			r.doubted("the %s was not searched, from which a token had to be taken out", control)
		}
	}
	for _, kind := range []string{"message", "call", "look", "log", "file"} {
		if texts[kind] == 0 {
			r.doubted("no %s was searched", kind)
		}
	}
	return r
}
