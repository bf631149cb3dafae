// Package sessions keeps who is signed in: random tokens that only their holder
// has, the accounts that passwords are checked against, and the cookie.
package sessions

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"time"

	"github.com/holdfast-mcp/holdfast/reference/trips/ports"
)

// Lifetime is how long a session lasts.
const Lifetime = 24 * time.Hour

// Sessions keeps sessions in rows; a token itself is stored nowhere.
type Sessions struct {
	Rows  ports.SessionRows
	Clock ports.Clock
}

// Begin makes a session and returns its token of at least 128 random bits.
func (s Sessions) Begin(ctx context.Context, user string) (string, error) {
	token := rand.Text()
	return token, s.Rows.AddSession(ctx, Digest(token), user, s.Clock.Now())
}

// Whose is the user of a session that has not expired.
func (s Sessions) Whose(ctx context.Context, token string) (string, error) {
	user, began, err := s.Rows.Session(ctx, Digest(token))
	switch {
	case errors.Is(err, ports.ErrNoSession):
		return "", ports.ErrSignedOut
	case err != nil:
		return "", err
	case s.Clock.Now().Sub(began) >= Lifetime:
		return "", ports.ErrSignedOut
	}
	return user, nil
}

// End ends a session.
func (s Sessions) End(ctx context.Context, token string) error {
	return s.Rows.RemoveSession(ctx, Digest(token))
}

// EndAll ends all sessions of a user.
func (s Sessions) EndAll(ctx context.Context, user string) error {
	return s.Rows.RemoveSessions(ctx, user)
}

// Digest is what a session is stored under: the SHA-256 of its token, in hex. The
// token is random, so that nothing slower is needed.
func Digest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Cookie is the name of the cookie with the token.
const Cookie = "trips_session"

// Bake is the cookie of a session. Scripts cannot read it, and requests from other
// sites do not carry it.
func Bake(token string) *http.Cookie {
	return &http.Cookie{Name: Cookie, Value: token, Path: "/", MaxAge: int(Lifetime.Seconds()), HttpOnly: true, SameSite: http.SameSiteStrictMode}
}

// Crumble is the cookie that removes a session's.
func Crumble() *http.Cookie {
	c := Bake("")
	c.MaxAge = -1
	return c
}

// Token is the token that a request carries, "" for none.
func Token(r *http.Request) string {
	c, err := r.Cookie(Cookie)
	if err != nil {
		return ""
	}
	return c.Value
}

// Gate lets the holder of a session through.
type Gate struct{ Sessions ports.Sessions }

// Caller says who sends a request.
func (g Gate) Caller(r *http.Request) (string, error) {
	token := Token(r)
	if token == "" {
		return "", ports.ErrSignedOut
	}
	return g.Sessions.Whose(r.Context(), token)
}
