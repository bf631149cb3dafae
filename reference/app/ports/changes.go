package ports

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"sync"

	_ "modernc.org/sqlite" // the driver
)

// DataVersion is the real Changes: SQLite's data_version, which is per
// connection and moves with every commit of another one.
type DataVersion struct {
	db *sql.DB

	mu   sync.Mutex
	conn *sql.Conn
	last int64
}

// NewDataVersion watches the sidecar at a path, which must exist when Changed
// is called.
func NewDataVersion(path string) (*DataVersion, error) {
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode=rw&_pragma=query_only(1)&_pragma=busy_timeout(200)")
	if err != nil {
		return nil, fmt.Errorf("watching the sidecar %s: %w", path, err)
	}
	return &DataVersion{db: db, last: -1}, nil
}

// Changed implements Changes.
func (d *DataVersion) Changed(ctx context.Context) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conn == nil {
		conn, err := d.db.Conn(ctx)
		if err != nil {
			return false, fmt.Errorf("watching the sidecar: %w", err)
		}
		d.conn, d.last = conn, -1
	}
	var version int64
	if err := d.conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version); err != nil {
		// A new connection starts over and says changed.
		d.conn.Close()
		d.conn = nil
		return false, fmt.Errorf("watching the sidecar: %w", err)
	}
	changed := version != d.last
	d.last = version
	return changed, nil
}

// Close lets go of the file.
func (d *DataVersion) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conn != nil {
		d.conn.Close()
	}
	return d.db.Close()
}
