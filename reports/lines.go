package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"
)

// Started is one line of started.jsonl: a worker has begun a spec.
type Started struct {
	// Run names the run whose worker it is.
	Run string    `json:"run"`
	Key string    `json:"key"`
	PID int       `json:"pid"` // of the worker
	At  time.Time `json:"at"`
}

// Finished is one line of results.jsonl: what became of a spec.
type Finished struct {
	// Run names the run whose worker wrote the line. A worker may outlive a run that
	// was killed, so that its line may come into the folder of a later one.
	Run string `json:"run"`
	Spec
}

// Append adds one JSON line to a file in a single write, so that lines of
// several processes do not mix and a killed one leaves no half line behind it
// but at the very end.
func Append(path string, value any) error {
	line, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("appending to %s: %w", path, err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("appending to %s: %w; "+roomy, path, err)
	}
	_, err = f.Write(append(line, '\n'))
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("appending to %s: %w; "+roomy, path, err)
	}
	return nil
}

// Lines follows a file of JSON lines of type T while others append to it.
type Lines[T any] struct {
	Path   string
	offset int64
	line   int
}

// Next returns the lines that were completed since the last call. A file that is
// not there yet has none; a line that is cut at the end of the file is left for
// later. A line that is no JSON is an error, told once.
func (l *Lines[T]) Next() ([]T, error) {
	f, err := os.Open(l.Path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("following %s: %w", l.Path, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, l.offset, 1<<62))
	if err != nil {
		return nil, fmt.Errorf("following %s: %w", l.Path, err)
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	l.offset += int64(len(text))
	var found []T
	var broken error
	for line := range bytes.Lines(text) {
		l.line++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var value T
		if err := json.Unmarshal(line, &value); err != nil {
			broken = fmt.Errorf("%s line %d: expected one JSON object a line: %w", l.Path, l.line, err)
			continue
		}
		found = append(found, value)
	}
	return found, broken
}
