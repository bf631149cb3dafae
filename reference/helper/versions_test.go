package helper

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/sidecar"
	"github.com/holdfast-mcp/holdfast/reference/toolspec"
)

// versions says the same to every question.
type versions struct {
	err   error
	asked int
}

func (v *versions) Agree(context.Context) error {
	v.asked++
	return v.err
}

func TestNoCommandIsAcceptedForAnAppOfAnotherVersion(t *testing.T) {
	b := newBench(t)
	item := b.start("t", "k").ItemID
	b.note(item, "n0")
	before := b.numbers()
	v := &versions{err: &AppVersionError{App: 2, Helper: 3}}
	b.work.ports.Versions = v
	for _, tool := range []string{toolspec.WorkStart, toolspec.WorkNote, toolspec.WorkStatus, toolspec.WorkComplete, toolspec.WorkCancel} {
		a := args{"item_id": item, "idempotency_key": "of " + tool}
		switch tool {
		case toolspec.WorkStart:
			a = args{"task_key": "another", "title": "T", "idempotency_key": "of " + tool}
		case toolspec.WorkNote:
			a["text"] = "n"
		case toolspec.WorkStatus:
			a["status"] = "doing"
		}
		got := b.call(tool, a)
		b.expectFailure(got, sidecar.Permanent, sidecar.CodeVersionMismatch)
		b.Expect(got.Failure.Reason).To(And(ContainSubstring("version 2"), ContainSubstring("version 3")), tool)
	}
	b.Expect(v.asked).To(Equal(5))
	b.Expect(b.numbers()).To(Equal(before))
	b.call(toolspec.WorkGet, args{"item_id": item})
	b.expectFailure(b.call(toolspec.WorkNote, args{"text": "no item"}), sidecar.Permanent, toolspec.CodeInvalidArguments)
	b.Expect(v.asked).To(Equal(5), "a read asks as it reads, a malformed call is refused before")
	v.err = nil
	b.Expect(b.note(item, "n1").State).To(Equal("queued"))
}

func TestEveryCallIsRefusedOverANewerSidecar(t *testing.T) {
	b := newBench(t)
	item := b.start("t", "k").ItemID
	path := b.work.cfg.Sidecar
	open := func(context.Context, string, sidecar.Options) (Sidecar, error) {
		return nil, errors.Join(errors.New("no"), &sidecar.VersionError{Path: path, Found: 4, Supported: 3})
	}
	set, err := toolspec.Specs()
	b.Expect(err).NotTo(HaveOccurred())
	cfg := b.work.cfg
	cfg.Stderr = &text{}
	ports, closing, err := PortsFor(b.Context(), cfg, Dialect{Version: 3, Tools: set}, open)
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(closing()).To(Succeed())
	b.Expect(string(*cfg.Stderr.(*text))).To(And(ContainSubstring("version 4"), ContainSubstring("version 3")))
	b.work.ports = ports
	for _, got := range []Answer{b.start("t2", "k2"), b.note(item, "n"), b.call(toolspec.WorkGet, args{"item_id": item})} {
		b.expectFailure(got, sidecar.Permanent, sidecar.CodeVersionMismatch)
		b.Expect(got.Failure.Reason).To(Equal("use sidecar " + path + ": it has contract version 4, this build supports version 3: start a build that supports it"))
	}
}

// text is a log.
type text []byte

func (x *text) Write(p []byte) (int, error) {
	*x = append(*x, p...)
	return len(p), nil
}

func TestAWordOfAnotherVersionIsRefusedNamingTheSupportedOne(t *testing.T) {
	b := newBench(t)
	item := b.start("t", "k").ItemID
	before := b.numbers()
	for tool, a := range map[string]args{
		toolspec.WorkStatus: {"item_id": item, "status": "parked", "idempotency_key": "s"},
		toolspec.WorkNote:   {"item_id": item, "text": "x", "colour": "red", "idempotency_key": "n"},
	} {
		got := b.call(tool, a)
		b.expectFailure(got, sidecar.Permanent, toolspec.CodeInvalidArguments)
		b.Expect(got.Failure.Reason).To(ContainSubstring("this helper speaks contract version 3"), tool)
	}
	b.Expect(b.numbers()).To(Equal(before))
}

func TestAFileThatIsNoSidecarStopsTheStart(t *testing.T) {
	g := NewWithT(t)
	_, _, err := DefaultPorts(t.Context(), Config{Sidecar: filepath.Join(t.TempDir(), "nowhere", "s.db")})
	g.Expect(err).To(HaveOccurred())
}
