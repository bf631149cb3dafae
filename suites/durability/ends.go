package durability

import (
	"strings"

	"github.com/holdfast-mcp/holdfast/fixtures/mcp"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// stdioOnly says why a spec about stdin and stdout is not for a target.
func stdioOnly(f *target.File) string {
	if !f.Processes[f.Helper()].MCP.Stdio {
		return "the server does not speak over stdio (mcp: stdio)"
	}
	return ""
}

// sessionsOnly says why a spec about HTTP sessions is not for a target.
func sessionsOnly(f *target.File) string {
	switch {
	case f.Processes[f.Helper()].MCP.HTTP == "":
		return "the server does not speak over HTTP (mcp: {http: …})"
	case f.Revision >= mcp.Revision20260728:
		return "from revision 2026-07-28 on there are no sessions over HTTP"
	}
	return ""
}

// ends are the specs of the two ends of stdio.
var ends = []suites.Test{
	{
		ID: "DU-13/input-closed", Clauses: []string{"DU-13"}, NotFor: stdioOnly,
		Title: "a server whose input is closed ends by itself and leaves no process behind",
		Drive: on(func(s *scene) {
			s.write()
			s.helper.ClosesInput()
		}),
		Judge: judge.EndsWithItsInput,
	},
	{
		ID: "DU-14/killed", Clauses: []string{"DU-14"}, NotFor: stdioOnly, Faults: []string{"kill-at-answer"},
		Title: "a server that is killed as its answer leaves has written nothing but messages to stdout, and so does the next one",
		Drive: on(func(s *scene) {
			for range 3 {
				s.helper.KilledAsAnswerLeaves(s.writing())
				s.helper = s.NewCaller()
			}
			s.write()
		}),
		Judge: judge.All(judge.Placed("kill-at-answer", 3), judge.OnlyMessages("")),
	},
	{
		ID: "DU-14/garbage-fed", Clauses: []string{"DU-14"}, NotFor: stdioOnly,
		Title: "a server that is fed lines which are no messages writes nothing but messages to stdout",
		Drive: on(func(s *scene) {
			for _, line := range garbage() {
				if !s.helper.Feeds(line) || s.write().Returned.Answer == nil && s.helper.Over() {
					s.helper = s.NewCaller() // it may end at what it cannot read
				}
			}
			s.write()
		}),
		Judge: judge.OnlyMessages("fed"),
	},
	{
		ID: "DU-14/full-disk", Clauses: []string{"DU-14"}, NotFor: stdioOnly, Faults: []string{"crash-point"},
		Title: "a server whose disk is full from one call of a write on writes nothing but messages to stdout",
		Drive: on(func(s *scene) {
			s.EndCallers()
			s.EachCrashPoint(world.Crash{
				Act: s.writing(), Variants: []string{"ENOSPC"}, Stays: true, Most: s.atMost(mostFullForStdout),
				Prepare:   func(helper *world.Caller) { helper.Do(s.writing()) },
				Look:      func(string) {},
				Restarted: func(run string, helper *world.Caller) { helper.Do(s.reading(run)) },
			})
		}),
		Judge: judge.OnlyMessages("crash-point"),
	},
}

// garbage are lines that are no messages of MCP, and nothing that is to be answered
// under an ID of theirs.
func garbage() []string {
	return []string{
		"this is no JSON", `{"jsonrpc": "2.0", "id": 1, "method": `, `{}`, `[]`, `null`, "\x00\xff\xfe",
		strings.Repeat("x", 100_000),
	}
}

// sessions are the specs of HTTP sessions.
var sessions = []suites.Test{
	{
		ID: "DU-16/old-session-after-a-kill", Clauses: []string{"DU-16"}, NotFor: sessionsOnly,
		Title: "after a restart a request with an old session ID is answered 404",
		Drive: on(func(s *scene) {
			old := s.helper.SessionID()
			if old == "" {
				world.Inapplicable("the server gives out no session ID over HTTP")
			}
			s.write()
			s.helper.Killed()
			s.helper = s.NewCaller()
			s.helper.AskedWith(s.helper.SessionID(), "present")
			s.helper.AskedWith("holdfast-"+strings.Repeat("0", len(old)), "invented")
			s.helper.AskedWith(old, "old")
		}),
		Judge: judge.OldSessionIsGone,
	},
}
