package world

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

const (
	// IssueRole is the role of calls that give a handle out, UseRole of those that take one.
	IssueRole = "issue"
	UseRole   = "use"
	// HandlesMark tells what the target file says of handles: {"lifetime": DURATION,
	// "after": DURATION, "told": JQ}, each "" where it says nothing.
	HandlesMark = "handles"
)

// handles is what the target file says of handles; specs of them are for no other target.
func (w *World) handles() target.Handles { return *w.Target.Profiles.Durability.Handles }

// Issued makes the call that gives a handle out, with fresh values, and returns the
// handle. Without one the spec stops.
func (c *Caller) Issued(fresh map[string]string) string {
	tool := c.w.handles().Issue
	op := c.Do(Act{Role: IssueRole, Tool: &tool, Params: fresh})
	if op.Outcome() != history.Done {
		Inconclusive("the call that gives a handle out (handles.issue, %s) was not accepted: %s", tool.Name, reasonOf(op))
	}
	handle := textOf(op.Field("handle"))
	if handle == "" {
		Inconclusive("the answer of handles.issue (%s) has no handle; check the jq handle in its answer", tool.Name)
	}
	return handle
}

// textOf is a handle as it stands in a template; "" for none.
func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}

// Uses makes the call that takes a handle. told is jq that is mapped of its answer as
// "told", "" for none.
func (c *Caller) Uses(handle, which, told string, fresh map[string]string) history.Operation {
	tool := c.w.handles().Use
	if told != "" {
		tool.Answer = maps.Clone(tool.Answer)
		if tool.Answer == nil {
			tool.Answer = map[string]string{}
		}
		tool.Answer["told"] = told
	}
	return c.Do(Act{Role: UseRole, Tool: &tool, Params: fresh}.With("handle", handle).With("which", which))
}

// NeverIssued is a handle that was never issued: the target file's, or one that looks
// like an issued one.
func (w *World) NeverIssued(issued string) string {
	if own := w.handles().Unknown.Handle; own != "" {
		return own
	}
	return unlike(issued)
}

// unlike is a text of the same form: its longest run of letters and digits backwards, or
// another number.
func unlike(handle string) string {
	if strings.Trim(handle, "0123456789") == "" {
		if handle != "987654321" {
			return "987654321"
		}
		return "987654320"
	}
	runes := []rune(handle)
	from, to := 0, 0
	for i := 0; i < len(runes); i++ {
		begun := i
		for i < len(runes) && (unicode.IsLetter(runes[i]) || unicode.IsDigit(runes[i])) {
			i++
		}
		if i-begun > to-from {
			from, to = begun, i
		}
	}
	slices.Reverse(runes[from:to])
	if other := string(runes); other != handle {
		return other
	}
	return handle + "x"
}

// NewCallerWith starts a helper with environment variables beside its own, and shakes
// hands. whose says in an error what they are for.
func (w *World) NewCallerWith(env map[string]string, whose string) *Caller {
	all := map[string]string{}
	for name, value := range env {
		expanded, err := w.known(nil).Expand(value)
		if err != nil {
			Broken("the environment of %s: %s: %v", whose, name, err)
		}
		all[name] = expanded
	}
	c, err := w.newCallerAs(manner{env: all})
	if err != nil {
		w.cannotStart(err)
	}
	return c
}

// Outlives waits until a stated time is over by this machine's clock, which is the
// server's too: that a time is over is a fact which nothing announces.
func (w *World) Outlives(stated time.Duration) {
	begun := time.Now()
	w.within(stated+w.config.Limits.Answer, "the stated time of a handle to be over", func() bool { return time.Since(begun) > stated })
}
