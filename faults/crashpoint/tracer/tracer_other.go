//go:build !linux || !amd64

package tracer

import (
	"fmt"
	"os"
)

// Available is ErrUnavailable here.
func Available() error { return ErrUnavailable }

func runTracer(string, []string) { refuse() }
func runShim([]string)           { refuse() }

func refuse() {
	fmt.Fprintln(os.Stderr, ErrUnavailable)
	os.Exit(125)
}
