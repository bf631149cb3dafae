package judge

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// drawn are the same 20 bytes for the same number, and look random.
func drawn(n int) []byte {
	sum := sha256.Sum256(fmt.Append(nil, "drawn ", n))
	return sum[:20]
}

func started(make func(n int) string) history.History {
	s := newStory()
	for n := range 150 {
		s.call("start", nil, done("operation_id", make(n)))
	}
	return s.told()
}

var lower = base32.StdEncoding.WithPadding(base32.NoPadding)

func base32ID(n int) string { return "wf_" + strings.ToLower(lower.EncodeToString(drawn(n)))[:26] }

func TestRandomIDs(t *testing.T) {
	for name, c := range map[string]struct {
		make func(n int) string
		bits int // 0: enough
	}{
		"base 32":       {make: base32ID},
		"hex, 128 bits": {make: func(n int) string { return "wf_" + hex.EncodeToString(drawn(n)[:16]) }},
		"base 64":       {make: func(n int) string { return "wf_" + base64.RawURLEncoding.EncodeToString(drawn(n))[:22] }},
		"a clock in front and enough": {make: func(n int) string {
			return fmt.Sprintf("wf_%08x-%s", 1700000000+n/7, hex.EncodeToString(drawn(n)[:16]))
		}},
		"a random UUID": {func(n int) string {
			b := drawn(n)[:16]
			b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
			return fmt.Sprintf("wf_%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
		}, 122},
		"a counter":        {func(n int) string { return fmt.Sprintf("wf_%026d", n+1000) }, 4},
		"a shortened UUID": {func(n int) string { return "wf_" + hex.EncodeToString(drawn(n)[:8]) }, 64},
		"the same, twice":  {func(n int) string { return "wf_" + strings.Repeat(hex.EncodeToString(drawn(n)[:8]), 2) }, 64},
		"a clock and few bits": {func(n int) string {
			return fmt.Sprintf("wf_%016x%s", 1700000000000000000+n*1234567, hex.EncodeToString(drawn(n)[:4]))
		}, 57},
		"one symbol too few": {func(n int) string { return base32ID(n)[:28] }, 125},
	} {
		t.Run(name, func(t *testing.T) {
			got := RandomIDs(started(c.make))
			if len(got.Doubts) > 0 || (c.bits == 0) != (len(got.Findings) == 0) {
				t.Fatalf("ruled %v, %v", got.Findings, got.Doubts)
			}
			if want := fmt.Sprintf("%d random bits", c.bits); c.bits > 0 && !strings.HasPrefix(got.Findings[0].Facts[0], want) {
				t.Errorf("found %q, expected %s", got.Findings[0].Facts[0], want)
			}
		})
	}
	rules(t, RandomIDs, started(base32ID),
		variant{"another prefix", edits(field("c7", "operation_id", "op_"+base32ID(6)[3:])), finds(broken("WF-02", "an operation ID does not begin with wf_", fmt.Sprintf("%q", "op_"+base32ID(6)[3:]))), nil},
		variant{"one twice", edits(field("c7", "operation_id", base32ID(0))), finds(broken("WF-02", "two operations have the same ID", fmt.Sprintf("%q", base32ID(0)))), nil},
	)
	few := newStory()
	few.call("start", nil, done("operation_id", base32ID(1)))
	expectRuling(t, RandomIDs, few.told(), nil, []string{"1 operations were started, and 100 IDs are needed to see what they are made of"})
}
