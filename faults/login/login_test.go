package login_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/faults/login"
	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/wait"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is an app that restores its session until it has one, behind a wire to
// an account service.
type world struct {
	t        *testing.T
	rec      *history.Recorder
	ledger   *faults.Ledger
	line     *wire.Wire
	account  atomic.Value // whom the service restores to
	requests atomic.Int64 // seen by the service
	client   *http.Client
	signed   chan string // one entry a restoration that succeeded
}

var session = wire.Match{HTTPMethod: http.MethodPost, Path: "/session"}

func open(t *testing.T) *world {
	w := &world{t: t, rec: history.NewRecorder(nil), signed: make(chan string, 8)}
	w.ledger = faults.NewLedger(w.rec)
	w.account.Store("a")
	service := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/session" {
			w.requests.Add(1)
		}
		fmt.Fprint(rw, w.account.Load())
	}))
	var err error
	if w.line, err = wire.OpenHTTP(wire.Config{Name: "account", Callee: service.URL, Recorder: w.rec}); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	w.client = &http.Client{Transport: transport}
	t.Cleanup(func() { transport.CloseIdleConnections(); w.line.Close(); service.Close() })
	return w
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// signIn starts the app: it asks until it is restored, as long as the test runs.
func (w *world) signIn() {
	ctx := soon(w.t)
	go func() {
		for ctx.Err() == nil {
			r, _ := http.NewRequestWithContext(ctx, http.MethodPost, w.line.URL()+"/session", bytes.NewReader([]byte(`{"token":"x"}`)))
			response, err := w.client.Do(r)
			if err != nil {
				continue
			}
			body, err := io.ReadAll(response.Body)
			response.Body.Close()
			if err == nil && response.StatusCode == http.StatusOK {
				w.signed <- string(body)
				return
			}
		}
	}()
}

func (w *world) wantSigned(account string) {
	w.t.Helper()
	select {
	case got := <-w.signed:
		if got != account {
			w.t.Errorf("account %s is signed in, expected %s", got, account)
		}
	case <-soon(w.t).Done():
		w.t.Fatal("nobody was signed in")
	}
}

func (w *world) wantStages(name, want string) {
	w.t.Helper()
	h, err := w.rec.History()
	if err != nil {
		w.t.Fatal(err)
	}
	all := h.Faults()
	f := all[len(all)-1]
	var got []string
	for _, e := range f.Stages {
		got = append(got, string(e.Fault.Stage))
	}
	if f.Name != name || strings.Join(got, " ") != want {
		w.t.Errorf("%s (%s) came to %q, expected %s with %q", f.Name, f.Position, strings.Join(got, " "), name, want)
	}
	if e, ok := f.Reached(history.Proven); ok && (e.Fault.By == "" || e.Fault.Proof == "") {
		w.t.Errorf("the proof says %+v", e.Fault)
	}
}

const whole = "armed matched held proven fired observed healed"

func TestHoldUntilTheConditionHolds(t *testing.T) {
	w := open(t)
	accepted := 0
	trouble := login.Hold{Line: w.line, Match: session, Until: faults.Condition{
		What: "5 calls accepted", Fact: func(context.Context) (map[string]any, bool, error) {
			accepted++
			if w.requests.Load() != 0 {
				t.Error("the account service saw a held restoration")
			}
			return map[string]any{"accepted": accepted}, accepted >= 5, nil
		},
	}}.Arm(w.ledger)
	w.signIn()
	if err := trouble.Seen(soon(t)); err != nil {
		t.Fatal(err)
	}
	if err := trouble.Release(soon(t), map[string]any{"turned_away": 1}); err != nil {
		t.Fatal(err)
	}
	w.wantSigned("a")
	w.wantStages("login-held", whole)
	w.signIn() // it holds nothing any more
	w.wantSigned("a")
}

func TestHoldThatNobodyRunsIntoIsMissed(t *testing.T) {
	w := open(t)
	limits := wait.Default()
	limits.Ready = 30 * time.Millisecond
	trouble := login.Hold{Line: w.line, Match: session, Limits: limits}.Arm(w.ledger)
	wantMissed(t, trouble.Release(soon(t), nil), history.Matched, context.DeadlineExceeded)
	if err := trouble.Heal(); err != nil {
		t.Error(err)
	}
	w.signIn()
	w.wantSigned("a")
}

func TestHoldWhoseConditionNeverHoldsIsMissed(t *testing.T) {
	w := open(t)
	limits := wait.Default()
	limits.Converge = 30 * time.Millisecond
	trouble := login.Hold{Line: w.line, Match: session, Limits: limits, Until: faults.Condition{
		What: "what never holds", Fact: func(context.Context) (map[string]any, bool, error) { return nil, false, nil },
	}}.Arm(w.ledger)
	w.signIn()
	err := trouble.Release(soon(t), nil)
	wantMissed(t, err, history.Fired, context.DeadlineExceeded)
	if err == nil || !strings.Contains(err.Error(), "what never holds") {
		t.Errorf("the error does not say what was waited for: %v", err)
	}
	trouble.Heal()
	w.wantSigned("a")
}

func TestRefuseTimes(t *testing.T) {
	w := open(t)
	trouble := login.Refuse{Line: w.line, Match: session, Times: 4}.Arm(w.ledger)
	w.signIn()
	if err := trouble.Release(soon(t), nil); err != nil {
		t.Fatal(err)
	}
	w.wantSigned("a")
	w.wantStages("login-refused", whole)
	if n := w.requests.Load(); n != 1 {
		t.Errorf("the account service saw %d restorations, expected the fifth only", n)
	}
	if n := w.line.Count(session); n != 5 {
		t.Errorf("%d restorations came, expected 5", n)
	}
}

func TestRefuseThatIsNotUsedUpIsMissed(t *testing.T) {
	w := open(t)
	limits := wait.Default()
	limits.Converge = 30 * time.Millisecond
	trouble := login.Refuse{Line: w.line, Match: session, Times: 4, Limits: limits}.Arm(w.ledger)
	wantMissed(t, trouble.Release(soon(t), nil), history.Matched, context.DeadlineExceeded)
	trouble.Heal()
	w.signIn()
	w.wantSigned("a")
}

func TestAnotherAccountFirst(t *testing.T) {
	w := open(t)
	trouble, err := login.Another{
		Line: w.line, Match: session,
		Switch: func(context.Context) error { w.account.Store("b"); return nil },
		Back:   func(context.Context) error { w.account.Store("a"); w.signIn(); return nil },
		Signed: faults.Condition{What: "the account service", Fact: func(context.Context) (map[string]any, bool, error) {
			return map[string]any{"restores_to": w.account.Load()}, w.account.Load() == "b", nil
		}},
	}.Arm(soon(t), w.ledger)
	if err != nil {
		t.Fatal(err)
	}
	w.signIn()
	w.wantSigned("b")
	if err := trouble.Release(soon(t), map[string]any{"turned_away": 1}); err != nil {
		t.Fatal(err)
	}
	w.wantSigned("a")
	w.wantStages("another-account", whole)

	broken := errors.New("the control side is down")
	_, err = login.Another{Line: w.line, Match: session, Switch: func(context.Context) error { return broken }}.Arm(soon(t), w.ledger)
	wantMissed(t, err, history.Matched, broken)
}

// stuck counts nothing: the faults must notice (design rule 12).
type stuck struct{ wire.Line }

func (stuck) Count(wire.Match) int  { return 0 }
func (stuck) Passed(wire.Match) int { return 0 }

func TestACounterThatIsStuckIsUnmasked(t *testing.T) {
	for name, arm := range map[string]func(*world) login.Trouble{
		"held": func(w *world) login.Trouble { return login.Hold{Line: stuck{w.line}, Match: session}.Arm(w.ledger) },
		"refused": func(w *world) login.Trouble {
			return login.Refuse{Line: stuck{w.line}, Match: session, Times: 1}.Arm(w.ledger)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			trouble := arm(w)
			w.signIn()
			wantMissed(t, trouble.Release(soon(t), nil), history.Matched, faults.ErrMiscounted)
			trouble.Heal()
			w.wantSigned("a")
		})
	}
}

func wantMissed(t *testing.T, err error, at history.Stage, why error) {
	t.Helper()
	var missed *faults.Missed
	if !errors.As(err, &missed) || missed.Stage != at || !errors.Is(err, why) {
		t.Errorf("expected a fault missed at %s: %v; got %v", at, why, err)
	}
}
