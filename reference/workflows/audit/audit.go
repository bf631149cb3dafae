// Package audit appends one JSON line for every call and every attempt of a
// step, before its request can leave. A line holds digests of what was said and
// never the content.
package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
	"github.com/holdfast-mcp/holdfast/reference/workflows/private"
)

// Log is an audit log.
type Log struct {
	folder private.Folder
	name   string
}

// Open makes the folder of the log if it is missing; the log is made with its
// first line.
func Open(path string) (*Log, error) {
	folder, err := private.Open(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("open the audit log: %w", err)
	}
	return &Log{folder, filepath.Base(path)}, nil
}

// Record appends one line in one write, so that lines of several processes do not
// mix, and makes it durable.
func (l *Log) Record(_ context.Context, r ports.AuditRecord) error {
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write an audit record: %w", err)
	}
	file, err := l.folder.Append(l.name)
	if err != nil {
		return fmt.Errorf("open the audit log: %w", err)
	}
	_, err = file.Write(append(line, '\n'))
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("append to the audit log: %w", err)
	}
	return nil
}
