// Package private keeps files that nobody but the user reads: folders of mode
// 0700 and files of mode 0600 whatever the umask, no links followed, no other
// owner accepted, and replaced as a whole or not at all.
package private

import (
	"errors"
	"fmt"

	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// The modes of what is private.
const (
	folderMode = 0o700
	fileMode   = 0o600
)

// Folder is a private folder. It is opened anew for every use, so that one that
// was replaced is noticed (WF-28).
type Folder struct{ path string }

// Path is where the folder is.
func (f Folder) Path() string { return f.path }

// notPrivate says what is wrong with a file, and what would be right.
func notPrivate(path, found string) error {
	return fmt.Errorf("%s is %s: %w; expected something of this user alone, not a link, mode 0700 for a folder and 0600 for a file; move it away", path, found, ports.ErrNotPrivate)
}

// ErrNotThere is what is asked for and does not exist.
var ErrNotThere = errors.New("there is no such file")

// ErrThere is what is to be made and exists.
var ErrThere = errors.New("there is such a file already")
