package world

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// LookAtTools records what each tool says of itself: its name, and the access
// that it declares to need, "" for none.
func (c *Caller) LookAtTools() {
	look := history.Look{Surface: history.SurfaceAnswer, Probe: "tools"}
	for _, tool := range c.tools() {
		var entry map[string]any
		if err := json.Unmarshal(tool.Raw, &entry); err != nil {
			Broken("reading the entry of %s in tools/list: %v", tool.Name, err)
		}
		access, err := c.w.Target.DeclaredAccess(entry)
		if err != nil {
			look.Error = fmt.Sprintf("the declared access of %s: %v", tool.Name, err)
		}
		look.Rows = append(look.Rows, map[string]any{"name": tool.Name, "access": access})
	}
	c.w.config.Recorder.Record(history.Event{Kind: history.KindLook, Look: &look})
}

// LookAtStores waits until the target has come to rest and records the digest of
// each file of its stores. The index of a SQLite WAL, which every reader writes
// and which is made anew, is left out.
func (w *World) LookAtStores(when string) {
	w.Quiet()
	look := history.Look{Surface: history.SurfaceStore, Probe: "stores", When: when, Rows: []map[string]any{}}
	for _, store := range []string{"sidecar", "library"} {
		for _, file := range w.store(store) {
			if strings.HasSuffix(file, "-shm") {
				continue
			}
			data, err := os.ReadFile(file)
			if err != nil {
				look.Error = err.Error()
			}
			name, _ := filepath.Rel(w.dir, file)
			look.Rows = append(look.Rows, map[string]any{"store": store, "file": name, "digest": fmt.Sprintf("%x", sha256.Sum256(data))})
		}
	}
	w.config.Recorder.Record(history.Event{Kind: history.KindLook, Look: &look})
}
