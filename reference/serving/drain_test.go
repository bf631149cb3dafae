package serving

import (
	"io"
	"strings"
	"testing"
)

// Lines that can be no messages are passed over, and what else the caller has asked
// is handed on.
func TestLinesThatAreNoMessagesArePassedOver(t *testing.T) {
	const first, second = `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `[{"jsonrpc":"2.0","id":2,"method":"ping"}]`
	said := strings.Join([]string{
		"this is no JSON", first, `{"jsonrpc": "2.0", "id": 1, "method": `, "{}", "[]", "null", "7", `"text"`, "\x00\xff\xfe", "", "  ", second,
		strings.Repeat("x", 100_000), "half a line",
	}, "\n")
	d := newDrain(t.Context(), io.NopCloser(strings.NewReader(said)), nil, Door{})
	handed, err := io.ReadAll(drainIn{d})
	if err != nil {
		t.Fatal(err)
	}
	// Nobody answers here, so the end is held back until the limit of the drain.
	if want := first + "\n" + second + "\n"; string(handed) != want {
		t.Errorf("handed on is %q, want %q", handed, want)
	}
}
