package web

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serving is a server of a handler on a free port, its address, and its end.
func serving(t *testing.T, ctx context.Context, handler http.HandlerFunc, leaving func()) (url string, ended <-chan error, listener net.Listener) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	end := make(chan error, 1)
	go func() { end <- Serve(ctx, &http.Server{Handler: handler}, listener, leaving) }()
	return "http://" + listener.Addr().String(), end, listener
}

// asked is what a request is answered with, or the error of it.
func asked(url string) (string, error) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(url)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return string(raw), err
}

func TestAnAnswerThatIsUnderWayIsGivenBeforeTheEnd(t *testing.T) {
	g := NewWithT(t)
	ctx, cancel := context.WithCancel(t.Context())
	reached, goOn := make(chan bool), make(chan bool)
	url, ended, _ := serving(t, ctx, func(w http.ResponseWriter, _ *http.Request) {
		close(reached)
		<-goOn
		_, _ = io.WriteString(w, "whole")
	}, func() { close(goOn) })
	answer := make(chan string, 1)
	go func() {
		said, err := asked(url)
		if err != nil {
			said = err.Error()
		}
		answer <- said
	}()
	<-reached
	cancel()
	g.Expect(<-ended).To(Succeed())
	g.Expect(<-answer).To(Equal("whole"))
	_, err := asked(url)
	g.Expect(err).To(HaveOccurred(), "the listener is closed")
}

func TestAnAnswerThatDoesNotEndIsCut(t *testing.T) {
	g := NewWithT(t)
	ctx, cancel := context.WithCancel(t.Context())
	reached := make(chan bool)
	url, ended, _ := serving(t, ctx, func(_ http.ResponseWriter, r *http.Request) {
		close(reached)
		<-r.Context().Done() // of its connection
	}, nil)
	failed := make(chan error, 1)
	go func() {
		_, err := asked(url)
		failed <- err
	}()
	<-reached
	cancel()
	g.Expect(<-ended).To(Succeed())
	g.Expect(<-failed).To(HaveOccurred())
}

func TestAnEndThatNobodyAskedForIsAnError(t *testing.T) {
	_, ended, listener := serving(t, t.Context(), func(http.ResponseWriter, *http.Request) {}, nil)
	listener.Close()
	NewWithT(t).Expect(<-ended).To(MatchError(net.ErrClosed))
}
