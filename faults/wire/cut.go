package wire

import (
	"context"
	"fmt"
)

// Cut severs the caller's connections at toxiproxy and returns when the proxy
// has seen them end. With CallerOnly the callee's side stays open: what it still
// answers is drained. With Both the callee sees the disconnect too: its HTTP
// exchanges are aborted, its stdin and stdout closed. Requests that come until
// Heal are lost; a request that was held before the cut may still be released.
func (w *Wire) Cut(side Side) error {
	if side != CallerOnly && side != Both {
		return fmt.Errorf("cutting wire %s: expected wire.CallerOnly or wire.Both", w.Name())
	}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return fmt.Errorf("cutting wire %s: it is closed already", w.Name())
	}
	w.side = max(w.side, side)
	callers := make([]caller, 0, len(w.callers))
	for _, c := range w.callers {
		callers = append(callers, c)
	}
	w.mu.Unlock()

	if err := w.front.sever(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(w.ctx, w.config.Limits.Stop)
	defer cancel()
	for i, c := range callers {
		select {
		case <-c.gone:
		case <-ctx.Done():
			return fmt.Errorf("cutting wire %s: %d of %d connections of its caller did not end within %v: %w",
				w.Name(), len(callers)-i, len(callers), w.config.Limits.Stop, ctx.Err())
		}
	}
	if side == Both {
		for _, c := range callers {
			c.sever()
		}
	}
	return nil
}

// Heal implements Line.
func (w *Wire) Heal() error {
	w.mu.Lock()
	for _, h := range w.hooks {
		h.live = false
	}
	w.hooks = nil
	stations := w.stations
	w.stations = nil
	severed := w.stdio && w.side != 0
	if w.side != 0 {
		w.epoch++ // what comes on a connection of before is lost, however late it is read
	}
	w.mu.Unlock()
	for _, s := range stations {
		s.Release()
	}
	if err := w.front.delay(0, 0); err != nil {
		return err
	}
	if severed {
		return fmt.Errorf("healing wire %s: %w", w.Name(), ErrSevered)
	}
	if err := w.front.mend(); err != nil {
		return err
	}
	w.mu.Lock()
	w.side = 0
	w.mu.Unlock()
	return nil
}
