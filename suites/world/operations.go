package world

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// Forbidden are the entries that no definition may have, as the target file writes
// them.
func (w *World) Forbidden(params map[string]string) []json.RawMessage {
	var entries []json.RawMessage
	for i, template := range w.Target.Profiles.Workflows.Forbidden {
		entries = append(entries, w.entry(fmt.Sprintf("forbidden, the %d. one,", i+1), template, params))
	}
	return entries
}

// operationFiles are the files of the store of operations, in the order of their names.
func (w *World) operationFiles() []string {
	var files []string
	err := w.eachFile(func(rel, path string) error {
		for _, glob := range w.Target.Profiles.Workflows.Store {
			if target.MatchGlob(glob, rel) {
				files = append(files, path)
				break
			}
		}
		return nil
	})
	if err != nil {
		Broken("listing the files of the store of operations: %v", err)
	}
	return files
}

// LookAtOperations waits until the target has come to rest and records the digest
// of each file of the store of operations.
func (w *World) LookAtOperations(when string, params map[string]string) {
	w.Quiet()
	look := history.Look{Surface: history.SurfaceStore, Probe: "operations", When: when, Params: maps.Clone(params), Rows: []map[string]any{}}
	for _, file := range w.operationFiles() {
		data, err := os.ReadFile(file)
		if err != nil {
			look.Error = err.Error()
		}
		name, _ := filepath.Rel(w.dir, file)
		look.Rows = append(look.Rows, map[string]any{"file": name, "digest": fmt.Sprintf("%x", sha256.Sum256(data))})
	}
	w.config.Recorder.Record(history.Event{Kind: history.KindLook, Look: &look})
}

// SpoilCheckpoint damages the checkpoint of an operation: every file of the store
// that holds JSON and is named after the operation gets a word in its middle, where
// none belongs.
func (w *World) SpoilCheckpoint(id, word string) {
	spoilt := []string{}
	for _, path := range w.operationFiles() {
		raw, err := os.ReadFile(path)
		if err != nil {
			Broken("damaging the checkpoint of operation %s: %v", id, err)
		}
		if !strings.Contains(filepath.Base(path), id) || !json.Valid(raw) || len(raw) < 100 {
			continue
		}
		middle := len(raw) / 2
		if err := os.WriteFile(path, slices.Concat(raw[:middle], []byte(`"`+word+`"`), raw[middle:]), 0o600); err != nil {
			Broken("damaging the checkpoint of operation %s: %v", id, err)
		}
		spoilt = append(spoilt, filepath.Base(path))
	}
	if len(spoilt) == 0 {
		Inconclusive("the store has no file named after operation %s that holds JSON, so that its checkpoint could not be damaged", id)
	}
	w.Mark("checkpoint damaged", map[string]any{"operation_id": id, "files": spoilt})
}
