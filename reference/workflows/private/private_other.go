//go:build !unix

package private

import (
	"errors"
	"fmt"
	"os"
)

// Open says that this system has no files that could be kept private in this way.
func Open(path string) (Folder, error) {
	return Folder{}, fmt.Errorf("keep %s private: %w on this system; the reference's workflows run on Linux", path, errors.ErrUnsupported)
}

// What follows is never reached, because no Folder can be opened.

func (f Folder) Read(string) ([]byte, error)           { return nil, errors.ErrUnsupported }
func (f Folder) Has(string) (bool, error)              { return false, errors.ErrUnsupported }
func (f Folder) Names() ([]string, error)              { return nil, errors.ErrUnsupported }
func (f Folder) Replace(string, []byte) error          { return errors.ErrUnsupported }
func (f Folder) Make(string, []byte) (*os.File, error) { return nil, errors.ErrUnsupported }
func (f Folder) Edit(string) (*os.File, error)         { return nil, errors.ErrUnsupported }
func (f Folder) View(string) (*os.File, error)         { return nil, errors.ErrUnsupported }
func (f Folder) Append(string) (*os.File, error)       { return nil, errors.ErrUnsupported }
func (f Folder) Remove(string) (bool, error)           { return false, errors.ErrUnsupported }
