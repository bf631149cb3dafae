package bench

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/holdfast-mcp/holdfast/reference/workflows"
	"github.com/holdfast-mcp/holdfast/reference/workflows/checkpoint"
	"github.com/holdfast-mcp/holdfast/reference/workflows/definitions"
	"github.com/holdfast-mcp/holdfast/reference/workflows/engine"
	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
	"github.com/holdfast-mcp/holdfast/reference/workflows/private"
)

// writer is the binding that the reference's first policy lets write.
var writer = ports.Binding{Profile: "writer", Target: "guild-1"}

// flows is the reference's engine on real stores in a folder, with a chat service
// that answers at once.
func flows(b *testing.B) (*engine.Engine, workflows.Config) {
	b.Helper()
	folder := b.TempDir()
	c := workflows.Config{
		Store: filepath.Join(folder, "store"), Approvals: filepath.Join(folder, "approvals"),
		Audit: filepath.Join(folder, "audit", "audit.jsonl"), Policy: filepath.Join(folder, "policy.json"),
	}
	p, err := workflows.DefaultPorts(c)
	if err != nil {
		b.Fatal(err)
	}
	p.Chat = atOnce{p.Chat}
	p.Background = func(run func()) { run() } // so that a start returns as its last step is done
	e := workflows.NewEngine(p, slog.New(slog.NewTextHandler(io.Discard, nil)))
	b.Cleanup(e.Close)
	return e, c
}

// atOnce takes a nudge and does nothing.
type atOnce struct{ ports.Chat }

func (atOnce) Nudge(context.Context, string, string, string) (json.RawMessage, error) {
	return json.RawMessage(`{"messages":["m"]}`), nil
}

// nudges are n steps of the tool that needs no confirmation.
func nudges(n int) []engine.StepCall {
	calls := make([]engine.StepCall, n)
	for i := range calls {
		calls[i] = engine.StepCall{Tool: definitions.Nudge, Arguments: json.RawMessage(`{"channel":"lobby","content":"a text of a usual length"}`)}
	}
	return calls
}

// BenchmarkStatus: the status of one operation in a store of 1,000 against that in
// a store of 10. Both are asked for many times, since one takes microseconds.
func BenchmarkStatus(b *testing.B) {
	const asked = 200
	ask := func(n int) func() time.Duration {
		e, c := flows(b)
		store, err := checkpoint.Open(c.Store)
		if err != nil {
			b.Fatal(err)
		}
		var id string
		for range n {
			o := ports.Operation{ID: checkpoint.NewID(), Binding: writer, Seq: 1, State: ports.Failed, Created: time.Now(), Updated: time.Now(),
				Steps: []ports.Step{{Tool: definitions.Nudge, Arguments: nudges(1)[0].Arguments, State: ports.StepFail}}}
			lock, err := store.Create(b.Context(), o)
			if err == nil {
				err = lock.Release()
			}
			if err != nil {
				b.Fatal(err)
			}
			id = o.ID
		}
		return func() time.Duration {
			return timed(func() {
				for range asked {
					if o, err := e.Status(b.Context(), id, writer); err != nil || o.ID != id {
						b.Fatalf("the status is %+v, %v", o, err)
					}
				}
			})
		}
	}
	few, many := ask(10), ask(1000)
	var all pairs
	for b.Loop() {
		for range 60 {
			all.take(few, many)
		}
	}
	all.tell(b, "status in a store of 1,000 ÷ in a store of 10", 1.5)
}

// BenchmarkStep: what a step costs by itself against the two durable replacements
// that it cannot do without. The chat service costs nothing here; the start and the
// end of the operation are spread over its steps.
func BenchmarkStep(b *testing.B) {
	const steps = 16
	e, c := flows(b)
	folder, err := private.Open(filepath.Join(filepath.Dir(c.Store), "bare"))
	if err != nil {
		b.Fatal(err)
	}
	content := make([]byte, 4096) // about what a checkpoint of so many steps has
	var all pairs
	for b.Loop() {
		for range 25 {
			all.take(
				func() time.Duration {
					return timed(func() {
						for range 2 * steps {
							if err := folder.Replace("bare.json", content); err != nil {
								b.Fatal(err)
							}
						}
					})
				},
				func() time.Duration {
					return timed(func() {
						o, err := e.Start(b.Context(), writer, nudges(steps))
						if err != nil {
							b.Fatal(err)
						}
						if o, err = e.Status(b.Context(), o.ID, writer); err != nil || o.State != ports.Completed {
							b.Fatalf("an operation of %d steps is %s, %v; expected completed", steps, o.State, err)
						}
					})
				},
			)
		}
	}
	all.tell(b, "a step ÷ two bare durable replacements", 2)
}
