package wire

import (
	"fmt"
	"strings"
)

// Match is a position on a wire: which call, which occurrence, which phase. An
// empty field matches everything.
type Match struct {
	Method     string // JSON-RPC method
	Tool       string // of a tools/call
	Path       string // HTTP path, exactly
	HTTPMethod string
	// Where looks deeper. Of an answer it gets the answer, which carries its request.
	Where func(Message) bool
	// Occurrence is 1 for the first match counted from arming, the default.
	Occurrence int
	// Answer is the phase: the answer to a matching request, else the request.
	Answer bool
	// Exchange takes the messages of one exchange only.
	Exchange int64
}

// fits says whether a message is what m describes, its occurrence aside. What a
// callee says unasked fits nothing: no request asked for it.
func (m Match) fits(msg *Message) bool {
	if m.Answer != msg.Answer || msg.Answer && msg.Request == nil {
		return false
	}
	if m.Exchange != 0 && m.Exchange != msg.Exchange ||
		m.HTTPMethod != "" && m.HTTPMethod != msg.HTTPMethod ||
		m.Path != "" && m.Path != msg.Path {
		return false
	}
	return m.names(msg) && (m.Where == nil || m.Where(*msg))
}

// names compares method and tool; of a batch any part will do.
func (m Match) names(msg *Message) bool {
	if m.Method == "" && m.Tool == "" {
		return true
	}
	request := msg
	if msg.Request != nil {
		request = msg.Request
	}
	for _, c := range request.calls {
		if (m.Method == "" || m.Method == c.method) && (m.Tool == "" || m.Tool == c.tool) {
			return true
		}
	}
	return false
}

func (m Match) occurrence() int { return max(m.Occurrence, 1) }

// Call names the call that m describes: its tool, else its method or path.
func (m Match) Call() string {
	switch {
	case m.Tool != "":
		return m.Tool
	case m.Method != "":
		return m.Method
	case m.HTTPMethod != "" || m.Path != "":
		return strings.TrimSpace(m.HTTPMethod + " " + m.Path)
	case m.Exchange != 0:
		return fmt.Sprintf("exchange %d", m.Exchange)
	}
	return "any call"
}

// Phase is the word "request" or "answer".
func (m Match) Phase() string {
	if m.Answer {
		return "answer"
	}
	return "request"
}

// String is the position in words: "work_start · 1st · answer".
func (m Match) String() string {
	return fmt.Sprintf("%s · %s · %s", m.Call(), ordinal(m.occurrence()), m.Phase())
}

func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, suffix)
}
