package sidecar

import (
	"context"
	"database/sql/driver"
	"errors"
	"os"
	"slices"

	"modernc.org/sqlite"
)

// ChildEnv makes the test binary play the role that it names.
const ChildEnv = childEnv

// LiftPoints is how many places there are in the lifts to be killed at: before
// each statement, and after the last one of each.
func LiftPoints(from int) (n int) {
	for v := from; v < ContractVersion; v++ {
		n += len(lifts[v]) + 1
	}
	return n
}

// killedAt puts the death of this process between the statements of the lifts.
func killedAt(point, from int) {
	sqlite.MustRegisterScalarFunction("die_here", 0, func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			return nil, err
		}
		if err := self.Kill(); err != nil {
			return nil, err
		}
		select {} // the signal is on its way
	})
	for v := from; v < ContractVersion; v++ {
		if point <= len(lifts[v]) {
			lifts[v] = slices.Insert(slices.Clone(lifts[v]), point, `SELECT die_here()`)
			return
		}
		point -= len(lifts[v]) + 1
	}
}

// LiftWithoutCheckpoint lifts the sidecar at path and leaves all of it in the
// WAL until it is closed.
func LiftWithoutCheckpoint(ctx context.Context, path string) (closing func() error, err error) {
	f, err := OpenFile(ctx, path, Options{}, 1)
	var version *VersionError
	if errors.As(err, &version) {
		f, err = OpenFile(ctx, path, Options{}, version.Found)
	}
	if err != nil {
		return nil, err
	}
	f.schema = schemas[ContractVersion]
	c, err := f.writer.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	err = inTransaction(ctx, c, func(ctx context.Context) error { return f.settleSchema(ctx, c) })
	if err = errors.Join(err, c.Close()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}
