package ports

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// MaxAttachment bounds an attachment, in bytes.
const MaxAttachment = 1 << 20

// Folder is the real Staging: a folder that no path, and no symlink in it, leads
// out of. "" means that nothing can be staged.
type Folder string

// Inspect implements Staging.
func (f Folder) Inspect(path string) error {
	file, err := f.open(path)
	if err != nil {
		return err
	}
	return file.Close()
}

// Read implements Staging.
func (f Folder) Read(path string) ([]byte, error) {
	file, err := f.open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, MaxAttachment+1))
	if err != nil {
		return nil, fmt.Errorf("reading the staged attachment: %w", err)
	}
	if len(content) > MaxAttachment {
		return nil, tooLarge()
	}
	return content, nil
}

// open looks at a file through os.Root, so that a symlink that was swapped in
// after acceptance is seen at the moment of opening.
func (f Folder) open(path string) (*os.File, error) {
	if !filepath.IsLocal(path) {
		return nil, ErrAttachmentOutside
	}
	if f == "" {
		return nil, ErrAttachmentMissing
	}
	root, err := os.OpenRoot(string(f))
	if err != nil {
		return nil, missingOr(err)
	}
	defer root.Close()
	// Stat first: opening a pipe would wait for its writer.
	info, err := root.Stat(path)
	if err != nil {
		return nil, missingOr(err)
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: the attachment is no regular file", ErrContent)
	case info.Size() > MaxAttachment:
		return nil, tooLarge()
	}
	file, err := root.OpenFile(path, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, missingOr(err)
	}
	return file, nil
}

func tooLarge() error {
	return fmt.Errorf("%w: the attachment has more than %d bytes", ErrContent, MaxAttachment)
}

// missingOr tells a file that is not there from a path that leads out. os.Root
// has no exported error for the second; it is the only other one that a path
// can cause besides the system's own.
func missingOr(err error) error {
	var failed *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrAttachmentMissing
	case errors.As(err, &failed) && failed.Err.Error() == "path escapes from parent":
		return ErrAttachmentOutside
	}
	return fmt.Errorf("opening the staged attachment: %w", err)
}
