package world

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

// onePage is a page that answers as it is told to.
type onePage struct {
	text string
	err  error
}

func (p onePage) Text(context.Context) (string, error)       { return p.text, p.err }
func (p onePage) Screenshot(context.Context) ([]byte, error) { return []byte("picture"), p.err }

func TestWhyAPictureIsLeftOut(t *testing.T) {
	redact := func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("hunter2"), []byte("[secret]")) }
	gone := errors.New("reading the page: the browser was ended by SIGKILL")
	for name, c := range map[string]struct {
		page    onePage
		kept    string
		leftOut string
		err     error
	}{
		"a page":                         {page: onePage{text: "Signed in"}, kept: "picture"},
		"one that tells a secret":        {page: onePage{text: "token: hunter2"}, leftOut: "the page shows a secret"},
		"one that does not answer":       {page: onePage{err: fmt.Errorf("reading the page: %w", context.DeadlineExceeded)}, leftOut: "reading the page: context deadline exceeded"},
		"one whose browser is not there": {page: onePage{err: gone}, err: gone},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			picture, leftOut, err := pictured(t.Context(), c.page, redact)
			if c.err == nil {
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(string(picture)).To(Equal(c.kept))
			} else {
				g.Expect(err).To(MatchError(c.err))
			}
			g.Expect(leftOut).To(Equal(c.leftOut))
		})
	}
}

// changing is a page that shows another text at each look.
type changing struct{ texts []string }

func (c *changing) Text(context.Context) (string, error) {
	text := c.texts[0]
	c.texts = c.texts[1:]
	return text, nil
}
func (c *changing) Screenshot(context.Context) ([]byte, error) { return []byte("picture"), nil }

func TestASecretThatComesWhileThePictureIsTaken(t *testing.T) {
	g := NewWithT(t)
	redact := func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("hunter2"), []byte("[secret]")) }
	picture, leftOut, err := pictured(t.Context(), &changing{[]string{"Signed in", "token: hunter2"}}, redact)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(picture).To(BeNil())
	g.Expect(leftOut).To(Equal("the page shows a secret"))
}

func TestThatTheTimeOfTheSpecIsUpIsNotThePages(t *testing.T) {
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("over"))
	_, leftOut, err := pictured(ended, onePage{err: context.DeadlineExceeded}, nil)
	NewWithT(t).Expect(err).To(HaveOccurred())
	NewWithT(t).Expect(leftOut).To(BeEmpty())
}
