package helper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/holdfast-mcp/holdfast/reference/sidecar"
)

// get reads a record: the app's view where it answers, else the sidecar's. It
// changes nothing, also where the app misses a live item (WR-39).
func (w *work) get(ctx context.Context, itemID string) Answer {
	anchor, err := w.ports.Reading.Anchor(ctx, itemID)
	if err != nil {
		return failed(failureOf(err), itemID)
	}
	// The intents are read before the app is asked: what is applied in between is
	// then seen by both rather than by none, and merge knows it by its number.
	intents, err := w.ports.Reading.IntentsOf(ctx, itemID)
	if err != nil {
		return failed(failureOf(err), itemID)
	}
	record, err := recordOf(anchor, intents)
	if err != nil {
		return failed(failureOf(err), itemID)
	}
	item, asked := Item{}, error(errNoApp)
	if w.ports.App != nil {
		item, asked = w.ports.App.Item(ctx, itemID)
	}
	var version *AppVersionError
	if errors.Is(asked, ErrAccountUnavailable) || errors.As(asked, &version) {
		return failed(failureOf(asked), itemID)
	}
	out := commandAnswer(anchor, current(intents))
	out.Record = record
	switch {
	case asked == nil:
		there := anchor.State != sidecar.Dead
		out.Materialized, record.Checked = &there, true
		record.Title, record.Status = item.Title, item.Status
		record.Notes = merge(item.Notes, intents, record.Notes)
	case errors.Is(asked, ErrNotThere):
		there := false
		out.Materialized, record.Checked = &there, true
		record.Notes = merge(nil, intents, record.Notes)
	}
	if f := unusable(anchor); f != nil {
		out.State, out.Failure = string(sidecar.Failed), f
	}
	return out
}

var errNoApp = errors.New("there is no app to ask")

// current is the command that says how far the record has come: its start until
// that is applied, then the oldest unsettled follow-up, then the newest command.
func current(list []sidecar.Intent) sidecar.Intent {
	for _, i := range list {
		if i.Kind == sidecar.StartKind && i.State != sidecar.Applied {
			return i
		}
	}
	for _, i := range list {
		if !i.State.Terminal() {
			return i
		}
	}
	if len(list) == 0 {
		return sidecar.Intent{State: sidecar.Pending} // its start is missing; the next start repairs it
	}
	return list[len(list)-1]
}

// recordOf tells a record from what was accepted for it.
func recordOf(a sidecar.Anchor, list []sidecar.Intent) (*Record, error) {
	r := &Record{TaskKey: a.TaskKey, Status: sidecar.Todo, Notes: []Note{}, Commands: []Command{}}
	for _, i := range list {
		r.Commands = append(r.Commands, Command{Kind: i.Kind, State: word(i.State), Attempts: i.Attempts, Failure: i.Failure})
		var content struct {
			Title  string         `json:"title"`
			Text   string         `json:"text"`
			Status sidecar.Status `json:"status"`
		}
		if err := json.Unmarshal(i.Payload, &content); err != nil {
			return nil, fmt.Errorf("%w: the payload of intent %d is no JSON object: %v", sidecar.ErrUnreadable, i.Seq, err)
		}
		switch {
		case i.Kind == sidecar.StartKind:
			r.Title = content.Title
		case i.Kind == sidecar.NoteKind:
			r.Notes = append(r.Notes, Note{Text: content.Text, State: word(i.State)})
		case i.State != sidecar.Applied: // not on the record yet
		case i.Kind == sidecar.StatusKind:
			r.Status = content.Status
		case i.Kind == sidecar.CompleteKind:
			r.Status = sidecar.Done
		case i.Kind == sidecar.CancelKind:
			r.Status = sidecar.Cancelled
		}
	}
	return r, nil
}

// merge lists the notes that the app shows, then those accepted and not applied
// yet. A note that the sidecar calls applied and the app does not show is not
// made up: the record is the app's.
func merge(shown []ItemNote, list []sidecar.Intent, accepted []Note) []Note {
	all := []Note{}
	known := map[int64]bool{}
	for _, n := range shown {
		all = append(all, Note{Text: n.Text, State: string(sidecar.Applied)})
		known[n.Seq] = true
	}
	next := 0
	for _, i := range list {
		if i.Kind != sidecar.NoteKind {
			continue
		}
		if n := accepted[next]; !known[i.Seq] && i.State != sidecar.Applied {
			all = append(all, n)
		}
		next++
	}
	return all
}
