package helper

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reference/sidecar"
	"github.com/holdfast-mcp/holdfast/reference/toolspec"
)

// work dispatches checked calls.
type work struct {
	cfg   Config
	ports Ports
}

// arguments are those of every tool; the schema has said which may be there.
type arguments struct {
	TaskKey    string         `json:"task_key,omitempty"`
	Title      string         `json:"title,omitempty"`
	Note       string         `json:"note,omitempty"`
	ItemID     string         `json:"item_id,omitempty"`
	Text       string         `json:"text,omitempty"`
	Attachment string         `json:"attachment,omitempty"`
	Status     sidecar.Status `json:"status,omitempty"`
	Key        string         `json:"idempotency_key,omitempty"`
}

// call refuses what must not be dispatched, then dispatches.
func (w *work) call(ctx context.Context, spec toolspec.Spec, raw json.RawMessage) Answer {
	if !slices.Contains(w.cfg.Access, spec.Access) {
		return failed(&sidecar.Failure{Class: sidecar.Permanent, Code: toolspec.CodeAccessMissing,
			Reason: spec.Name + " needs " + string(spec.Access) + " access, which this caller lacks; nothing was stored"}, "")
	}
	if w.ports.Refused != nil {
		return failed(failureOf(w.ports.Refused), "")
	}
	if f := w.ports.Checking.Check(spec.Name, raw); f != nil {
		return failed(f, "")
	}
	var a arguments
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &a); err != nil {
			return failed(&sidecar.Failure{Class: sidecar.Permanent, Code: toolspec.CodeInvalidArguments, Reason: err.Error()}, "")
		}
	}
	if spec.Access == toolspec.Write && w.ports.Versions != nil { // a read compares as it reads
		if err := w.ports.Versions.Agree(ctx); err != nil {
			return failed(failureOf(err), a.ItemID)
		}
	}
	switch spec.Name {
	case toolspec.WorkStart:
		return w.start(ctx, a)
	case toolspec.WorkNote:
		if f := w.checkAttachment(a.Attachment); f != nil {
			return failed(f, a.ItemID)
		}
		return w.follow(ctx, a, sidecar.NoteKind, sidecar.NotePayload{Text: a.Text, Attachment: a.Attachment})
	case toolspec.WorkStatus:
		return w.follow(ctx, a, sidecar.StatusKind, sidecar.StatusPayload{Status: a.Status})
	case toolspec.WorkComplete:
		return w.follow(ctx, a, sidecar.CompleteKind, struct{}{})
	case toolspec.WorkCancel:
		return w.follow(ctx, a, sidecar.CancelKind, struct{}{})
	default:
		return w.get(ctx, a.ItemID)
	}
}

// start opens work. A live record is looked for first, so that one whose item a
// person deleted gets a new ID in this very call (WR-16).
func (w *work) start(ctx context.Context, a arguments) Answer {
	if err := w.buryMissing(ctx, a.TaskKey); err != nil {
		return failed(failureOf(err), "")
	}
	open := sidecar.Open{
		ItemID: w.ports.NewID(), TaskKey: a.TaskKey, Key: a.Key, Digest: digest(toolspec.WorkStart, a),
		Payload: payload(sidecar.StartPayload{TaskKey: a.TaskKey, Title: a.Title}),
	}
	if a.Note != "" {
		open.FirstNote = payload(sidecar.NotePayload{Text: a.Note})
	}
	o, err := w.ports.Accepting.OpenWork(ctx, open)
	if err != nil {
		return failed(failureOf(err), "")
	}
	command := o.Start
	if o.Note != nil && command.State == sidecar.Applied {
		command = *o.Note // the start is done: how far the call has come is how far its note has
	}
	out := commandAnswer(o.Anchor, command)
	out.Replayed, out.Existing = o.Replayed, o.Existing
	if f := unusable(o.Anchor); f != nil {
		out.State, out.Failure = string(sidecar.Failed), f
	}
	return out
}

// buryMissing marks a task's live anchor dead if the app says that its item is gone.
func (w *work) buryMissing(ctx context.Context, taskKey string) error {
	anchor, found, err := w.ports.Reading.AnchorOfTask(ctx, taskKey)
	if err != nil || !found || anchor.State != sidecar.Live || w.ports.App == nil {
		return err
	}
	var version *AppVersionError
	_, err = w.ports.App.Item(ctx, anchor.ItemID)
	switch {
	case errors.Is(err, ErrNotThere):
		return w.ports.Dead.MarkDead(ctx, anchor.ItemID, "its item was deleted in the app")
	case errors.Is(err, ErrAccountUnavailable), errors.As(err, &version):
		return err
	}
	return nil // there, or nobody to ask: the sidecar's word stands
}

// follow appends one follow-up.
func (w *work) follow(ctx context.Context, a arguments, kind sidecar.Kind, content any) Answer {
	f, err := w.ports.Accepting.Append(ctx, sidecar.Follow{
		ItemID: a.ItemID, Kind: kind, Key: a.Key, Digest: digest(string(kind), a), Payload: payload(content),
	})
	if err != nil {
		return failed(failureOf(err), a.ItemID)
	}
	out := commandAnswer(f.Anchor, f.Intent)
	out.Replayed = f.Replayed
	return out
}

// checkAttachment refuses by the path's words alone; the executor looks again at
// what is there when it applies the note (WR-28).
func (w *work) checkAttachment(path string) *sidecar.Failure {
	switch {
	case path == "":
		return nil
	case w.cfg.StagingRoot == "":
		return &sidecar.Failure{Class: sidecar.Permanent, Code: toolspec.CodeNoStagingRoot, Reason: "this helper has no staging root, so notes can carry no attachment; nothing was stored"}
	case !filepath.IsLocal(filepath.FromSlash(path)) || strings.Contains(path, `\`) || slices.Contains(strings.Split(path, "/"), ".."):
		return &sidecar.Failure{Class: sidecar.Permanent, Code: sidecar.CodeAttachmentOutsideRoot, Reason: "the attachment must be a relative path inside the staging root, without ..; nothing was stored"}
	}
	return nil
}

// digest stands for the content of a command: the same key may come again only
// with the same digest (WR-08).
func digest(what string, a arguments) string {
	a.Key = ""
	sum := sha256.Sum256(append([]byte(what+"\n"), payload(a)...))
	return hex.EncodeToString(sum[:])
}

func payload(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("a struct of strings does not marshal: " + err.Error()) // a programming error of this file
	}
	return b
}
