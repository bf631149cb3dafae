// Package web is how a process of the reference serves HTTP and leaves.
package web

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// grace is how long answers that are under way may take once the process is to leave.
const grace = time.Second

// Serve serves on a listener until ctx is done, and then leaves: leaving, when not nil,
// is called first, answers that are under way get a second, and what has not ended by
// then is cut. An error is why serving ended before that; the listener is closed in any
// case.
func Serve(ctx context.Context, server *http.Server, listener net.Listener, leaving func()) error {
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	if leaving != nil {
		leaving()
	}
	answers, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := server.Shutdown(answers); err != nil {
		_ = server.Close() // cuts what did not end; there is nothing else to do
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
