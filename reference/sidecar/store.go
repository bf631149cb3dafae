package sidecar

import (
	"context"
	"database/sql"
)

// Store is the sidecar of ContractVersion.
type Store struct{ *file }

var (
	_ Accepting = (*Store)(nil)
	_ Reading   = (*Store)(nil)
	_ Executing = (*Store)(nil)
)

// OpenStore opens the sidecar at path, creates it where there is none, and lifts
// one of an older contract version (WR-42). It keeps the file to its user (0600).
// Errors: *VersionError for a newer version, ErrUnreadable for a damaged or
// foreign file, ErrBusy, ErrStorage.
func OpenStore(ctx context.Context, path string, o Options) (*Store, error) {
	f, err := openFile(ctx, path, o, schemas[ContractVersion])
	if err != nil {
		return nil, err
	}
	return &Store{f}, nil
}

// File is a sidecar of an older contract version, for those that speak it.
type File struct{ *file }

// OpenFile is OpenStore for a contract version from 1 to ContractVersion.
func OpenFile(ctx context.Context, path string, o Options, version int) (*File, error) {
	f, err := openFile(ctx, path, o, schemas[version])
	if err != nil {
		return nil, err
	}
	return &File{f}, nil
}

// Write runs do as one transaction on a file of this version. Errors of do, and
// *VersionError, ErrBusy, ErrStorage; nothing is stored then.
func (f *File) Write(ctx context.Context, doing string, do func(context.Context, *sql.Conn) error) error {
	return f.write(ctx, doing, do)
}

// Read runs do on a file of this version.
func (f *File) Read(ctx context.Context, doing string, do func(Querier) error) error {
	err := f.agree(ctx, f.reader)
	if err == nil {
		err = do(f.reader)
	}
	return f.explain(doing, err)
}
