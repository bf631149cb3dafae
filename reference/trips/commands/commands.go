// Package commands applies commands to drafts: the rules and their order, and the
// one transaction in which draft and receipt change together.
package commands

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/holdfast-mcp/holdfast/reference/trips/ports"
)

// Commands applies commands over its ports.
type Commands struct {
	Store  ports.Store
	Access ports.Access
	// Rules are asked in this order.
	Rules  []ports.Rule
	Digest func(ports.Command) string
}

// Rules are the rules in their order. The identity of a command comes before its
// revision: a repetition gets its stored result although the revision that it
// expects is stale by then (RC-04).
func Rules(access ports.Access) []ports.Rule {
	return []ports.Rule{
		{Name: "complete", Check: complete},
		{Name: "access", Check: func(ctx context.Context, tx ports.Tx, a *ports.Attempt) error { return saved(ctx, tx, access, a) }},
		{Name: "identity", Check: identity},
		{Name: "fence", Check: fence},
		{Name: "revision", Check: revision},
		{Name: "status", Check: status},
	}
}

// complete refuses a command without its two identities (RC-01).
func complete(_ context.Context, _ ports.Tx, a *ports.Attempt) error {
	switch {
	case a.ID == "":
		return ports.Invalid("commandId is missing; send an ID of your own that names this command; nothing was stored")
	case a.ExpectedRevision == nil:
		return ports.Invalid("expectedRevision is missing; send the revision that the command is meant for; nothing was stored")
	}
	return nil
}

func saved(ctx context.Context, tx ports.Tx, access ports.Access, a *ports.Attempt) error {
	d, err := tx.Draft(ctx, a.Draft)
	if err != nil {
		return err
	}
	if !access.MayChange(a.User, d) {
		return ports.ErrNoDraft
	}
	a.Saved = d
	return nil
}

// identity finds a command that was applied before (RC-04), and refuses another one
// under its ID (RC-05).
func identity(ctx context.Context, tx ports.Tx, a *ports.Attempt) error {
	r, err := tx.Receipt(ctx, a.User, a.ID)
	switch {
	case errors.Is(err, ports.ErrNoReceipt):
		return nil
	case err != nil:
		return err
	case r.Digest != a.Digest:
		return ports.ErrReused
	}
	a.Stored = &r
	return nil
}

// fence refuses a command that was declared not applied (RC-28).
func fence(ctx context.Context, tx ports.Tx, a *ports.Attempt) error {
	fenced, err := tx.Fenced(ctx, a.User, a.ID)
	if err == nil && fenced {
		return ports.ErrFenced
	}
	return err
}

func revision(_ context.Context, _ ports.Tx, a *ports.Attempt) error {
	if *a.ExpectedRevision != a.Saved.Revision {
		return &ports.ConflictError{Expected: *a.ExpectedRevision, Current: a.Saved.Revision}
	}
	return nil
}

func status(_ context.Context, _ ports.Tx, a *ports.Attempt) error {
	if a.Saved.Status == ports.Submitted {
		return ports.ErrSubmitted
	}
	return nil
}

// Apply applies a command once, however often it comes, and returns its result: a
// ports.Result in JSON. Errors are those of ports; with any but ErrStore nothing was
// stored.
func (c Commands) Apply(ctx context.Context, command ports.Command) (json.RawMessage, error) {
	var result json.RawMessage
	err := c.Store.Change(ctx, func(ctx context.Context, tx ports.Tx) error {
		a := &ports.Attempt{Command: command, Digest: c.Digest(command)}
		for _, rule := range c.Rules {
			if err := rule.Check(ctx, tx, a); err != nil {
				return err
			}
			if a.Stored != nil {
				result = a.Stored.Result
				return nil
			}
		}
		r, err := receipt(a)
		if err != nil {
			return err
		}
		if err := tx.SaveDraft(ctx, a.Saved.After(a.Command)); err != nil {
			return err
		}
		result = r.Result
		return tx.StoreReceipt(ctx, r)
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

func receipt(a *ports.Attempt) (ports.Receipt, error) {
	next := a.Saved.After(a.Command)
	result, err := json.Marshal(ports.Result{CommandID: a.ID, Kind: a.Kind, FromRevision: a.Saved.Revision, ToRevision: next.Revision, Draft: next})
	if err != nil {
		return ports.Receipt{}, fmt.Errorf("write the result of command %q: %w", a.ID, err)
	}
	return ports.Receipt{
		CommandID: a.ID, Draft: a.Draft, Owner: a.User, Kind: a.Kind, Digest: a.Digest,
		From: a.Saved.Revision, To: next.Revision, Result: result,
	}, nil
}

// Fenced is what came of a fence.
type Fenced struct {
	Outcome string          `json:"outcome"`           // one of the two below
	Receipt json.RawMessage `json:"receipt,omitempty"` // with Confirmed
}

// What can come of a fence. Both are final.
const (
	Confirmed  = "confirmed"   // the command had been applied before
	NotApplied = "not_applied" // it was not, and never will be
)

// Fence decides a command whose outcome somebody does not know (RC-28). It is one
// transaction like any command, so that a command on its way comes either before it
// or never.
func (c Commands) Fence(ctx context.Context, user, draft, command string) (Fenced, error) {
	out := Fenced{Outcome: NotApplied}
	err := c.Store.Change(ctx, func(ctx context.Context, tx ports.Tx) error {
		d, err := tx.Draft(ctx, draft)
		if err != nil {
			return err
		}
		if !c.Access.MayChange(user, d) {
			return ports.ErrNoDraft
		}
		r, err := tx.Receipt(ctx, user, command)
		switch {
		case errors.Is(err, ports.ErrNoReceipt):
			return tx.Fence(ctx, user, draft, command)
		case err != nil:
			return err
		case r.Draft != draft:
			return ports.ErrReused
		}
		out = Fenced{Outcome: Confirmed, Receipt: r.Result}
		return nil
	})
	return out, err
}

// Digest is what two commands under one ID are compared by: kind, draft, expected
// revision and patch, as the SHA-256 of their JSON with sorted names, in hex.
func Digest(c ports.Command) string {
	content, err := json.Marshal(struct {
		Draft    string            `json:"draft"`
		Expected *int64            `json:"expectedRevision"`
		Kind     ports.Kind        `json:"kind"`
		Patch    map[string]string `json:"patch"`
	}{c.Draft, c.ExpectedRevision, c.Kind, c.Patch})
	if err != nil {
		panic(err) // strings and a number can be written
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Owners lets a draft's owner do everything with it, and others nothing.
type Owners struct{}

// MayRead says whether a user may see a draft.
func (Owners) MayRead(user string, d ports.Draft) bool { return user == d.Owner }

// MayChange says whether a user may change a draft.
func (Owners) MayChange(user string, d ports.Draft) bool { return user == d.Owner }
