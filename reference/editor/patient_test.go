package editor

import (
	"context"

	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
)

// patient goes on with a lookup that nobody waits for any more.
type patient struct{ ports.Trips }

func (p patient) Receipt(ctx context.Context, draft, command string) (ports.Receipt, error) {
	return p.Trips.Receipt(context.WithoutCancel(ctx), draft, command)
}

// witness tells how operations that were over already would have ended.
type witness struct {
	ports.Operations
	late chan ports.Ending
}

func (w witness) End(at ports.Place, id int64, how ports.Ending) bool {
	ended := w.Operations.End(at, id, how)
	if !ended {
		w.late <- how
	}
	return ended
}
