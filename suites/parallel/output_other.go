//go:build !linux

package parallel

// takeOutput leaves the output with Ginkgo, which shows it in its log.
func takeOutput(string) error { return nil }
