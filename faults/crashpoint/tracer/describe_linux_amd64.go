package tracer

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/holdfast-mcp/holdfast/faults/crashpoint/trail"
)

// describer says what a call is about.
type describer struct {
	plan   trail.Plan
	names  *trail.Names
	stdout node
	stderr node
	inner  map[node]bool // pipes that the target reads itself, and those that it does not
	// threads are the numbers of the target's threads.
	threads func() []int
}

// node is the identity of a file.
type node struct{ dev, ino uint64 }

func nodeOf(st *unix.Stat_t) node { return node{st.Dev, st.Ino} }

func newDescriber(plan trail.Plan) (*describer, error) {
	names, err := plan.Check()
	if err != nil {
		return nil, err
	}
	d := &describer{plan: plan, names: names, inner: map[node]bool{}}
	var st unix.Stat_t
	if unix.Fstat(1, &st) == nil {
		d.stdout = nodeOf(&st)
	}
	if unix.Fstat(2, &st) == nil {
		d.stderr = nodeOf(&st)
	}
	return d, nil
}

// point describes the call that a thread is about to make; nil if it does not
// count.
func (d *describer) point(tid int, s *stop) *trail.Point {
	c, ok := calls[s.nr]
	if !ok {
		return nil
	}
	p := &trail.Point{Call: c.name, PID: tid}
	if c.name == "ioctl" {
		p.Call = "ficlone"
	}
	if c.size != none {
		p.Bytes = int64(s.args[c.size])
	}
	switch {
	case c.fd != none:
		ok = d.byDescriptor(p, c, tid, s)
	case c.address != none:
		ok = d.byMapping(p, tid, s.args[c.address])
	default:
		ok = d.byPath(p, c, tid, s)
	}
	if !ok {
		return nil
	}
	p.Name = d.names.Pattern(p.Path)
	p.ToName = d.names.Pattern(p.To)
	if p.Kind == trail.Ack && d.plan.Text > 0 {
		p.Text = c.written(tid, s, d.plan.Text)
	}
	return p
}

// byDescriptor looks at what the descriptor is at this moment, so that no dup and
// no close has to be followed.
func (d *describer) byDescriptor(p *trail.Point, c call, tid int, s *stop) bool {
	link := fmt.Sprintf("/proc/%d/fd/%d", tid, s.arg(c.fd))
	var st unix.Stat_t
	if unix.Stat(link, &st) != nil {
		return false // the call itself will say EBADF
	}
	p.Before = st.Size
	switch id := nodeOf(&st); {
	case id == d.stdout && id != d.stderr || id == d.stdout && s.arg(c.fd) == 1:
		return ack(p, trail.Stdout)
	case id == d.stderr:
		return false // what it logs tells nobody that something is done
	case st.Mode&unix.S_IFMT == unix.S_IFIFO:
		return !d.toItself(link, id) && ack(p, trail.Pipe)
	case st.Mode&unix.S_IFMT == unix.S_IFSOCK:
		return ack(p, trail.Socket)
	case st.Mode&unix.S_IFMT == unix.S_IFREG, st.Mode&unix.S_IFMT == unix.S_IFDIR:
		if st.Nlink == 0 {
			return false // no name any more: it dies with the process
		}
		path, err := os.Readlink(link)
		return err == nil && d.state(p, path)
	}
	return false
}

func ack(p *trail.Point, path string) bool {
	p.Kind, p.Path, p.Before = trail.Ack, path, 0
	switch p.Call {
	case "fsync", "fdatasync", "ftruncate", "fallocate", "ficlone":
		return false
	}
	return true
}

func (d *describer) state(p *trail.Point, absolute string) bool {
	path, counts := d.names.Relative(absolute)
	p.Kind, p.Path = trail.State, path
	return counts
}

// toItself: a pipe of which the target has the reading end as well tells nobody
// outside. Event loops wake themselves so, and a process talks so with its children.
func (d *describer) toItself(link string, id node) bool {
	inner, known := d.inner[id]
	if known {
		return inner
	}
	name, err := os.Readlink(link)
	if err != nil {
		return false
	}
	for _, tid := range d.threads() {
		if reads(tid, name) {
			inner = true
			break
		}
	}
	d.inner[id] = inner
	return inner
}

// reads says whether a thread's process has the reading end of a pipe.
func reads(tid int, name string) bool {
	dir := fmt.Sprintf("/proc/%d/fd", tid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false // it has ended
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if other, err := os.Readlink(path); err != nil || other != name {
			continue
		}
		// The owner's right to read the link is the descriptor's right to read.
		if info, err := os.Lstat(path); err == nil && info.Mode()&0o400 != 0 {
			return true
		}
	}
	return false
}

func (d *describer) byPath(p *trail.Point, c call, tid int, s *stop) bool {
	path, ok := d.resolve(tid, s, c.dir, c.path, c.follows)
	if !ok {
		return false
	}
	if c.opens() || c.name == "truncate" {
		if !d.sizes(p, c, tid, s, path) {
			return false
		}
	}
	counts := d.state(p, path)
	if c.path2 == none {
		return counts
	}
	to, ok := d.resolve(tid, s, c.dir2, c.path2, false)
	if !ok {
		return counts
	}
	name, counts2 := d.names.Relative(to)
	p.To = name
	return counts || counts2
}

// sizes notes down how large the file is that is opened or truncated; false if
// the call changes no file.
func (d *describer) sizes(p *trail.Point, c call, tid int, s *stop, path string) bool {
	flags := uint64(unix.O_CREAT | unix.O_TRUNC)
	switch {
	case c.how != none: // struct open_how begins with the flags
		flags = peekWord(tid, s.args[c.how])
	case c.flags != none:
		flags = s.args[c.flags]
	}
	if c.opens() && flags&(unix.O_CREAT|unix.O_TRUNC) == 0 {
		return false
	}
	p.Truncates = c.opens() && flags&unix.O_TRUNC != 0
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		p.Before = -1
		return true
	}
	p.Before = st.Size
	// Anything else is no state, and to open a fifo may wait for its other end.
	return st.Mode&unix.S_IFMT == unix.S_IFREG
}

// resolve makes a path absolute and frees it of links, as the kernel will.
func (d *describer) resolve(tid int, s *stop, dir, path int, follow bool) (string, bool) {
	name := peekString(tid, s.args[path])
	if name == "" {
		return "", false
	}
	if !filepath.IsAbs(name) {
		from := fmt.Sprintf("/proc/%d/cwd", tid)
		if dir != none && s.arg(dir) != unix.AT_FDCWD {
			from = fmt.Sprintf("/proc/%d/fd/%d", tid, s.arg(dir))
		}
		base, err := os.Readlink(from)
		if err != nil {
			return "", false
		}
		name = base + "/" + name
	}
	if follow {
		if real, err := filepath.EvalSymlinks(name); err == nil {
			return real, true
		}
	}
	// The folder's links are followed before "..", so it is not cleaned first.
	parent, last := filepath.Split(strings.TrimRight(name, "/"))
	if real, err := filepath.EvalSymlinks(parent); err == nil {
		return filepath.Join(real, last), true
	}
	return filepath.Clean(name), true
}

// byMapping finds the file of the mapping at an address.
func (d *describer) byMapping(p *trail.Point, tid int, address uint64) bool {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", tid))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(maps)) {
		var from, to uint64
		if n, _ := fmt.Sscanf(line, "%x-%x", &from, &to); n != 2 || address < from || address >= to {
			continue
		}
		at := strings.IndexByte(line, '/')
		return at >= 0 && d.state(p, strings.TrimSpace(line[at:]))
	}
	return false
}

// blind describes a call behind which the tracer sees nothing; nil if it is
// about no file that counts.
func (d *describer) blind(tid int, s *stop) *trail.Blind {
	switch {
	case s.foreign():
		return &trail.Blind{What: "foreign"}
	case s.nr == unix.SYS_IO_URING_SETUP:
		return &trail.Blind{What: "io_uring"}
	}
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tid, s.arg(4)))
	if err != nil {
		return nil
	}
	name, counts := d.names.Relative(path)
	var st unix.Stat_t
	if !counts || unix.Stat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil // a device, or memory that has no name
	}
	return &trail.Blind{What: "mmap", Path: name}
}
