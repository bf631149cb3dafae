package sidecar

import (
	"context"
	"database/sql"
	"errors"
)

// Contract implements Reading.
func (s *file) Contract(ctx context.Context) (int, error) {
	v, err := versionOf(ctx, s.reader)
	return v, s.explain("read the contract version", err)
}

// BoundOwner implements Reading.
func (s *file) BoundOwner(ctx context.Context) (string, error) {
	owner, err := BoundOwner(ctx, s.reader)
	return owner, s.explain("read the bound owner", err)
}

// BindOwner implements Executing.
func (s *file) BindOwner(ctx context.Context, account string) error {
	if account == "" {
		return errors.New("bind owner: no account given; bind only a restored account")
	}
	return s.write(ctx, "bind the sidecar to account "+account, func(ctx context.Context, c *sql.Conn) error {
		done, err := c.ExecContext(ctx, `INSERT INTO meta (name, value) VALUES ('bound_owner', ?) ON CONFLICT DO NOTHING`, account)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return err
		}
		for _, table := range s.schema.owned {
			if _, err := c.ExecContext(ctx, `UPDATE `+table+` SET owner = ? WHERE owner = ''`, account); err != nil {
				return err
			}
		}
		return nil
	})
}
