package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// lookRole is the role of calls of other tools that claim readOnlyHint: true, which look
// at more than the read does. Around a write of its own, the control, they were made
// twice before and once behind it.
const lookRole = "look"

// hiddenBy tells which written values the looks of other tools showed before a call and
// not behind it. What they show may have counters, times and logs in it, which honest
// servers change; so nothing is taken of it but whether a value that was acknowledged
// stands there. A look that lost one where nothing but a write was done says nothing.
func hiddenBy(h history.History, o history.Operation) []string {
	var wrong []string
	for _, tool := range lookingTools(h) {
		if !steady(h, tool) {
			continue
		}
		var before, after *history.Operation
		for _, look := range looksOf(h, tool, o.Param("pair")) {
			switch {
			case look.Outcome() != history.Done:
			case endedBefore(look, o.InvokedAt.Seq):
				before = &look
			case endedBefore(o, look.InvokedAt.Seq) && after == nil:
				after = &look
			}
		}
		if before == nil || after == nil {
			continue
		}
		if gone := missing(writtenIn(h, *before), writtenIn(h, *after)); len(gone) > 0 {
			wrong = append(wrong, fmt.Sprintf("shown by %s, gone: %s", tool, quoted(gone)))
		}
	}
	return wrong
}

// lookingTools are the tools that were called for further looks.
func lookingTools(h history.History) []string {
	var tools []string
	for _, look := range h.Operations(lookRole) {
		if !slices.Contains(tools, look.Invoked.Tool) {
			tools = append(tools, look.Invoked.Tool)
		}
	}
	return tools
}

func looksOf(h history.History, tool, pair string) []history.Operation {
	return slices.DeleteFunc(h.Operations(lookRole), func(look history.Operation) bool {
		return look.Invoked.Tool != tool || look.Param("pair") != pair || pair == ""
	})
}

// steady says whether a tool, around the control, showed a value and lost none.
func steady(h history.History, tool string) bool {
	shown := 0
	for _, w := range h.Operations("write") {
		var was []string
		for _, look := range looksOf(h, tool, w.Param("pair")) {
			now := writtenIn(h, look)
			if look.Outcome() != history.Done || len(missing(was, now)) > 0 {
				return false
			}
			was = now
			shown += len(now)
		}
	}
	return shown > 0
}

// writtenIn are the acknowledged values that stand in the answer of a look.
func writtenIn(h history.History, look history.Operation) []string {
	if look.Returned == nil {
		return nil
	}
	return slices.DeleteFunc(ackedBefore(h, look), func(value string) bool {
		return value == "" || !strings.Contains(string(look.Returned.Answer), value)
	})
}

// lookedFurther tells what other tools were looked through.
func (r *Ruling) lookedFurther(h history.History) {
	if tools := slices.DeleteFunc(lookingTools(h), func(tool string) bool { return !steady(h, tool) }); len(tools) > 0 {
		r.Tried = append(r.Tried, "looked through beside the read: "+strings.Join(tools, ", "))
	}
}
