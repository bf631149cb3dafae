package disk

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
)

// MarkVersion makes the sidecar at path, which nobody has open, one of another
// contract version, as docs/sidecar.md has the mark: it is set in a copy, which
// then takes the sidecar's place. Where inWAL the mark is left in the write-ahead
// log, as an owner leaves it that was killed; else there is no log afterwards, also
// where an owner that left in order had left one. scratch is a folder for the copy.
func MarkVersion(ctx context.Context, path, scratch string, version int, inWAL bool) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("marking the sidecar %s as one of contract version %d: %w", path, version, err)
		}
	}()
	folder, err := os.MkdirTemp(scratch, "newer-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	replica := filepath.Join(folder, "sidecar.db")
	if err := copyOver(path, replica); err != nil {
		return err
	}
	// What an owner left in its log is part of the sidecar.
	if err := copyOver(path+"-wal", replica+"-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: replica}).EscapedPath()+"?mode=rw&_pragma=wal_autocheckpoint(0)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	done, err := db.ExecContext(ctx, `UPDATE meta SET value = ? WHERE name = 'contract_version'`, fmt.Sprint(version))
	if err != nil {
		return fmt.Errorf("%w; expected the tables of docs/sidecar.md", err)
	}
	if n, err := done.RowsAffected(); err != nil || n != 1 {
		return errors.Join(fmt.Errorf("%d rows tell its contract version, expected one", n), err)
	}
	if !inWAL {
		if _, err := db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
			return err
		}
		for _, side := range []string{"-wal", "-shm"} {
			if err := os.Remove(path + side); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return copyOver(replica, path)
	}
	return errors.Join(copyOver(replica+"-wal", path+"-wal"), copyOver(replica, path))
}

func copyOver(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
