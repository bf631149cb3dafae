package world

import (
	"bytes"
	"testing"

	. "github.com/onsi/gomega"
)

func TestAPageThatTellsASecretIsNotPictured(t *testing.T) {
	redact := func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("hunter2"), []byte("[secret]")) }
	for text, want := range map[string]bool{"Signed in": false, "your token: hunter2": true, "": false} {
		NewWithT(t).Expect(tells(text, redact)).To(Equal(want), text)
	}
	NewWithT(t).Expect(tells("hunter2", nil)).To(BeFalse(), "nothing is known to be a secret")
}
