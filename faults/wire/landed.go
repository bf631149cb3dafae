package wire

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"sync"

	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// fenceHeader marks a request of the wire's own; its value is known to the wire
// alone. Such a request is no message: it is neither recorded nor counted.
const fenceHeader = "Holdfast-Fence"

// arrivals are the connections at the message proxy on which something is under
// way: no request has come on them yet, or it is not over.
type arrivals struct {
	mu     sync.Mutex
	turns  int
	busy   map[net.Conn]int // the number of the turn at which it became busy
	fences map[string]chan<- map[net.Conn]int
}

func newArrivals() *arrivals {
	return &arrivals{busy: map[net.Conn]int{}, fences: map[string]chan<- map[net.Conn]int{}}
}

// note follows the state of a connection.
func (a *arrivals) note(conn net.Conn, state http.ConnState) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch state {
	case http.StateNew, http.StateActive:
		if a.busy[conn] == 0 {
			a.turns++
			a.busy[conn] = a.turns
		}
	default:
		delete(a.busy, conn)
	}
}

// fence sets up a fence and returns its token.
func (a *arrivals) fence() (token string, came <-chan map[net.Conn]int) {
	token = rand.Text()
	snapshot := make(chan map[net.Conn]int, 1)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fences[token] = snapshot
	return token, snapshot
}

// came says whether a request is a fence of ours; it tells the fence what was under
// way as it came, itself aside.
func (a *arrivals) came(conn net.Conn, token string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	snapshot, ours := a.fences[token]
	if !ours {
		return false
	}
	delete(a.fences, token)
	others := maps.Clone(a.busy)
	delete(others, conn)
	snapshot <- others
	return true
}

func (a *arrivals) forget(token string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.fences, token)
}

// under is how many of those connections are still in the same turn.
func (a *arrivals) under(snapshot map[net.Conn]int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for conn, number := range snapshot {
		if a.busy[conn] == number {
			n++
		}
	}
	return n
}

// Landed implements Line. Connections reach the message proxy in the order in
// which they were made, so once a connection that is made now has reached it, all
// earlier ones have; then it waits for the end of what is under way on them.
func (w *Wire) Landed(ctx context.Context) error {
	if w.arrivals == nil {
		return fmt.Errorf("wire %s speaks stdio: what its caller has sent is on one stream, and is counted when it came", w.Name())
	}
	token, came := w.arrivals.fence()
	defer w.arrivals.forget(token)
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, w.URL()+"/", nil)
	if err != nil {
		return err
	}
	ask.Header.Set(fenceHeader, token)
	ask.Close = true
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(ask)
	if err != nil {
		return fmt.Errorf("wire %s: sending a request of its own behind what was under way: %w; a wire that is cut or away lets nothing through", w.Name(), err)
	}
	answer.Body.Close()
	var others map[net.Conn]int
	select {
	case others = <-came:
	default:
		return fmt.Errorf("wire %s: the request of its own came back, and had not come to the message proxy: status %s", w.Name(), answer.Status)
	}
	err = wait.Soon(ctx, "the end of what was under way on "+w.String(), w.config.Limits.Answer, func(context.Context) (bool, error) {
		return w.arrivals.under(others) == 0, nil
	})
	if err != nil {
		return errors.Join(err, fmt.Errorf("%d connections have not ended", w.arrivals.under(others)))
	}
	return nil
}
