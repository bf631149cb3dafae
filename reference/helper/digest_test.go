package helper

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	. "github.com/onsi/gomega"
)

// Helpers in other languages compute it after docs/sidecar.md.
func TestADigestIsWhatThePageSays(t *testing.T) {
	g := NewWithT(t)
	for text, got := range map[string]string{
		"work_start\n{\"task_key\":\"t\",\"title\":\"T\",\"note\":\"n\"}":            digest("work_start", arguments{TaskKey: "t", Title: "T", Note: "n", Key: "k"}),
		"note\n{\"item_id\":\"i\",\"text\":\"a \\u003c\\u0026\\u003e\\u2028 é\\n\"}": digest("note", arguments{ItemID: "i", Text: "a <&>\u2028 é\n", Key: "k"}),
		"note\n{\"item_id\":\"i\",\"text\":\"a \\u003c b\"}":                         digest("note", arguments{ItemID: "i", Text: "a < b", Key: "k"}), // the page's example
		"status\n{\"item_id\":\"i\",\"status\":\"doing\"}":                           digest("status", arguments{ItemID: "i", Status: "doing"}),
		"cancel\n{\"item_id\":\"i\"}":                                                digest("cancel", arguments{ItemID: "i"}),
	} {
		sum := sha256.Sum256([]byte(text))
		g.Expect(got).To(Equal(hex.EncodeToString(sum[:])), text)
	}
}
