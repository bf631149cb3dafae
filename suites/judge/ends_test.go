package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

func TestEndsWithItsInput(t *testing.T) {
	s := newStory()
	s.call("write", value("v"), done())
	s.mark("input-closed", "session", "helper.1", "revision", "2025-11-25", "ended", true, "left behind", 0, "waited", "15s")
	contract, mcp := "owed by: contract", "owed by: mcp-should, basic/transports/stdio, Shutdown"
	stays := func(owed string) variant {
		return variant{finds: finds(broken("DU-13", "the server does not end when its input is closed", "helper.1, waited for 15s", owed))}
	}
	named := func(v variant, name string, e ...edit) variant { v.name, v.edits = name, e; return v }
	rules(t, EndsWithItsInput, s.told(),
		named(stays(contract), "it stays", markData("input-closed", "ended", false)),
		named(stays(mcp), "it stays, in the newest revision", markData("input-closed", "ended", false), markData("input-closed", "revision", "2026-07-28")),
		variant{"a child stays", edits(markData("input-closed", "left behind", 2)),
			finds(broken("DU-13", "the server leaves processes behind when its input is closed", "helper.1, waited for 15s: 2 of its processes still there", contract)), nil},
		variant{"it never worked", edits(ends("c1", unknown())), nil, []string{"no write was acknowledged, so that the server is not known to have worked before its input was closed"}},
	)
	never := newStory()
	never.call("write", value("v"), done())
	expectRuling(t, EndsWithItsInput, never.told(), nil, []string{"no input was closed"})
}

// onStdout tells of messages that came from stdout, with what is wrong with each.
func onStdout(s *story, frames ...[2]string) history.History {
	for _, f := range frames {
		s.rec.Record(history.Event{Kind: history.KindMessage, Message: &history.Message{Session: "helper.1", Raw: f[0], Garbage: f[1]}})
	}
	return s.told()
}

func TestOnlyMessages(t *testing.T) {
	summary := func(n string) string { return "stdout carries what is no MCP message: 1 of " + n }
	message, cut := [2]string{`{"jsonrpc":"2.0"}`}, "cut off: the stream ended before the newline, 9 bytes in"
	long := "over-long: 9000000 bytes in one message, more than 8388608 are not read"
	unread := []string{"no message was read from stdout where it mattered, so that nothing would have been seen there"}
	for name, c := range map[string]struct {
		mark   string
		before [][2]string
		behind [][2]string
		facts  []string
		doubts []string
	}{
		"messages":                       {"", nil, [][2]string{message}, nil, nil},
		"nothing":                        {"", nil, nil, nil, unread},
		"nothing behind what matters":    {"fed", [][2]string{message}, nil, nil, unread},
		"a message behind what matters":  {"fed", nil, [][2]string{message}, nil, nil},
		"a warning":                      {"", nil, [][2]string{message, {"warning: full", "not JSON"}}, []string{`session helper.1: "warning: full", it is not JSON`}, nil},
		"a warning before it":            {"fed", [][2]string{{"banner", "not JSON"}}, [][2]string{message}, []string{`session helper.1: "banner", it is not JSON`}, nil},
		"a message cut off by the kill":  {"", nil, [][2]string{message, {`{"jsonrpc`, cut}}, nil, nil},
		"a stack trace that was cut off": {"", nil, [][2]string{message, {"panic: at", cut}}, []string{`session helper.1: "panic: at", it is ` + cut}, nil},
		"a message that is too long to be read": {"", nil, [][2]string{message, {`{"jsonrpc`, long}}, nil,
			[]string{"whether all that came from stdout are messages is not known: 1 of 2 lines could not be read, the first of them " + long + "; let the calls of the target file be answered with less"}},
		"a log that is too long to be read": {"", nil, [][2]string{message, {"2026-01-01 dump", long}}, []string{`session helper.1: "2026-01-01 dump", it is ` + long}, nil},
		"a message with what is no frame":   {"", nil, [][2]string{message, {`{"a": 1}`, "no JSON-RPC message"}}, []string{`session helper.1: "{\"a\": 1}", it is no JSON-RPC message`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory()
			onStdout(s, c.before...)
			s.mark("fed", "line", "x")
			h := onStdout(s, c.behind...)
			if c.facts == nil {
				expectRuling(t, OnlyMessages(c.mark), h, nil, c.doubts)
				return
			}
			expectRuling(t, OnlyMessages(c.mark), h, finds(broken("DU-14", summary(reports.Plural(len(c.before)+len(c.behind), "line")), c.facts...)), c.doubts)
		})
	}
}

func TestWhatIsFedIsNotHeldAgainstTheServer(t *testing.T) {
	s := newStory()
	s.rec.Record(history.Event{Kind: history.KindMessage, Message: &history.Message{Session: "helper.1", Outgoing: true, Raw: "x", Garbage: "not JSON"}})
	expectRuling(t, OnlyMessages(""), onStdout(s, [2]string{`{"jsonrpc":"2.0"}`}), nil, nil)
}

func TestOldSessionIsGone(t *testing.T) {
	told := func(present, invented, old int) history.History {
		s := newStory()
		s.call("write", value("v"), done())
		for whose, status := range map[string]int{"present": present, "invented": invented, "old": old} {
			s.mark("asked-in-session", "whose", whose, "status", status, "said", "words")
		}
		return s.told()
	}
	wrong := func(summary, answer, invented string) []string {
		return []string{summary, "answer: " + answer, "with an invented session ID: " + invented, "owed by: mcp-must, basic/transports, Session Management"}
	}
	for name, c := range map[string]struct {
		h      history.History
		wrong  []string
		doubts []string
	}{
		"gone":                     {told(200, 404, 404), nil, nil},
		"kept over the restart":    {told(200, 404, 200), nil, nil},
		"any ID will do":           {told(200, 200, 200), wrong("after a restart a request with an old session ID is answered 200, expected 404", `HTTP 200: "words"`, `HTTP 200: "words"`), nil},
		"a lookup that fails":      {told(200, 500, 500), wrong("after a restart a request with an old session ID is answered 500, expected 404", `HTTP 500: "words"`, `HTTP 500: "words"`), nil},
		"refused as malformed":     {told(200, 404, 400), wrong("after a restart a request with an old session ID is answered 400, expected 404", `HTTP 400: "words"`, `HTTP 404: "words"`), nil},
		"no answer":                {told(200, 404, 0), nil, []string{"the request with the old session ID got no answer: words"}},
		"answered, and no control": {told(200, 0, 200), nil, []string{"the old session is answered, and whether any ID would be is not known: words"}},
		"the present one neither": {told(404, 404, 404), nil, []string{
			`a request with the present session ID was answered HTTP 404: "words", so that another answer to an old one says nothing`}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.wrong == nil {
				expectRuling(t, OldSessionIsGone, c.h, nil, c.doubts)
				return
			}
			expectRuling(t, OldSessionIsGone, c.h, finds(broken("DU-16", c.wrong[0], c.wrong[1:]...)), c.doubts)
		})
	}
	expectRuling(t, OldSessionIsGone, newStory().told(), nil, []string{"no write was acknowledged in the old session, so that it is not known to have been one"})
}
