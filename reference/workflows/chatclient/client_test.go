package chatclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// service answers every connection with the same bytes, and counts requests.
func service(t *testing.T, answer string) (base string, requests *atomic.Int32) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	requests = &atomic.Int32{}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			buffer := make([]byte, 64<<10)
			if n, _ := c.Read(buffer); n > 0 {
				requests.Add(1)
			}
			_, _ = io.WriteString(c, answer)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-ended
	})
	return "http://" + listener.Addr().String(), requests
}

func response(status int, header, body string) string {
	return fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n%s\r\n%s", status, len(body), header, body)
}

// What an answer means: done, a definite no, or doubt. None is asked for twice.
func TestWhatAnAnswerMeans(t *testing.T) {
	const stated = `{"code":"x","applied":false}`
	for name, c := range map[string]struct {
		answer string
		done   bool
		status int // of a definite no
		after  time.Duration
	}{
		"a receipt":                       {answer: response(200, "", `{"messages":["m"]}`), done: true},
		"400":                             {answer: response(400, "", stated), status: 400},
		"404 without a word":              {answer: response(404, "", "not here"), status: 404},
		"429":                             {answer: response(429, "Retry-After: 7\r\n", stated), status: 429, after: 7 * time.Second},
		"503 that says so":                {answer: response(503, "", stated), status: 503},
		"503 that says nothing":           {answer: response(503, "", `{"code":"x"}`)},
		"503 that says it was applied":    {answer: response(503, "", `{"applied":true}`)},
		"a gateway's 504":                 {answer: response(504, "", "<html>")},
		"200 that is no receipt":          {answer: response(200, "", "<html>")},
		"a redirect":                      {answer: response(302, "Location: /elsewhere\r\n", "")},
		"cut before the answer":           {answer: ""},
		"cut in the status line":          {answer: "HTTP/1.1 2"},
		"cut in the body":                 {answer: strings.TrimSuffix(response(200, "", `{"messages":["m"]}`), `"]}`)},
		"a 503 that was cut short":        {answer: strings.TrimSuffix(response(503, "", stated), "}")},
		"something that is not even HTTP": {answer: "hello\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			base, requests := service(t, c.answer)
			raw, err := New(base, "", time.Minute).Publish(t.Context(), "lobby", "the canary", "key")
			var refused *ports.RefusedError
			switch {
			case c.done:
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(raw).To(MatchJSON(`{"messages":["m"]}`))
			case c.status != 0:
				g.Expect(errors.As(err, &refused)).To(BeTrue(), "%v", err)
				g.Expect([]any{refused.Status, refused.RetryAfter}).To(Equal([]any{c.status, c.after}))
			default:
				g.Expect(err).To(HaveOccurred())
				g.Expect(errors.As(err, &refused)).To(BeFalse(), "it is in doubt")
				g.Expect(err).NotTo(MatchError(ports.ErrUnsent))
			}
			if err != nil {
				g.Expect(err.Error()).NotTo(ContainSubstring("canary"))
			}
			g.Expect(requests.Load()).To(Equal(int32(1)))
		})
	}
}

func TestWhatNeverLeft(t *testing.T) {
	g := NewWithT(t)
	_, err := New("http://127.0.0.1:1", "", time.Minute).Publish(t.Context(), "lobby", "x", "")
	g.Expect(err).To(MatchError(ports.ErrUnsent))
	base, requests := service(t, response(200, "", "{}"))
	gone, leave := context.WithCancel(t.Context())
	leave()
	_, err = New(base, "", time.Minute).Publish(gone, "lobby", "x", "")
	g.Expect(err).To(MatchError(ports.ErrUnsent))
	_, err = New(base, filepath.Join(t.TempDir(), "none"), time.Minute).Publish(t.Context(), "lobby", "x", "")
	g.Expect(err).To(And(MatchError(ports.ErrUnsent), MatchError(os.ErrNotExist)))
	_, err = New("http://a b", "", time.Minute).Publish(t.Context(), "lobby", "x", "")
	g.Expect(err).To(And(MatchError(ports.ErrUnsent), MatchError(ContainSubstring("set CHAT_URL"))))
	g.Expect(requests.Load()).To(BeZero())
}

func TestAnAnswerThatDoesNotComeIsDoubt(t *testing.T) {
	g := NewWithT(t)
	arrived, letGo := make(chan struct{}, 1), make(chan struct{})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	server := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived <- struct{}{}; <-letGo })}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	ctx, abort := context.WithCancel(t.Context())
	answered := make(chan error, 1)
	go func() {
		_, err := New("http://"+listener.Addr().String(), "", time.Minute).SetTopic(ctx, "lobby", "x", "")
		answered <- err
	}()
	<-arrived
	abort()
	err = <-answered
	g.Expect(err).To(MatchError(context.Canceled))
	g.Expect(err).NotTo(MatchError(ports.ErrUnsent))
	close(letGo)
	g.Expect(server.Close()).To(Succeed())
	<-ended
}

func TestEachToolHasItsRequest(t *testing.T) {
	g := NewWithT(t)
	var seen []string
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		seen = append(seen, r.Method+" "+r.URL.EscapedPath()+" "+string(raw)+" "+r.Header.Get("Authorization"))
		_, _ = io.WriteString(w, `{"messages":[{"n":1},{"n":2},{"n":3}],"topic":"t","delivery":"complete"}`)
	})}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	token := filepath.Join(t.TempDir(), "token")
	g.Expect(os.WriteFile(token, []byte("secret\n"), 0o600)).To(Succeed())
	c := New("http://"+listener.Addr().String()+"/", token, time.Minute)
	read, err := c.ReadMessages(t.Context(), "a/b", 2)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read).To(MatchJSON(`{"messages":[{"n":2},{"n":3}],"topic":"t"}`), "the newest")
	_, err = c.Publish(t.Context(), "c", "text", "k")
	g.Expect(err).NotTo(HaveOccurred())
	_, err = c.Update(t.Context(), "c", "m", "text", "")
	g.Expect(err).NotTo(HaveOccurred())
	_, err = c.SetTopic(t.Context(), "c", "topic", "")
	g.Expect(err).NotTo(HaveOccurred())
	_, err = c.Nudge(t.Context(), "c", "text", "")
	g.Expect(err).NotTo(HaveOccurred())
	_, delivery, err := c.Compose(t.Context(), "c", []string{"a", "b"}, "")
	g.Expect([]any{delivery, err}).To(Equal([]any{ports.Complete, nil}))
	g.Expect(server.Close()).To(Succeed())
	<-ended
	g.Expect(seen).To(Equal([]string{
		"GET /channels/a%2Fb/messages  Bearer secret",
		`POST /channels/c/messages {"content":"text","key":"k"} Bearer secret`,
		`PATCH /channels/c/messages/m {"content":"text"} Bearer secret`,
		`PUT /channels/c/topic {"topic":"topic"} Bearer secret`,
		`POST /channels/c/nudges {"content":"text"} Bearer secret`,
		`POST /channels/c/posts {"parts":["a","b"]} Bearer secret`,
	}))
}

func TestAReceiptWithoutAWordIsUnverified(t *testing.T) {
	for body, want := range map[string]ports.Delivery{
		`{"delivery":"complete"}`: ports.Complete, `{"delivery":"partial"}`: ports.Partial, `{"delivery":"unverified"}`: ports.Unverified,
		`{"delivery":"fine"}`: ports.Unverified, `{}`: ports.Unverified, `[]`: ports.Unverified,
	} {
		base, _ := service(t, response(200, "", body))
		_, delivery, err := New(base, "", time.Minute).Compose(t.Context(), "c", []string{"a"}, "")
		NewWithT(t).Expect([]any{delivery, err}).To(Equal([]any{want, nil}), body)
	}
}
