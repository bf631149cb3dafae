package session

import (
	"context"
	"sync"
	"time"
)

// Restorer asks the account service for the session behind a token.
type Restorer interface {
	Restore(ctx context.Context, token string) (State, error)
}

// Session keeps the State and restores it in the background. It is safe for
// concurrent use.
type Session struct {
	service Restorer
	initial string
	retry   time.Duration

	mu      sync.Mutex
	state   State
	token   string        // what is to be restored, "" while signed out
	changed chan struct{} // closed and replaced with every change of the account
	wanted  chan struct{} // closed and replaced when another token is to be restored
}

// New makes a session that restores token once Run is called, and tries again
// after retry as long as that fails.
func New(service Restorer, token string, retry time.Duration) *Session {
	s := &Session{service: service, initial: token, retry: retry, token: token,
		changed: make(chan struct{}), wanted: make(chan struct{})}
	s.state = State{Phase: Unresolved, Generation: 1, Reason: "the session is not restored yet"}
	if token == "" {
		s.state.Phase, s.state.Reason = SignedOut, "nobody has signed in"
	}
	return s
}

// Current is the account now.
func (s *Session) Current() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Changed is closed at the next change of the account.
func (s *Session) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// SignIn restores another token from now on; "" means the one that the app was
// started with. Until it is restored the account is unresolved.
func (s *Session) SignIn(token string) {
	if token == "" {
		token = s.initial
	}
	if token == "" {
		return
	}
	s.want(token, State{Phase: Unresolved, Reason: "the session is not restored yet"})
}

// SignOut forgets the account. Nothing is decided until somebody signs in.
func (s *Session) SignOut() {
	s.want("", State{Phase: SignedOut, Reason: "the person signed out"})
}

func (s *Session) want(token string, state State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token = token
	close(s.wanted)
	s.wanted = make(chan struct{})
	s.set(state)
}

// set replaces the state and tells of it. The caller holds mu.
func (s *Session) set(state State) {
	state.Generation = s.state.Generation + 1
	s.state = state
	close(s.changed)
	s.changed = make(chan struct{})
}

// Run restores what is wanted until ctx ends.
func (s *Session) Run(ctx context.Context) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for ctx.Err() == nil {
		s.mu.Lock()
		token, wanted := s.token, s.wanted
		s.mu.Unlock()
		again := token != "" && s.attempt(ctx, token, wanted)
		if again {
			pause.Reset(s.retry)
		} else {
			pause.Stop()
		}
		select {
		case <-ctx.Done():
		case <-wanted:
		case <-pause.C:
		}
	}
}

// attempt tries once to restore; true means that it is to be tried again. What
// comes after another token is wanted changes nothing.
func (s *Session) attempt(ctx context.Context, token string, wanted <-chan struct{}) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-wanted:
			cancel()
		case <-stop:
		}
	}()
	state, err := s.service.Restore(ctx, token)

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wanted != wanted {
		return false
	}
	switch {
	case err != nil:
		s.state.Refusals++
		if s.state.Phase == Unresolved {
			s.state.Reason = err.Error()
		}
		return true
	case state.Phase == Denied:
		// Access may come back, so it is asked again; only a change is told.
		if s.state.Phase != Denied || s.state.Account != state.Account {
			s.set(state)
		}
		s.state.Refusals++
		return true
	}
	s.set(state)
	return false
}
