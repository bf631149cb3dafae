package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Nobody is the user that things are given away to.
const Nobody = 65534

// LinkAway moves a file or a folder into the folder elsewhere, which it makes, and
// leaves a symbolic link in its place. It returns where it is now, and what puts it
// back.
func LinkAway(path, elsewhere string) (moved string, back func() error, err error) {
	moved = filepath.Join(elsewhere, filepath.Base(path))
	err = os.MkdirAll(elsewhere, 0o700)
	if err == nil {
		err = os.Rename(path, moved)
	}
	if err != nil {
		return moved, nil, fmt.Errorf("putting a link in the place of %s: %w", path, err)
	}
	if err := os.Symlink(moved, path); err != nil {
		return moved, nil, errors.Join(fmt.Errorf("putting a link in the place of %s: %w", path, err), os.Rename(moved, path))
	}
	return moved, func() error {
		info, err := os.Lstat(path)
		if err == nil && KindOf(info) == "link" {
			err = os.Remove(path)
		}
		if err == nil {
			err = os.Rename(moved, path)
		}
		if err != nil {
			return fmt.Errorf("putting %s back in the place of a link: %w", path, err)
		}
		return nil
	}, nil
}

// GiveAway makes a file or folder, which is no link, that of another user; only
// root can. It returns what makes it that of its user again.
func GiveAway(path string) (back func() error, err error) {
	uid, gid, err := OwnerOf(path)
	if err == nil {
		err = os.Lchown(path, Nobody, Nobody)
	}
	if err != nil {
		return nil, fmt.Errorf("giving %s to another user: %w", path, err)
	}
	return func() error {
		if err := os.Lchown(path, uid, gid); err != nil {
			return fmt.Errorf("giving %s back to its user: %w", path, err)
		}
		return nil
	}, nil
}
