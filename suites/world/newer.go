package world

import (
	"os"

	"github.com/holdfast-mcp/holdfast/faults/disk"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
)

// MakeNewer makes the sidecar, which nobody has open, one of a newer contract
// version than the target's: that mark is what being newer is. Where ownerKilled
// it is left in the write-ahead log.
func (w *World) MakeNewer(version int, ownerKilled bool) {
	files := w.store("sidecar")
	if len(files) == 0 {
		Inconclusive("there is no sidecar that could be made a newer one")
	}
	scratch := target.Temp(w.dir)
	err := os.MkdirAll(scratch, 0o700)
	if err == nil {
		err = disk.MarkVersion(w.ctx, files[0], scratch, version, ownerKilled)
	}
	if err != nil {
		Inconclusive("%v", err)
	}
	w.Mark("newer", map[string]any{"version": version, "owner killed": ownerKilled})
}
