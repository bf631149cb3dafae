package disk_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/faults/disk"
)

func sidecarOf(t *testing.T, version string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sidecar.db")
	db, err := sql.Open("sqlite", path)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for _, s := range []string{`PRAGMA journal_mode = WAL`, `CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT`, `INSERT INTO meta VALUES ('contract_version', '` + version + `')`} {
		_, err = db.Exec(s)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
	}
	NewWithT(t).Expect(db.Close()).To(Succeed())
	return path
}

func versionIn(t *testing.T, path, mode string) (version string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode="+mode)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	defer db.Close()
	NewWithT(t).Expect(db.QueryRow(`SELECT value FROM meta WHERE name = 'contract_version'`).Scan(&version)).To(Succeed())
	return version
}

func TestASidecarIsMarkedAsANewerOne(t *testing.T) {
	for _, inWAL := range []bool{false, true} {
		g := NewWithT(t)
		path := sidecarOf(t, "3")
		g.Expect(disk.MarkVersion(t.Context(), path, t.TempDir(), 4, inWAL)).To(Succeed())
		wal, err := os.Stat(path + "-wal")
		if inWAL {
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(wal.Size()).To(BeNumerically(">", 0), "the mark is in the log")
		} else {
			g.Expect(err).To(MatchError(os.ErrNotExist))
		}
		g.Expect(versionIn(t, path, "rw")).To(Equal("4"))
	}
}

// An owner may leave in order and not fold its log into the file.
func TestWhatIsInALogIsMarkedToo(t *testing.T) {
	for _, inWAL := range []bool{false, true} {
		g := NewWithT(t)
		path, left := sidecarOf(t, "3"), filepath.Join(t.TempDir(), "sidecar.db")
		db, err := sql.Open("sqlite", path)
		g.Expect(err).NotTo(HaveOccurred())
		_, err = db.Exec(`INSERT INTO meta VALUES ('bound_owner', 'a')`)
		g.Expect(err).NotTo(HaveOccurred())
		for _, side := range []string{"", "-wal"} {
			text, err := os.ReadFile(path + side)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(os.WriteFile(left+side, text, 0o600)).To(Succeed())
		}
		g.Expect(db.Close()).To(Succeed())

		g.Expect(disk.MarkVersion(t.Context(), left, t.TempDir(), 4, inWAL)).To(Succeed())
		g.Expect(versionIn(t, left, "rw")).To(Equal("4"))
		db, err = sql.Open("sqlite", left)
		g.Expect(err).NotTo(HaveOccurred())
		var owner string
		g.Expect(db.QueryRow(`SELECT value FROM meta WHERE name = 'bound_owner'`).Scan(&owner)).To(Succeed())
		g.Expect(owner).To(Equal("a"))
		g.Expect(db.Close()).To(Succeed())
	}
}

func TestWhatIsNoSidecarIsNotMarked(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "other.db")
	g.Expect(os.WriteFile(path, nil, 0o600)).To(Succeed())
	err := disk.MarkVersion(t.Context(), path, t.TempDir(), 4, false)
	g.Expect(err).To(MatchError(And(ContainSubstring("marking the sidecar "+path+" as one of contract version 4"), ContainSubstring("expected the tables of docs/sidecar.md"))))
	g.Expect(os.ReadFile(path)).To(BeEmpty(), "it is left as it was")
}
