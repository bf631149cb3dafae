package ports_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/holdfast-mcp/holdfast/reference/app/library"
	"github.com/holdfast-mcp/holdfast/reference/app/ports"
	"github.com/holdfast-mcp/holdfast/reference/app/session"
	"github.com/holdfast-mcp/holdfast/reference/sidecar"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestGuard(t *testing.T) {
	as := func(phase session.Phase, account string) session.State {
		return session.State{Phase: phase, Account: account}
	}
	tests := []struct {
		name    string
		owner   string
		account session.State
		locked  bool
		want    error
	}{
		{name: "the owner", owner: "a", account: as(session.Restored, "a")},
		{name: "another account", owner: "a", account: as(session.Restored, "b"), want: ports.OwnerMismatch{Owner: "a", Account: "b"}},
		{name: "another account in a locked library", owner: "a", account: as(session.Restored, "b"), locked: true, want: ports.OwnerMismatch{Owner: "a", Account: "b"}},
		{name: "not restored yet", owner: "a", account: as(session.Unresolved, ""), want: ports.ErrAccountUnresolved},
		{name: "not restored yet, locked", owner: "a", account: as(session.Unresolved, ""), locked: true, want: ports.ErrLibraryLocked},
		{name: "no owner yet, locked", owner: "", account: as(session.Restored, "a"), locked: true, want: ports.ErrLibraryLocked},
		{name: "signed out", owner: "a", account: as(session.SignedOut, ""), want: ports.ErrAccountUnresolved},
		{name: "no owner yet", owner: "", account: as(session.Restored, "a"), want: ports.ErrAccountUnresolved},
		{name: "no owner and no account", owner: "", account: as(session.Unresolved, ""), want: ports.ErrAccountUnresolved},
		{name: "the owner, revoked", owner: "a", account: as(session.Denied, "a"), want: session.ErrAccessDenied},
		{name: "another account, revoked", owner: "a", account: as(session.Denied, "b"), want: ports.OwnerMismatch{Owner: "a", Account: "b"}},
		{name: "no owner, revoked", owner: "", account: as(session.Denied, "a"), want: ports.ErrAccountUnresolved},
		{name: "locked by its user", owner: "a", account: as(session.Restored, "a"), locked: true, want: ports.ErrLibraryLocked},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ports.Guard{}.Admit(tt.owner, ports.Situation{Account: tt.account, Locked: tt.locked})
			if !errors.Is(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestClasses(t *testing.T) {
	tests := []struct {
		err   error
		class sidecar.Class
		code  sidecar.Code
	}{
		{ports.ErrAccountUnresolved, sidecar.Transient, sidecar.CodeAccountUnresolved},
		{library.ErrAccountChanged, sidecar.Transient, sidecar.CodeAccountUnresolved},
		{session.ErrAccessUnknown, sidecar.Transient, sidecar.CodeAccountUnresolved},
		{library.ErrBusy, sidecar.Transient, sidecar.CodeLibraryBusy},
		{library.ErrFull, sidecar.Transient, sidecar.CodeLibraryUnavailable},
		{library.ErrSealed, sidecar.Transient, sidecar.CodeLibraryUnavailable},
		{errors.New("something else"), sidecar.Transient, sidecar.CodeLibraryUnavailable},
		{ports.OwnerMismatch{Owner: "a", Account: "b"}, sidecar.Blocked, sidecar.CodeOwnerMismatch},
		{library.ErrForeign, sidecar.Blocked, sidecar.CodeOwnerMismatch},
		{ports.ErrLibraryLocked, sidecar.Blocked, sidecar.CodeLibraryLocked},
		{session.ErrAccessDenied, sidecar.Permanent, sidecar.CodeAccessDenied},
		{library.ErrNoItem, sidecar.Permanent, sidecar.CodeItemDeleted},
		{ports.ErrAttachmentOutside, sidecar.Permanent, sidecar.CodeAttachmentOutsideRoot},
		{ports.ErrAttachmentMissing, sidecar.Permanent, sidecar.CodeAttachmentMissing},
		{ports.ErrContent, sidecar.Permanent, sidecar.CodeInvalidContent},
		{ports.VersionMismatch{App: 2, Sidecar: 3}, sidecar.Permanent, sidecar.CodeVersionMismatch},
	}
	for _, tt := range tests {
		t.Run(tt.err.Error(), func(t *testing.T) {
			g := NewWithT(t)
			got := ports.Classes{}.Classify(fmt.Errorf("updating item i1: %w", tt.err))
			g.Expect(got.Class).To(Equal(tt.class))
			g.Expect(got.Code).To(Equal(tt.code))
			g.Expect(got.Reason).NotTo(BeEmpty())
			g.Expect(slices.Contains(sidecar.ExecutorCodes(), got.Code)).To(BeTrue(), "a stored code must be one that the contract names")
		})
	}
}

func TestAVersionMismatchNamesBothVersions(t *testing.T) {
	reason := ports.Classes{}.Classify(ports.VersionMismatch{App: 2, Sidecar: 3}).Reason
	NewWithT(t).Expect(reason).To(And(ContainSubstring("version 2"), ContainSubstring("version 3")))
}

func TestAMismatchNamesNoAccount(t *testing.T) {
	reason := ports.Classes{}.Classify(ports.OwnerMismatch{Owner: "alice", Account: "bob"}).Reason
	NewWithT(t).Expect(reason).NotTo(Or(ContainSubstring("alice"), ContainSubstring("bob")))
}

func TestStaging(t *testing.T) {
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret"), "secret")
	tests := []struct {
		name string
		path string
		make func(t *testing.T, root string)
		want error
		text string
	}{
		{name: "a file", path: "f", make: file("f", "hello"), text: "hello"},
		{name: "a file in a folder", path: "d/f", make: file("d/f", "hello"), text: "hello"},
		{name: "an empty file", path: "f", make: file("f", ""), text: ""},
		{name: "a link within", path: "l", make: func(t *testing.T, root string) {
			file("f", "hello")(t, root)
			link(t, "f", filepath.Join(root, "l"))
		}, text: "hello"},
		{name: "missing", path: "f", want: ports.ErrAttachmentMissing},
		{name: "in a missing folder", path: "d/f", want: ports.ErrAttachmentMissing},
		{name: "dots", path: "../secret", want: ports.ErrAttachmentOutside},
		{name: "dots inside", path: "d/../../secret", want: ports.ErrAttachmentOutside},
		{name: "absolute", path: filepath.Join(outside, "secret"), want: ports.ErrAttachmentOutside},
		{name: "a link to a file outside", path: "l", make: func(t *testing.T, root string) { link(t, filepath.Join(outside, "secret"), filepath.Join(root, "l")) }, want: ports.ErrAttachmentOutside},
		{name: "a link to a folder outside", path: "l/secret", make: func(t *testing.T, root string) { link(t, outside, filepath.Join(root, "l")) }, want: ports.ErrAttachmentOutside},
		{name: "a link upwards", path: "l/secret", make: func(t *testing.T, root string) { link(t, "..", filepath.Join(root, "l")) }, want: ports.ErrAttachmentOutside},
		{name: "a folder", path: "d", make: file("d/f", "hello"), want: ports.ErrContent},
		{name: "too large", path: "f", make: file("f", string(make([]byte, ports.MaxAttachment+1))), want: ports.ErrContent},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			root := t.TempDir()
			if tt.make != nil {
				tt.make(t, root)
			}
			content, err := ports.Folder(root).Read(tt.path)
			inspected := ports.Folder(root).Inspect(tt.path)
			if tt.want != nil {
				g.Expect(err).To(MatchError(tt.want))
				g.Expect(inspected).To(MatchError(tt.want))
				g.Expect(content).To(BeEmpty())
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(inspected).NotTo(HaveOccurred())
			g.Expect(string(content)).To(Equal(tt.text))
		})
	}
}

func TestNoStagingRootHasNoFiles(t *testing.T) {
	NewWithT(t).Expect(ports.Folder("").Inspect("f")).To(MatchError(ports.ErrAttachmentMissing))
}

func TestDataVersionSeesEveryOthersCommit(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "a %3f b#.db")
	store, err := sidecar.OpenStore(ctx, path, sidecar.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	defer store.Close()
	changes, err := ports.NewDataVersion(path)
	g.Expect(err).NotTo(HaveOccurred())
	defer changes.Close()
	g.Expect(changes.Changed(ctx)).To(BeTrue(), "the first look has seen nothing yet")
	g.Expect(changes.Changed(ctx)).To(BeFalse())
	g.Expect(store.BindOwner(ctx, "a")).To(Succeed())
	g.Expect(changes.Changed(ctx)).To(BeTrue())
	g.Expect(changes.Changed(ctx)).To(BeFalse())
}

func file(name, content string) func(*testing.T, string) {
	return func(t *testing.T, root string) {
		t.Helper()
		write(t, filepath.Join(root, name), content)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}
