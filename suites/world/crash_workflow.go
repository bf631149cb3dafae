package world

import (
	"io/fs"
	"path"
	"regexp"
	"slices"

	"github.com/holdfast-mcp/holdfast/faults/wire"
)

// operationID is an operation's ID in a file's name (WF-02).
var operationID = regexp.MustCompile(`wf_[A-Za-z0-9]+`)

// StoredOperations are the IDs of the operations that the store of checkpoints has
// files of, whoever was told of them.
func (w *World) StoredOperations() []string {
	var ids []string
	err := w.storeEntries(func(rel string, _ fs.FileInfo) {
		if id := operationID.FindString(path.Base(rel)); id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	})
	if err != nil {
		Broken("looking for operations in the store: %v", err)
	}
	return ids
}

// OutsideAnswered waits until the outside service has answered every request that
// was sent to it, also by a server that was killed since, so that nothing more comes
// of those that are on the way.
func (w *World) OutsideAnswered() {
	line := w.outside()
	if err := line.Landed(w.ctx); err != nil {
		Inconclusive("what was on its way to the outside service has not come to rest: %v", err)
	}
	if !w.Await("the outside service to have answered everything", func() bool {
		return line.Passed(wire.Match{}) == line.Count(wire.Match{Answer: true})
	}) {
		Inconclusive("%d requests went to the outside service and %d were answered, so that more may still come of them",
			line.Passed(wire.Match{}), line.Count(wire.Match{Answer: true}))
	}
}
