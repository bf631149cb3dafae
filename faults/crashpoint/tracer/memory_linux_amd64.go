package tracer

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

const page = 4096

// peek reads up to len(to) bytes of a thread's memory, as far as it is mapped.
func peek(tid int, address uint64, to []byte) []byte {
	if len(to) == 0 || address == 0 {
		return nil
	}
	n, err := unix.ProcessVMReadv(tid,
		[]unix.Iovec{{Base: &to[0], Len: uint64(len(to))}},
		[]unix.RemoteIovec{{Base: uintptr(address), Len: len(to)}}, 0)
	if err != nil {
		return nil
	}
	return to[:n]
}

// peekString reads a string that ends with NUL. It reads page by page, because
// what lies behind the string need not be mapped.
func peekString(tid int, address uint64) string {
	var text []byte
	for len(text) < unix.PathMax {
		part := peek(tid, address, make([]byte, page-address%page))
		if len(part) == 0 {
			return ""
		}
		if end := bytes.IndexByte(part, 0); end >= 0 {
			return string(append(text, part[:end]...))
		}
		text = append(text, part...)
		address += uint64(len(part))
	}
	return ""
}

// peekWord reads a word, 0 if it is not mapped.
func peekWord(tid int, address uint64) uint64 {
	word := peek(tid, address, make([]byte, 8))
	if len(word) < 8 {
		return 0
	}
	return binary.LittleEndian.Uint64(word)
}

// firstOf finds the first buffer of an iovec.
func firstOf(tid int, vector uint64) (address, length uint64) {
	return peekWord(tid, vector), peekWord(tid, vector+8)
}

// written reads the beginning of what a call writes or sends.
func (c call) written(tid int, s *stop, limit int) string {
	var address, length uint64
	switch {
	case c.text != none:
		address, length = s.args[c.text], s.args[c.size]
	case c.vector != none:
		address, length = firstOf(tid, s.args[c.vector])
	case c.message != none: // struct msghdr: name, its length, iovec
		address, length = firstOf(tid, peekWord(tid, s.args[c.message]+16))
	}
	return string(peek(tid, address, make([]byte, min(uint64(limit), length))))
}
