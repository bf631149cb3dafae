package bench

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binary is the product, built for these measurements.
var binary string

func TestMain(m *testing.M) { os.Exit(measureAll(m)) }

// measureAll builds the product where something is measured with it, and tells
// all measurements in one table. An exceeded bound is exit code 1.
func measureAll(m *testing.M) (code int) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		return m.Run()
	}
	folder, err := build()
	defer os.RemoveAll(folder)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code = m.Run()
	if len(measured) > 0 {
		fmt.Printf("\n%s\n", table(measured))
	}
	if exceeded(measured) {
		return 1
	}
	return code
}

// build builds the binary as make build does, in a folder of its own.
func build() (folder string, err error) {
	if folder, err = os.MkdirTemp("", "bench-"); err != nil {
		return "", fmt.Errorf("making a folder for the binary: %w", err)
	}
	binary = filepath.Join(folder, "holdfast")
	cmd := exec.Command("go", "build", "-trimpath", "-o", binary, "../cmd/holdfast")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return folder, fmt.Errorf("building the binary to measure: %w\n%s", err, said)
	}
	return folder, nil
}
