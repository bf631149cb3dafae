package editor

import (
	"context"
	"errors"
	"net/http"

	"github.com/holdfast-mcp/holdfast/reference/editor/desk"
	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
)

// SignIn begins a session. Signing in again as the same user goes on with the
// editor as it is (RC-18); another user begins with an editor of their own (RC-23).
func (e *Editor) SignIn(ctx context.Context, user, password string) error {
	ctx, cancel := e.bounded(ctx, e.ports.Deadlines.Lookup)
	defer cancel()
	if err := e.ports.Trips.SignIn(ctx, user, password); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.user != "" && e.user != user {
		e.endSession()
	}
	e.user, e.whose = user, user
	return nil
}

// SignOut ends the session here, also where the server does not answer.
func (e *Editor) SignOut(ctx context.Context) error {
	e.locked(func() {
		e.endSession()
		e.user = ""
	})
	ctx, cancel := e.bounded(ctx, e.ports.Deadlines.Lookup)
	defer cancel()
	return e.ports.Trips.SignOut(ctx)
}

// endSession begins a new session generation at every desk. The caller holds the lock.
func (e *Editor) endSession() {
	e.session++
	for _, s := range e.desks {
		e.renew(s)
	}
}

// renew begins a new generation at a desk, and hands its answer to whoever waits
// for what was in flight there. The caller holds the lock.
func (e *Editor) renew(s *seat) {
	s.editor++
	op, a, ended := s.Renew(ports.Generations{Session: e.session, Editor: s.editor})
	if r := e.running[op.ID]; ended && r != nil {
		e.over(r, a)
	}
}

// Reload begins a new editor of a draft and reads its values anew.
func (e *Editor) Reload(ctx context.Context, draft string) (ports.View, error) {
	s := e.find(draft)
	e.locked(func() { e.renew(s) })
	return e.shown(ctx, s, e.load)
}

// Show is what the person sees. It asks the server only where nothing was read yet.
func (e *Editor) Show(ctx context.Context, draft string) (ports.View, error) {
	return e.shown(ctx, e.find(draft), e.load)
}

// Get is what the tools see: the values read anew, unless an outcome is open.
func (e *Editor) Get(ctx context.Context, draft string) (ports.View, error) {
	return e.shown(ctx, e.find(draft), e.refresh)
}

func (e *Editor) refresh(ctx context.Context, s *seat) error {
	var fresh bool
	var begun desk.Reading
	e.locked(func() { begun, fresh = s.Read(), s.Loaded() && !s.Refreshable() })
	if fresh {
		return nil
	}
	return e.read(ctx, s, begun)
}

// Type is what the person types into a field.
func (e *Editor) Type(ctx context.Context, draft string, field ports.Field, text string) (ports.View, error) {
	s := e.find(draft)
	if err := e.loadUnlessBusy(ctx, s); err != nil {
		return ports.View{}, err
	}
	var code ports.Code
	e.locked(func() { code = s.Type(field, text) })
	if code != "" {
		return ports.View{}, &NotTyped{code}
	}
	return e.Show(ctx, draft)
}

// loadUnlessBusy leaves the read to an operation that is in flight.
func (e *Editor) loadUnlessBusy(ctx context.Context, s *seat) error {
	ctx, cancel := e.bounded(ctx, e.ports.Deadlines.Lookup)
	defer cancel()
	if e.busy(s) {
		return nil
	}
	return e.load(ctx, s)
}

func (e *Editor) busy(s *seat) (busy bool) {
	e.locked(func() { busy = s.Standing().InFlight != nil })
	return busy
}

// NotTyped is why a text was not taken.
type NotTyped struct{ Code ports.Code }

func (e *NotTyped) Error() string { return "the text was not taken: " + ports.MeaningOf(e.Code) }

// shown reads a desk and shows it. While an operation is in flight its own read is
// left to it. What an editor holds already is shown also if the server does not answer.
func (e *Editor) shown(ctx context.Context, s *seat, read func(context.Context, *seat) error) (ports.View, error) {
	ctx, cancel := e.bounded(ctx, e.ports.Deadlines.Lookup)
	defer cancel()
	var err error
	if !e.busy(s) {
		err = read(ctx, s)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	v := s.View()
	v.User = e.user
	if err == nil {
		return v, nil
	}
	if now := s.Standing(); !now.Loaded && now.InFlight == nil && now.Unresolved == nil {
		return v, err
	}
	v.Code = CodeOf(err)
	v.Reason = ports.MeaningOf(v.Code)
	return v, nil
}

// CodeOf says why a read or a sign-in failed.
func CodeOf(err error) ports.Code {
	var said *ports.AnswerError
	var typed *NotTyped
	switch {
	case errors.As(err, &typed):
		return typed.Code
	case errors.As(err, &said) && said.Code == string(ports.CodeSignInRefused):
		return ports.CodeSignInRefused
	case errors.As(err, &said) && said.Status < http.StatusInternalServerError:
		return refused(said).Code
	case errors.Is(err, ports.ErrUnsent):
		return stopped(err, ports.CodeUnreachable, ports.CodeUnreachable)
	}
	return stopped(err, ports.CodeUnavailable, ports.CodeUnavailable)
}
