//go:build !linux

package checkpoint

import (
	"errors"
	"fmt"
	"os"

	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

func lockNow(file *os.File) (ports.Lock, error) {
	return nil, fmt.Errorf("lock %s: %w on this system; the reference's workflows run on Linux", file.Name(), errors.ErrUnsupported)
}

func locked(file *os.File) (bool, error) {
	return false, fmt.Errorf("look at the lock of %s: %w on this system", file.Name(), errors.ErrUnsupported)
}
