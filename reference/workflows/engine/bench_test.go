package engine

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/holdfast-mcp/holdfast/reference/workflows/audit"
	"github.com/holdfast-mcp/holdfast/reference/workflows/chain"
	"github.com/holdfast-mcp/holdfast/reference/workflows/checkpoint"
	"github.com/holdfast-mcp/holdfast/reference/workflows/definitions"
	"github.com/holdfast-mcp/holdfast/reference/workflows/policy"
	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
	"github.com/holdfast-mcp/holdfast/reference/workflows/private"
)

// stored fills a store with finished operations of three steps.
func stored(b *testing.B, n int) (store *checkpoint.Store, id string) {
	b.Helper()
	store, err := checkpoint.Open(filepath.Join(b.TempDir(), "store"))
	if err != nil {
		b.Fatal(err)
	}
	done := ports.Step{Tool: definitions.Publish, Arguments: json.RawMessage(`{"channel":"lobby","content":"text"}`), State: ports.Done}
	for range n {
		o := ports.Operation{ID: checkpoint.NewID(), Binding: own, Seq: 1, State: ports.Completed, Created: time.Now(), Updated: time.Now(), Steps: []ports.Step{done, done, done}}
		lock, err := store.Create(context.Background(), o)
		if err == nil {
			err = lock.Release()
		}
		if err != nil {
			b.Fatal(err)
		}
		id = o.ID
	}
	return store, id
}

// Status of one operation beside 9 others and beside 999: it reads its own alone.
func BenchmarkStatus(b *testing.B) {
	for name, n := range map[string]int{"in 10": 10, "in 1000": 1000} {
		b.Run(name, func(b *testing.B) {
			store, id := stored(b, n)
			e := New(Ports{Store: store, Policies: policies{}})
			defer e.Close()
			for b.Loop() {
				if _, err := e.Status(context.Background(), id, own); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// silent is a chat service that answers at once.
type silent struct{ ports.Chat }

func (silent) Nudge(context.Context, string, string, string) (json.RawMessage, error) {
	return json.RawMessage(`{}`), nil
}

type lenient struct{}

func (lenient) Check(string, []byte) bool { return true }

// A step's own cost, to be compared with the two durable replacements that it
// cannot do without.
func BenchmarkStep(b *testing.B) {
	b.Run("two replacements", func(b *testing.B) {
		folder, err := private.Open(filepath.Join(b.TempDir(), "folder"))
		if err != nil {
			b.Fatal(err)
		}
		content := make([]byte, 600)
		for b.Loop() {
			for range 2 {
				if err := folder.Replace("x", content); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("a step", func(b *testing.B) {
		dir := b.TempDir()
		store, err := checkpoint.Open(filepath.Join(dir, "store"))
		if err != nil {
			b.Fatal(err)
		}
		log, err := audit.Open(filepath.Join(dir, "audit", "audit.jsonl"))
		if err == nil {
			err = policy.Begin(filepath.Join(dir, "policy.json"))
		}
		if err != nil {
			b.Fatal(err)
		}
		p := policy.At(filepath.Join(dir, "policy.json"))
		e := New(Ports{Clock: clock{}, IDs: ids{}, Admit: definitions.Rules{}, Store: store, Policies: p, Background: beside, Log: nowhere(),
			Invoke: chain.Chain{Policies: p, Controls: chain.Controls(lenient{}, nil), Audit: log, Clock: clock{}, Chat: silent{}}})
		defer e.Close()
		call := StepCall{definitions.Nudge, json.RawMessage(`{"channel":"lobby","content":"text"}`)}
		for left := b.N; left > 0; {
			n := min(left, 8)
			var calls []StepCall
			for range n {
				calls = append(calls, call)
			}
			o, err := e.Start(context.Background(), ports.Binding{Profile: "writer", Target: "guild-1"}, calls)
			if err != nil {
				b.Fatal(err)
			}
			e.mu.Lock()
			r := e.runs[o.ID]
			e.mu.Unlock()
			if r != nil {
				<-r.ended
			}
			left -= n
		}
		if _, err := os.Stat(filepath.Join(dir, "audit", "audit.jsonl")); err != nil {
			b.Fatal(err)
		}
	})
}
