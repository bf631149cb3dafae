package sidecar

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// plainItem is what a reader of the contract expects of an item, without SQL.
type plainItem struct {
	id, task string
	state    AnchorState // Spent for a failed start
	intents  []plainIntent
}

type plainIntent struct {
	key   string
	start bool
	state IntentState
}

// plain is the whole sidecar as a reader of the contract expects it.
type plain struct {
	items []*plainItem
	keys  map[string]string // key → item ID and digest
}

func (p *plain) usable(task string) *plainItem {
	for _, i := range p.items {
		if i.task == task && (i.state == Provisional || i.state == Live) {
			return i
		}
	}
	return nil
}

func (p *plain) item(id string) *plainItem {
	for _, i := range p.items {
		if i.id == id {
			return i
		}
	}
	return nil
}

// next is the item's runnable intent, nil if none.
func (i *plainItem) next() *plainIntent {
	if i.state != Provisional && i.state != Live {
		return nil
	}
	for k := range i.intents {
		if in := &i.intents[k]; !in.state.Terminal() && (in.start || i.state == Live) {
			return in
		}
	}
	return nil
}

func (i *plainItem) failQueued() {
	for k := range i.intents {
		if !i.intents[k].state.Terminal() {
			i.intents[k].state = Failed
		}
	}
}

// TestAnySequenceAgreesWithThePlainReading drives random commands, settlements
// and reopenings, and compares everything that can be read after each.
func TestAnySequenceAgreesWithThePlainReading(t *testing.T) {
	if raceDetector {
		t.Skip("one goroutine: the race detector has nothing to find here and makes it ten times slower")
	}
	dir := t.TempDir()
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		path := filepath.Join(dir, fmt.Sprintf("%d.db", run))
		ctx := context.Background()
		reopen := func() *Store {
			s, err := OpenStore(ctx, path, Options{Busy: 20 * time.Second})
			if err != nil {
				rt.Fatal(err)
			}
			return s
		}
		s := reopen()
		defer func() {
			if err := s.Close(); err != nil {
				rt.Error(err)
			}
		}()
		p := &plain{keys: map[string]string{}}
		issued := 0
		anyItem := func(rt *rapid.T) string {
			return fmt.Sprintf("item%d", rapid.IntRange(0, issued+1).Draw(rt, "item"))
		}
		rt.Repeat(map[string]func(*rapid.T){
			"start": func(rt *rapid.T) {
				issued++
				task := rapid.SampledFrom([]string{"t1", "t2"}).Draw(rt, "task")
				key := fmt.Sprintf("s%d", rapid.IntRange(0, 6).Draw(rt, "key"))
				o := start(fmt.Sprintf("item%d", issued), task, key)
				got, err := s.OpenWork(ctx, o)
				p.start(rt, o, got, err)
			},
			"follow": func(rt *rapid.T) {
				f := note(anyItem(rt), fmt.Sprintf("f%d", rapid.IntRange(0, 20).Draw(rt, "key")))
				got, err := s.Append(ctx, f)
				p.follow(rt, f, got, err)
			},
			"settle": func(rt *rapid.T) {
				list, err := s.Runnable(ctx)
				if err != nil {
					rt.Fatal(err)
				}
				if len(list) == 0 {
					rt.Skip("nothing to settle")
				}
				p.settle(rt, s, rapid.SampledFrom(list).Draw(rt, "intent"))
			},
			"delete": func(rt *rapid.T) {
				id := anyItem(rt)
				err := s.MarkDead(ctx, id, "deleted")
				switch item := p.item(id); {
				case item == nil:
					wantError(rt, err, ErrNeverIssued)
				case item.state == Spent:
					wantError(rt, err, ErrStartFailed)
				default:
					wantError(rt, err, nil)
					item.state = Dead
					item.failQueued()
				}
			},
			"reopen": func(rt *rapid.T) {
				if err := s.Close(); err != nil {
					rt.Fatal(err)
				}
				s = reopen()
			},
			"": func(rt *rapid.T) { p.compare(rt, s) },
		})
	})
}

func wantError(rt *rapid.T, got, want error) {
	if !errors.Is(got, want) {
		rt.Fatalf("error is %v, expected %v", got, want)
	}
}

func (p *plain) start(rt *rapid.T, o Open, got Opened, err error) {
	if was, known := p.keys[o.Key]; known {
		item := p.item(was[:len(was)-len("|t1")])
		if "|"+o.TaskKey != was[len(was)-len("|t1"):] {
			wantError(rt, err, ErrKeyReused)
			return
		}
		wantError(rt, err, nil)
		if got.Anchor.ItemID != item.id || !got.Replayed {
			rt.Fatalf("a replay answered %+v, expected item %s", got, item.id)
		}
		return
	}
	wantError(rt, err, nil)
	item := p.usable(o.TaskKey)
	if existing := item != nil; existing != got.Existing {
		rt.Fatalf("existing is %t, expected %t", got.Existing, existing)
	}
	if item == nil {
		item = &plainItem{id: o.ItemID, task: o.TaskKey, state: Provisional, intents: []plainIntent{{key: o.Key, start: true, state: Pending}}}
		p.items = append(p.items, item)
	}
	if got.Anchor.ItemID != item.id {
		rt.Fatalf("a start answered item %s, expected %s", got.Anchor.ItemID, item.id)
	}
	p.keys[o.Key] = item.id + "|" + o.TaskKey
}

func (p *plain) follow(rt *rapid.T, f Follow, got Appended, err error) {
	if of, known := p.keys[f.Key]; known {
		if of != f.ItemID {
			wantError(rt, err, ErrKeyReused)
			return
		}
		wantError(rt, err, nil)
		if !got.Replayed || got.Intent.Key != f.Key {
			rt.Fatalf("a replay answered %+v", got)
		}
		return
	}
	switch item := p.item(f.ItemID); {
	case item == nil:
		wantError(rt, err, ErrNeverIssued)
	case item.state == Dead:
		wantError(rt, err, ErrDead)
	case item.state == Spent:
		wantError(rt, err, ErrStartFailed)
	default:
		wantError(rt, err, nil)
		item.intents = append(item.intents, plainIntent{key: f.Key, state: Pending})
		p.keys[f.Key] = f.ItemID
	}
}

func (p *plain) settle(rt *rapid.T, s *Store, i Intent) {
	ctx := context.Background()
	item := p.item(i.ItemID)
	in := item.next()
	if in == nil || in.key != i.Key {
		rt.Fatalf("runnable is %+v, expected %+v", i, in)
	}
	switch rapid.SampledFrom([]Event{LateAgain, BlockedNow, FailedOnce, AppliedNow}).Draw(rt, "how") {
	case LateAgain:
		wantError(rt, s.TryLater(ctx, i.Seq, later), nil)
		in.state = Retrying
	case BlockedNow:
		wantError(rt, s.TryLater(ctx, i.Seq, blocked), nil)
		in.state = Pending
	case FailedOnce:
		wantError(rt, s.Fail(ctx, i.Seq, forGood), nil)
		in.state = Failed
		if in.start {
			item.state = Spent
			item.failQueued()
		}
	case AppliedNow:
		wantError(rt, s.Apply(ctx, i.Seq), nil)
		in.state = Applied
		if in.start {
			item.state = Live
		}
	}
}

func (p *plain) compare(rt *rapid.T, s *Store) {
	ctx := context.Background()
	var expected []string
	for _, item := range p.items {
		a, err := s.Anchor(ctx, item.id)
		if err != nil {
			rt.Fatal(err)
		}
		if a.StartFailed {
			a.State = Spent
		}
		if a.State != item.state {
			rt.Fatalf("anchor of %s is %s, expected %s", item.id, a.State, item.state)
		}
		list, err := s.IntentsOf(ctx, item.id)
		if err != nil {
			rt.Fatal(err)
		}
		var stored []plainIntent
		for _, i := range list {
			stored = append(stored, plainIntent{key: i.Key, start: i.Kind == StartKind, state: i.State})
		}
		if !slices.Equal(stored, item.intents) {
			rt.Fatalf("intents of %s are %v, expected %v", item.id, stored, item.intents)
		}
		if in := item.next(); in != nil {
			expected = append(expected, item.id+"/"+in.key)
		}
	}
	list, err := s.Runnable(ctx)
	if err != nil {
		rt.Fatal(err)
	}
	var runnable []string
	for _, i := range list {
		runnable = append(runnable, i.ItemID+"/"+i.Key)
	}
	slices.Sort(runnable)
	slices.Sort(expected)
	if !slices.Equal(runnable, expected) {
		rt.Fatalf("runnable are %v, expected %v", runnable, expected)
	}
}
