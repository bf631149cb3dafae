package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/holdfast-mcp/holdfast/reference/app/library"
	"github.com/holdfast-mcp/holdfast/reference/app/ports"
	"github.com/holdfast-mcp/holdfast/reference/sidecar"
)

// settle makes one attempt at an intent and tells the sidecar how it ended. It
// returns the failure with which the intent is kept, nil if it is settled. An
// error means that the sidecar was not told; the next attempt finds the mark
// that the library keeps.
func (e *Executor) settle(ctx context.Context, in sidecar.Intent) (*sidecar.Failure, error) {
	failure := e.attempt(ctx, in)
	if err := ctx.Err(); err != nil {
		return nil, err // the attempt was interrupted, which says nothing about the intent
	}
	if failure == nil {
		return nil, e.told(in, e.Sidecar.Apply(ctx, in.Seq))
	}
	f := e.Classifier.Classify(failure)
	if f.Class == sidecar.Permanent {
		e.Log.Info("an intent failed", "seq", in.Seq, "item_id", in.ItemID, "kind", in.Kind, "code", f.Code)
		if errors.Is(failure, library.ErrNoItem) {
			e.sick.Store(true)
		}
		return nil, e.told(in, e.Sidecar.Fail(ctx, in.Seq, f))
	}
	return &f, e.told(in, e.Sidecar.TryLater(ctx, in.Seq, f))
}

// told makes nothing of an intent that was settled meanwhile, as by a deletion.
func (e *Executor) told(in sidecar.Intent, err error) error {
	if err == nil || errors.Is(err, sidecar.ErrSettled) {
		return nil
	}
	return fmt.Errorf("settling intent %d of item %s: %w", in.Seq, in.ItemID, err)
}

// attempt applies an intent, or says what turned it away. What can be seen
// without an owner comes first, then the guard, and access last of all, right
// before the write (WR-20).
func (e *Executor) attempt(ctx context.Context, in sidecar.Intent) error {
	if e.Contract != e.accepted {
		return ports.VersionMismatch{App: e.Contract, Sidecar: e.accepted}
	}
	order, err := read(in)
	if err != nil {
		return err
	}
	done, err := e.Library.Done(ctx, order.mark)
	if err != nil {
		return err
	}
	if !done && order.attachment != "" {
		if err := e.Staging.Inspect(order.attachment); err != nil {
			return err
		}
	}
	state := e.Account.Current()
	locked, err := e.Library.Locked(ctx)
	if err != nil {
		return err
	}
	if err := e.Guard.Admit(in.Owner, ports.Situation{Account: state, Locked: locked}); err != nil {
		return err
	}
	if done {
		return nil // written before a kill; only the sidecar does not know it
	}
	if err := e.Access.Check(ctx, state.Account); err != nil {
		return err
	}
	return e.apply(ctx, ports.GrantOf(state, e.Account), order)
}

func (e *Executor) apply(ctx context.Context, g library.Grant, o order) error {
	if o.draft != nil {
		err := e.Library.Create(ctx, g, o.mark, *o.draft)
		if errors.Is(err, library.ErrExists) {
			return nil // an older app made it and left no mark (WR-11)
		}
		return err
	}
	if o.attachment != "" {
		content, err := e.Staging.Read(o.attachment)
		if err != nil {
			return err
		}
		o.change.Note.Attachment = &library.Attachment{Name: filepath.Base(o.attachment), Content: content}
	}
	return e.Library.Update(ctx, g, o.mark, o.change)
}

// order is what an intent asks of the library. draft is set for a start alone.
type order struct {
	mark       library.Mark
	draft      *library.Draft
	change     library.Change
	attachment string // staged path, "" for none
}

// read turns an intent into an order, or says why nobody ever can (ErrContent,
// ErrAttachmentOutside).
func read(in sidecar.Intent) (order, error) {
	o := order{mark: library.Mark{ItemID: in.ItemID, Seq: in.Seq}}
	switch in.Kind {
	case sidecar.StartKind:
		var p sidecar.StartPayload
		if err := decode(in, &p); err != nil {
			return o, err
		}
		o.draft = &library.Draft{Title: p.Title, Status: string(sidecar.Todo)}
	case sidecar.NoteKind:
		var p sidecar.NotePayload
		if err := decode(in, &p); err != nil {
			return o, err
		}
		if p.Attachment != "" && !filepath.IsLocal(p.Attachment) {
			return o, ports.ErrAttachmentOutside
		}
		o.change.Note, o.attachment = &library.Note{Text: p.Text}, p.Attachment
	case sidecar.StatusKind:
		var p sidecar.StatusPayload
		if err := decode(in, &p); err != nil {
			return o, err
		}
		if !slices.Contains(sidecar.SettableStatuses(), p.Status) {
			return o, fmt.Errorf("%w: the status %q is none of %v", ports.ErrContent, p.Status, sidecar.SettableStatuses())
		}
		o.change.Status = string(p.Status)
	case sidecar.CompleteKind:
		o.change.Status = string(sidecar.Done)
	case sidecar.CancelKind:
		o.change.Status = string(sidecar.Cancelled)
	default:
		return o, fmt.Errorf("%w: this app knows no command %q", ports.ErrContent, in.Kind)
	}
	return o, nil
}

func decode(in sidecar.Intent, into any) error {
	if err := json.Unmarshal(in.Payload, into); err != nil {
		return fmt.Errorf("%w: the payload of the %s is not readable", ports.ErrContent, in.Kind)
	}
	return nil
}
