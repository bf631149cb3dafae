// Package disk holds what goes wrong below a store: another writer that holds
// its lock, a staged file that was swapped.
package disk

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// Occupied is a SQLite store whose write lock the harness holds.
type Occupied struct {
	db   *sql.DB
	conn *sql.Conn
	path string
}

// Occupy takes the write lock of the SQLite database at path and keeps it until
// Release. It creates nothing; ctx bounds the wait for the lock.
func Occupy(ctx context.Context, path string) (*Occupied, error) {
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode=rw&_pragma=busy_timeout(5000)")
	if err != nil {
		return nil, fmt.Errorf("occupying the store %s: %w", path, err)
	}
	conn, err := db.Conn(ctx)
	if err == nil {
		_, err = conn.ExecContext(ctx, "BEGIN IMMEDIATE")
	}
	if err != nil {
		return nil, fmt.Errorf("occupying the store %s: expected to take its write lock; is it a SQLite database that exists? %w", path, errors.Join(err, db.Close()))
	}
	return &Occupied{db: db, conn: conn, path: path}, nil
}

// Refuses proves by a second connection that nobody else can write now, and
// returns what that connection was told.
func (o *Occupied) Refuses(ctx context.Context) (string, error) {
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: o.path}).EscapedPath()+"?mode=rw&_pragma=busy_timeout(0)")
	if err != nil {
		return "", err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return "", fmt.Errorf("a second connection to the occupied store %s: %w", o.path, err)
	}
	defer conn.Close()
	if _, told := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); told != nil {
		return told.Error(), nil
	}
	_, err = conn.ExecContext(ctx, "ROLLBACK")
	return "", errors.Join(fmt.Errorf("the store %s is not occupied: a second connection could begin to write", o.path), err)
}

// Release gives the lock back.
func (o *Occupied) Release(ctx context.Context) error {
	_, err := o.conn.ExecContext(ctx, "ROLLBACK")
	return errors.Join(err, o.conn.Close(), o.db.Close())
}
