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

func TestWhatIsNoSidecarIsNotMarked(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "other.db")
	g.Expect(os.WriteFile(path, nil, 0o600)).To(Succeed())
	err := disk.MarkVersion(t.Context(), path, t.TempDir(), 4, false)
	g.Expect(err).To(MatchError(And(ContainSubstring("marking the sidecar "+path+" as one of contract version 4"), ContainSubstring("expected the tables of docs/sidecar.md"))))
	g.Expect(os.ReadFile(path)).To(BeEmpty(), "it is left as it was")
}
