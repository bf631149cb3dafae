// Package approval keeps the confirmations that previews hand out. Each works
// once, for exactly what was previewed, and for a time (WF-06).
package approval

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
	"github.com/holdfast-mcp/holdfast/reference/workflows/private"
)

// Store is a private folder with one file an open confirmation.
type Store struct {
	folder private.Folder
	clock  ports.Clock
	ids    ports.IDs
}

// Open makes the folder if it is missing.
func Open(path string, clock ports.Clock, ids ports.IDs) (*Store, error) {
	folder, err := private.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the store of confirmations: %w", err)
	}
	return &Store{folder, clock, ids}, nil
}

// shape is what the ID of a confirmation looks like; nothing else becomes a path.
var shape = regexp.MustCompile(`\Acf_[a-z2-7]{26}\z`)

type stored struct {
	Hash    string    `json:"hash"`
	Issued  time.Time `json:"issued"`
	Expires time.Time `json:"expires"`
}

func file(id string) string { return id + ".json" }

// Issue stores a confirmation.
func (s *Store) Issue(_ context.Context, hash string, ttl time.Duration) (ports.Confirmation, error) {
	now := s.clock.Now()
	entry := stored{Hash: hash, Issued: now, Expires: now.Add(ttl)}
	raw, err := json.Marshal(entry)
	if err != nil {
		return ports.Confirmation{}, fmt.Errorf("write a confirmation: %w", err)
	}
	id := s.ids.NewConfirmation()
	if err := s.folder.Replace(file(id), append(raw, '\n')); err != nil {
		return ports.Confirmation{}, fmt.Errorf("store a confirmation: %w", err)
	}
	return ports.Confirmation{Hash: hash, ID: id, Expires: entry.Expires.UTC().Format(time.RFC3339Nano)}, nil
}

// Use uses a confirmation up. The removal of its file is what makes it one-time:
// of any number of callers, in any number of processes, one removes it.
func (s *Store) Use(_ context.Context, id, hash string, ttl time.Duration) error {
	if !shape.MatchString(id) {
		return ports.ErrApproval
	}
	raw, err := s.folder.Read(file(id))
	if errors.Is(err, private.ErrNotThere) {
		return ports.ErrApproval
	}
	if err != nil {
		return fmt.Errorf("read a confirmation: %w", err)
	}
	var entry stored
	if json.Unmarshal(raw, &entry) != nil || subtle.ConstantTimeCompare([]byte(entry.Hash), []byte(hash)) != 1 {
		return ports.ErrApproval
	}
	removed, err := s.folder.Remove(file(id))
	if err != nil {
		return fmt.Errorf("use up a confirmation: %w", err)
	}
	now := s.clock.Now()
	if !removed || !now.Before(entry.Expires) || !now.Before(entry.Issued.Add(ttl)) {
		return ports.ErrApproval
	}
	return nil
}
