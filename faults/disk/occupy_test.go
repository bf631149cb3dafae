package disk_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-mcp/holdfast/faults/disk"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAnOccupiedStoreTakesNoOtherWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a store.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("create table t (x)"); err != nil {
		t.Fatal(err)
	}
	o, err := disk.Occupy(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if told, err := o.Refuses(t.Context()); err != nil || !strings.Contains(told, "locked") {
		t.Errorf("a second writer was told %q: %v", told, err)
	}
	if _, err := db.Exec("insert into t values (1)"); err == nil {
		t.Error("another connection wrote into an occupied store")
	}
	if err := o.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if told, err := o.Refuses(t.Context()); err == nil || !strings.Contains(err.Error(), "is not occupied") {
		t.Errorf("a released store still refuses (%q): %v", told, err)
	}
	if _, err := db.Exec("insert into t values (1)"); err != nil {
		t.Errorf("a released store takes no write: %v", err)
	}
}

func TestOccupyMakesNoStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.db")
	if _, err := disk.Occupy(context.Background(), path); err == nil || !strings.Contains(err.Error(), "is it a SQLite database that exists?") {
		t.Errorf("occupying nothing: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 0 {
		t.Errorf("occupying nothing left %v", left)
	}
}
