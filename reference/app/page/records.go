package page

import (
	"context"
	"errors"
	"net/http"

	"github.com/holdfast-mcp/holdfast/reference/app/library"
	"github.com/holdfast-mcp/holdfast/reference/app/ports"
	"github.com/holdfast-mcp/holdfast/reference/sidecar"
)

// Item is a record in an answer.
type Item struct {
	ItemID   string   `json:"item_id"`
	Title    string   `json:"title"`
	Status   string   `json:"status"`
	Statuses []string `json:"statuses"` // one, unless something is broken
	Notes    []Note   `json:"notes"`
	Owner    string   `json:"owner"`
	Revision int64    `json:"revision"`
}

// Note is a note in an answer.
type Note struct {
	Text       string `json:"text"`
	Seq        int64  `json:"seq"`                  // of the intent that it came from
	Attachment string `json:"attachment,omitempty"` // its name
	Bytes      int    `json:"bytes,omitempty"`      // of the attachment
}

func itemOf(i library.Item) Item {
	out := Item{ItemID: i.ID, Title: i.Title, Statuses: i.Statuses, Notes: []Note{}, Owner: i.Owner, Revision: i.Revision}
	if len(i.Statuses) > 0 {
		out.Status = i.Statuses[len(i.Statuses)-1]
	}
	for _, n := range i.Notes {
		note := Note{Text: n.Text, Seq: n.Seq}
		if n.Attachment != nil {
			note.Attachment, note.Bytes = n.Attachment.Name, len(n.Attachment.Content)
		}
		out.Notes = append(out.Notes, note)
	}
	return out
}

// agentItem answers the helper. A record of another account is not said to be
// missing, whether it is there or not (WR-18, WR-19).
func (s *Server) agentItem(w http.ResponseWriter, r *http.Request) {
	g, ok := s.reader(w)
	if !ok {
		return
	}
	anchor, err := s.Records.Anchor(r.Context(), r.PathValue("id"))
	switch {
	case errors.Is(err, sidecar.ErrNeverIssued):
	case err != nil:
		s.fail(w, err)
		return
	case anchor.Owner != g.Account && anchor.Owner != "":
		s.fail(w, library.ErrForeign)
		return
	}
	s.sayItem(w, r, g)
}

func (s *Server) item(w http.ResponseWriter, r *http.Request) {
	if g, ok := s.reader(w); ok {
		s.sayItem(w, r, g)
	}
}

func (s *Server) sayItem(w http.ResponseWriter, r *http.Request, g library.Grant) {
	item, err := s.Library.Item(r.Context(), g, r.PathValue("id"))
	if err != nil {
		s.fail(w, err)
		return
	}
	say(w, http.StatusOK, itemOf(item))
}

func (s *Server) items(w http.ResponseWriter, r *http.Request) {
	g, ok := s.reader(w)
	if !ok {
		return
	}
	items, err := s.Library.Items(r.Context(), g)
	if err != nil {
		s.fail(w, err)
		return
	}
	all := []Item{}
	for _, i := range items {
		all = append(all, itemOf(i))
	}
	say(w, http.StatusOK, all)
}

// deleteItem is the person's deletion: the item first, then its anchor. A kill
// between the two is repaired by the executor.
func (s *Server) deleteItem(w http.ResponseWriter, r *http.Request) {
	id, ctx := r.PathValue("id"), whole(r)
	g, ok := s.reader(w)
	if !ok {
		return
	}
	if err := s.deleteFromLibrary(ctx, g, id); err != nil {
		if errors.Is(err, library.ErrNoItem) {
			s.Settling.Repair() // an earlier deletion may have been killed half-way
		}
		s.fail(w, err)
		return
	}
	anchor := sidecar.Dead
	if err := s.Sidecar.MarkDead(ctx, id, ports.DeletionReason); err != nil && !errors.Is(err, sidecar.ErrNeverIssued) {
		// The item is gone, which is what the person asked for.
		s.Log.Warn("an anchor is left to be repaired", "item_id", id, "error", err.Error())
		anchor = sidecar.Live
	}
	s.Settling.Repair()
	done(w, r, map[string]any{"item_id": id, "deleted": true, "anchor": anchor})
}

func (s *Server) deleteFromLibrary(ctx context.Context, g library.Grant, id string) error {
	if err := s.Guard.Admit(g.Account, ports.Situation{Account: s.Account.Current()}); err != nil {
		return err
	}
	if err := s.Access.Check(ctx, g.Account); err != nil {
		return err
	}
	return s.Library.Delete(ctx, g, id)
}
