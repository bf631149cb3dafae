package judge

import (
	"fmt"
	"strings"

	"github.com/holdfast-mcp/holdfast/fixtures/mcp"
	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// EndsWithItsInput (DU-13): a server that had worked ends once its input is closed,
// and leaves no process behind. From 2026-07-28 on MCP asks for that itself, with a
// SHOULD; before that it is the contract alone.
func EndsWithItsInput(h history.History) Ruling {
	var r Ruling
	if len(acknowledged(h, "write")) == 0 {
		r.doubted("no write was acknowledged, so that the server is not known to have worked before its input was closed")
	}
	closed := h.Marks("input-closed")
	if len(closed) == 0 {
		r.doubted("no input was closed")
	}
	for _, m := range closed {
		owed := "owed by: contract"
		if text(m.Data, "revision") >= mcp.Revision20260728 {
			owed = "owed by: mcp-should, basic/transports/stdio, Shutdown"
		}
		waited := fmt.Sprintf("%s, waited for %s", text(m.Data, "session"), text(m.Data, "waited"))
		switch ended, _ := m.Data["ended"].(bool); {
		case !ended:
			r.broke("DU-13", "the server does not end when its input is closed", waited, owed)
		case number(m.Data, "left behind") > 0:
			r.broke("DU-13", "the server leaves processes behind when its input is closed",
				fmt.Sprintf("%s: %d of its processes still there", waited, number(m.Data, "left behind")), owed)
		}
	}
	return r
}

// OnlyMessages (DU-14): nothing but MCP messages came from stdout. Of a server that
// was killed the last message may be cut off; one that is too long to be read may be
// one all the same. Behind a mark of that name, "" for none, at least one message has to
// have been read.
func OnlyMessages(mark string) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		read, all := 0, 0
		var none, overlong []string
		since := int64(-1)
		for _, e := range h.Events {
			switch {
			case e.Kind == history.KindMark && e.Mark.Name == mark && since < 0:
				since = e.Seq
			case e.Kind != history.KindMessage || e.Message.Outgoing:
			case e.Message.Garbage == "":
				all++
				if mark == "" || since >= 0 {
					read++
				}
			case begun(*e.Message, mcp.GarbageCutOff):
			case begun(*e.Message, mcp.GarbageOverlong):
				all++
				overlong = append(overlong, e.Message.Garbage)
			default:
				all++
				none = append(none, fmt.Sprintf("session %s: %s, it is %s", e.Message.Session, quoted([]string{shortened(e.Message.Raw, 200)}), e.Message.Garbage))
			}
		}
		if len(none) > 0 {
			r.broke("DU-14", fmt.Sprintf("stdout carries what is no MCP message: %d of %s", len(none), reports.Plural(all, "line")), most(none)...)
		} else if len(overlong) > 0 {
			r.doubted("whether all that came from stdout are messages is not known: %d of %s could not be read, the first of them %s; let the calls of the target file be answered with less", len(overlong), reports.Plural(all, "line"), overlong[0])
		}
		if read == 0 {
			r.doubted("no message was read from stdout where it mattered, so that nothing would have been seen there")
		}
		return r
	}
}

// begun says that a message was begun that could not be read to its end, for a reason
// that begins so.
func begun(m history.Message, why string) bool {
	return strings.HasPrefix(m.Garbage, why) && strings.HasPrefix(m.Raw, `{"`)
}

// OldSessionIsGone (DU-16): after a restart a request with an old session ID is
// answered 404. A server that has kept its sessions may answer it, if it is not one
// that takes any ID for a session.
func OldSessionIsGone(h history.History) Ruling {
	var r Ruling
	status, said := map[string]int{}, map[string]string{}
	for _, m := range h.Marks("asked-in-session") {
		whose := text(m.Data, "whose")
		status[whose], said[whose] = number(m.Data, "status"), text(m.Data, "said")
	}
	answered := func(whose string) string {
		return fmt.Sprintf("HTTP %d: %s", status[whose], quoted([]string{shortened(said[whose], 200)}))
	}
	switch {
	case len(acknowledged(h, "write")) == 0:
		r.doubted("no write was acknowledged in the old session, so that it is not known to have been one")
	case status["present"] != 200:
		r.doubted("a request with the present session ID was answered %s, so that another answer to an old one says nothing", answered("present"))
	case status["old"] == 0:
		r.doubted("the request with the old session ID got no answer: %s", said["old"])
	case status["old"] == 404:
	case status["old"] == 200 && status["invented"] == 0:
		r.doubted("the old session is answered, and whether any ID would be is not known: %s", said["invented"])
	case status["old"] == 200 && status["invented"] != 200:
		// The session has outlived the restart.
	default:
		r.broke("DU-16", fmt.Sprintf("after a restart a request with an old session ID is answered %d, expected 404", status["old"]),
			"answer: "+answered("old"), "with an invented session ID: "+answered("invented"), "owed by: mcp-must, basic/transports, Session Management")
	}
	return r
}
