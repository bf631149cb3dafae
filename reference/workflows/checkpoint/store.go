// Package checkpoint is the private store of operations: one file an operation,
// replaced as a whole, and one lock an operation that ends with its holder.
// docs/workflows.md describes the format.
package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
	"github.com/holdfast-mcp/holdfast/reference/workflows/private"
)

// Store is a folder of checkpoints.
type Store struct{ folder private.Folder }

// Open makes the store if it is missing.
func Open(path string) (*Store, error) {
	folder, err := private.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the store of operations: %w", err)
	}
	return &Store{folder}, nil
}

// The files of an operation.
func checkpointFile(id string) string { return id + ".json" }
func lockFile(id string) string       { return id + ".lock" }
func cancelFile(id string) string     { return id + ".cancel" }

// Create stores the first checkpoint. The lock file comes first and says to whom
// the operation belongs, so that this is known even of a damaged checkpoint.
func (s *Store) Create(_ context.Context, o ports.Operation) (ports.Lock, error) {
	if !Valid(o.ID) {
		return nil, fmt.Errorf("create operation %q: %w", o.ID, ports.ErrNoSuch)
	}
	owner, err := json.Marshal(o.Binding)
	if err != nil {
		return nil, fmt.Errorf("create operation %s: %w", o.ID, err)
	}
	file, err := s.folder.Make(lockFile(o.ID), append(owner, '\n'))
	if err != nil {
		return nil, fmt.Errorf("make the lock of operation %s: %w", o.ID, err)
	}
	held, err := lockNow(file)
	if err == nil {
		err = s.write(o)
	}
	if err != nil {
		// The start is refused: a checkpoint that is there all the same goes first, so
		// that none is ever there that nobody could lock.
		_, checkpoint := s.folder.Remove(checkpointFile(o.ID))
		_, lock := s.folder.Remove(lockFile(o.ID))
		return nil, errors.Join(err, file.Close(), checkpoint, lock)
	}
	return held, nil
}

// Save replaces the checkpoint.
func (s *Store) Save(_ context.Context, o ports.Operation) error {
	if !Valid(o.ID) {
		return fmt.Errorf("save operation %q: %w", o.ID, ports.ErrNoSuch)
	}
	if err := s.write(o); err != nil {
		return err
	}
	if o.State.Settled() {
		// The wish to stop has been heard, or came too late. The checkpoint is
		// stored by now: a file that stays changes nothing any more.
		_, _ = s.folder.Remove(cancelFile(o.ID))
	}
	return nil
}

func (s *Store) write(o ports.Operation) error {
	content, err := encode(o)
	if err != nil {
		return err
	}
	if err := s.folder.Replace(checkpointFile(o.ID), content); err != nil {
		return fmt.Errorf("store checkpoint %d of operation %s: %w", o.Seq, o.ID, err)
	}
	return nil
}

// Load reads one checkpoint and no other.
func (s *Store) Load(_ context.Context, id string) (ports.Operation, error) {
	if !Valid(id) {
		return ports.Operation{}, ports.ErrNoSuch
	}
	raw, err := s.folder.Read(checkpointFile(id))
	if errors.Is(err, private.ErrNotThere) {
		return ports.Operation{}, ports.ErrNoSuch
	}
	var o ports.Operation
	if err == nil {
		o, err = decode(id, raw)
	} else {
		err = fmt.Errorf("read the checkpoint of operation %s: %w", id, err)
	}
	if err != nil {
		return ports.Operation{ID: id, Binding: s.owner(id)}, err
	}
	return o, nil
}

// List is the references of the checkpoints that are there, in their order.
func (s *Store) List(context.Context) ([]string, error) {
	names, err := s.folder.Names()
	if err != nil {
		return nil, fmt.Errorf("list the operations: %w", err)
	}
	var all []string
	for _, name := range names {
		if id, is := strings.CutSuffix(name, checkpointFile("")); is && Valid(id) {
			all = append(all, id)
		}
	}
	slices.Sort(all)
	return all, nil
}

// owner is what the lock file says; nobody, if it says nothing.
func (s *Store) owner(id string) ports.Binding {
	var b ports.Binding
	raw, err := s.folder.Read(lockFile(id))
	if err != nil || json.Unmarshal(raw, &b) != nil {
		return ports.Binding{}
	}
	return b
}

// Acquire takes the lock of an operation.
func (s *Store) Acquire(_ context.Context, id string) (ports.Lock, error) {
	if !Valid(id) {
		return nil, ports.ErrNoSuch
	}
	file, err := s.folder.Edit(lockFile(id))
	if errors.Is(err, private.ErrNotThere) {
		return nil, ports.ErrNoSuch
	}
	if err != nil {
		return nil, fmt.Errorf("open the lock of operation %s: %w", id, err)
	}
	held, err := lockNow(file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return held, nil
}

// Held looks whether the lock is taken, and takes nothing: a look never makes a
// resume that comes at the same moment busy.
func (s *Store) Held(_ context.Context, id string) (bool, error) {
	if !Valid(id) {
		return false, ports.ErrNoSuch
	}
	file, err := s.folder.View(lockFile(id))
	if errors.Is(err, private.ErrNotThere) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("open the lock of operation %s: %w", id, err)
	}
	taken, err := locked(file)
	return taken, errors.Join(err, file.Close())
}

// AskCancel leaves a file that whoever runs the operation looks for.
func (s *Store) AskCancel(_ context.Context, id string) error {
	if !Valid(id) {
		return ports.ErrNoSuch
	}
	if err := s.folder.Replace(cancelFile(id), nil); err != nil {
		return fmt.Errorf("leave the wish to stop operation %s: %w", id, err)
	}
	return nil
}

// CancelAsked looks for that file.
func (s *Store) CancelAsked(_ context.Context, id string) (bool, error) {
	if !Valid(id) {
		return false, ports.ErrNoSuch
	}
	return s.folder.Has(cancelFile(id))
}
