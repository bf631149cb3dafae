package wire

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

// front is the toxiproxy that the caller connects to; it carries the byte-level
// faults.
type front struct {
	name   string
	number int64 // of the wire, for its guards
	proxy  *toxiproxy.Proxy
	done   chan struct{}

	mu        sync.Mutex
	latencies []string // names of the latency toxics in place
	guards    int      // pairs added after the first
	severed   bool
	closed    bool
}

func openFront(name, upstream string) (*front, error) {
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
	f := &front{
		name: name, number: wires.Add(1), done: make(chan struct{}),
		proxy: toxiproxy.NewProxy(server, name, "127.0.0.1:0", upstream),
	}
	closing.Store(f.number, f.done)
	if err := f.guard(0); err != nil {
		closing.Delete(f.number)
		return nil, err
	}
	if err := f.proxy.Start(); err != nil {
		closing.Delete(f.number)
		return nil, fmt.Errorf("wire %s: starting toxiproxy on 127.0.0.1: %w", name, err)
	}
	return f, nil
}

func (f *front) addr() string { return f.proxy.Listen }

// guard ends both directions of the chain with a guard.
func (f *front) guard(which int) error {
	for _, direction := range directions {
		attributes := fmt.Sprintf(`{"wire":%d}`, f.number)
		if err := f.add(fmt.Sprintf("guard_%d_%s", which, direction), guardToxic, direction, attributes); err != nil {
			return err
		}
	}
	return nil
}

// directions in toxiproxy's words: to the callee, to the caller.
var directions = []string{"upstream", "downstream"}

// add puts a toxic at the end of the chain. Toxicity is 1: toxiproxy's own dice
// are unseeded.
func (f *front) add(name, kind, direction, attributes string) error {
	spec := fmt.Sprintf(`{"name":%q,"type":%q,"stream":%q,"toxicity":1,"attributes":%s}`, name, kind, direction, attributes)
	if _, err := f.proxy.Toxics.AddToxicJson(strings.NewReader(spec)); err != nil {
		return fmt.Errorf("wire %s: adding %s (%s, %s) to toxiproxy: %w", f.name, name, kind, direction, err)
	}
	return nil
}

func (f *front) remove(name string) error {
	if err := f.proxy.Toxics.RemoveToxic(context.Background(), name); err != nil {
		return fmt.Errorf("wire %s: taking %s away from toxiproxy: %w", f.name, name, err)
	}
	return nil
}

// delay sets the latency of both directions, zero for none. A latency is not
// changed in place: toxiproxy's update races with the traffic.
func (f *front) delay(toCallee, toCaller time.Duration) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return fmt.Errorf("wire %s is closed: no delay can be set on it", f.name)
	}
	for _, name := range f.latencies {
		if err := f.remove(name); err != nil {
			return err
		}
	}
	f.latencies = nil
	if toCallee == 0 && toCaller == 0 {
		return nil
	}
	f.guards++
	for i, d := range []time.Duration{toCallee, toCaller} {
		name := "latency_" + directions[i]
		attributes := fmt.Sprintf(`{"latency":%d,"jitter":0}`, d.Milliseconds())
		if err := f.add(name, "latency", directions[i], attributes); err != nil {
			return err
		}
		f.latencies = append(f.latencies, name)
	}
	return f.guard(f.guards)
}

// sever cuts every connection, and those that come until mend, in both
// directions: when it returns, nothing that is still under way in toxiproxy comes
// out of it any more.
func (f *front) sever() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.severed || f.closed {
		return nil
	}
	for _, direction := range directions {
		if err := f.add("cut_"+direction, cutToxic, direction, "{}"); err != nil {
			return err
		}
	}
	f.severed = true
	return nil
}

func (f *front) mend() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.severed || f.closed {
		return nil
	}
	for _, direction := range directions {
		if err := f.remove("cut_" + direction); err != nil {
			return err
		}
	}
	f.severed = false
	return nil
}

// away lets go of the address, so that the operating system refuses connections
// to it, or takes it again.
func (f *front) away(on bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		return fmt.Errorf("wire %s is closed: its address cannot be let go or taken again", f.name)
	case on:
		f.proxy.Stop()
		return nil
	}
	if err := f.proxy.Start(); err != nil {
		return fmt.Errorf("wire %s: taking the address %s again: %w", f.name, f.proxy.Listen, err)
	}
	return nil
}

func (f *front) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	f.closed = true
	close(f.done) // first, so that no link blocks while the proxy stops
	f.proxy.Stop()
	closing.Delete(f.number)
}
