// Package trail holds what a tracer notes down of a target, and what the harness
// tells it: pure data, and pure functions over it.
package trail

import "slices"

// Kind says why a system call is counted.
type Kind string

const (
	// State: the call concerns a file that holds durable state.
	State Kind = "state"
	// Ack: the call may tell somebody outside that something is done.
	Ack Kind = "ack"
)

// What the path of an acknowledgement is called.
const (
	Stdout = "stdout"
	Pipe   = "pipe"
	Socket = "socket"
)

// Point is one counted system call.
type Point struct {
	// N is its number in the order in which the calls were let go, from 1.
	N int `json:"n"`
	// Call is the kernel's name of it ("pwrite64").
	Call string `json:"call"`
	Kind Kind   `json:"kind"`
	// Path is relative to the root that it lies in, or Stdout, Pipe or Socket.
	Path string `json:"path"`
	// Name is Path with what differs from run to run replaced; see Naming.Pattern.
	Name string `json:"name"`
	// To and ToName are the same of the new name, in a rename or a link.
	To     string `json:"to,omitempty"`
	ToName string `json:"to_name,omitempty"`
	// Occurrence counts the calls of this Call and Name, from 1.
	Occurrence int `json:"occurrence"`
	// Bytes are what was to be written, or the new length, where the call says so.
	Bytes int64 `json:"bytes,omitempty"`
	// Before is the size of the file before an open or a truncate, -1 if there was none.
	Before int64 `json:"before,omitempty"`
	// Truncates: the open empties the file.
	Truncates bool `json:"truncates,omitempty"`
	// Thread numbers the threads by their first point, Index the points of a thread, from 1.
	Thread int `json:"thread"`
	Index  int `json:"index"`
	// PID is the thread's number while it lived.
	PID int `json:"pid"`
	// Text is the beginning of what was written, of acknowledgements, if asked for.
	Text string `json:"text,omitempty"`
	// Done: the call came to its end, and Result is what the kernel returned: a
	// negative one is an error number.
	Done   bool  `json:"done"`
	Result int64 `json:"result"`
	// Instead names the error that was returned instead of executing it.
	Instead string `json:"instead,omitempty"`
}

// syncs change nothing that a killed process would not have left as well.
var syncs = []string{"fsync", "fdatasync", "msync"}

// Syncs says whether the call only forces to disk what is written already.
func (p Point) Syncs() bool { return slices.Contains(syncs, p.Call) }

// Changes says whether the call changed what a killed process leaves, or told
// somebody something. Of a call that did not come to its end it says what it
// would have done.
func (p Point) Changes() bool {
	if p.Instead != "" || p.Done && p.Result < 0 {
		return false
	}
	if p.Kind == Ack {
		return !p.Done || p.Result > 0
	}
	if p.Syncs() || WALIndex(p.Path) {
		return false
	}
	switch p.Call {
	case "open", "openat", "openat2", "creat":
		return p.Before < 0 || p.Truncates && p.Before > 0
	case "truncate", "ftruncate":
		return p.Before != p.Bytes
	case "write", "pwrite64", "writev", "pwritev", "pwritev2", "sendfile", "copy_file_range", "splice":
		return !p.Done || p.Result > 0
	}
	return true
}

// Same says whether two points are the same call on the same file, by pattern.
func (p Point) Same(q Point) bool {
	return p.Call == q.Call && p.Kind == q.Kind && p.Name == q.Name && p.ToName == q.ToName
}

// Blind is something that the target does and the tracer does not see.
type Blind struct {
	// What: "mmap" (a file that is written through memory), "io_uring", or
	// "foreign" (system calls of another word size).
	What string `json:"what"`
	// Path is the mapped file, relative to its root.
	Path string `json:"path,omitempty"`
}

// Harmless: the WAL index of SQLite is always mapped, and rebuilt after a crash.
func (b Blind) Harmless() bool { return b.What == "mmap" && WALIndex(b.Path) }

// String says it to a person.
func (b Blind) String() string {
	switch b.What {
	case "mmap":
		return "the target writes " + b.Path + " through memory (mmap)"
	case "io_uring":
		return "the target uses an io_uring, whose writes are no system calls"
	case "foreign":
		return "the target makes system calls of another word size"
	}
	return b.What + " " + b.Path
}
