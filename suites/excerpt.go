package suites

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// excerpts are parts of a history that people look for: what the harness counted
// on the wires, and the stages of the faults.
var excerpts = map[string]history.Kind{"wire.jsonl": history.KindRequest, "faults.jsonl": history.KindFault}

// excerpt writes them beside the history.
func excerpt(h history.History, folder string) error {
	var errs []error
	for name, kind := range excerpts {
		var text []byte
		for _, e := range h.Events {
			if e.Kind != kind {
				continue
			}
			line, err := json.Marshal(e)
			if err != nil {
				return fmt.Errorf("writing %s: %w", name, err)
			}
			text = append(append(text, line...), '\n')
		}
		errs = append(errs, os.WriteFile(filepath.Join(folder, name), text, 0o644))
	}
	return errors.Join(errs...)
}
