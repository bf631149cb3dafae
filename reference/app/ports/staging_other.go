//go:build !unix

package ports

const nonBlocking = 0
