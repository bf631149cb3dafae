package helper

import (
	"context"
	"errors"

	"github.com/holdfast-mcp/holdfast/reference/sidecar"
	"github.com/holdfast-mcp/holdfast/reference/toolspec"
)

// Answer is the structured content of every answer, errors included.
type Answer struct {
	ItemID          string              `json:"item_id,omitempty"`
	State           string              `json:"state,omitempty"`
	Anchor          sidecar.AnchorState `json:"anchor,omitempty"`
	Materialized    *bool               `json:"materialized,omitempty"`
	Replayed        bool                `json:"replayed,omitempty"`
	Existing        bool                `json:"existing,omitempty"`
	Failure         *sidecar.Failure    `json:"failure,omitempty"`
	ContractVersion int                 `json:"contract_version"`

	*Record // of work_get only
}

// Record is what work_get adds.
type Record struct {
	Checked  bool           `json:"checked"`
	TaskKey  string         `json:"task_key"`
	Title    string         `json:"title,omitempty"`
	Status   sidecar.Status `json:"status,omitempty"`
	Notes    []Note         `json:"notes"`
	Commands []Command      `json:"commands"`
}

// Note is a note with how far it has come: applied, or accepted only.
type Note struct {
	Text  string `json:"text"`
	State string `json:"state"`
}

// Command is one accepted command of a record.
type Command struct {
	Kind     sidecar.Kind     `json:"kind"`
	State    string           `json:"state"`
	Attempts int              `json:"attempts"`
	Failure  *sidecar.Failure `json:"failure,omitempty"`
}

// word is the answer's word for a stored state.
func word(s sidecar.IntentState) string {
	if s == sidecar.Pending {
		return "queued"
	}
	return string(s)
}

// commandAnswer answers for one command on an item. A command that failed, or a
// start whose item can not be used, is an answer with a failure.
func commandAnswer(a sidecar.Anchor, i sidecar.Intent) Answer {
	materialized := a.State == sidecar.Live
	return Answer{
		ItemID: a.ItemID, State: word(i.State), Anchor: a.State, Materialized: &materialized,
		Failure: i.Failure, ContractVersion: sidecar.ContractVersion,
	}
}

// failed is an answer that names no item's state.
func failed(f *sidecar.Failure, itemID string) Answer {
	return Answer{ItemID: itemID, Failure: f, ContractVersion: sidecar.ContractVersion}
}

// isError says whether the answer is a refusal by structure: the command failed
// for good, or there is no command. A queued command that was turned away once
// is none, it is only late.
func (a Answer) isError() bool {
	return a.Failure != nil && (a.State == "" || a.State == "failed")
}

// countRefusal counts what was turned down for good with nothing stored. A tool
// that only reads changes no store, so its refusals are not counted (WR-39).
func (w *work) countRefusal(ctx context.Context, spec toolspec.Spec, a Answer) error {
	if w.ports.Refusals == nil || spec.Annotations.ReadOnly || a.State != "" || a.Failure.Class != sidecar.Permanent {
		return nil
	}
	return w.ports.Refusals.CountRefusal(context.WithoutCancel(ctx))
}

// unusable is the failure of an item that can take no more commands, nil if it can.
func unusable(a sidecar.Anchor) *sidecar.Failure {
	switch {
	case a.State == sidecar.Dead:
		return &sidecar.Failure{Class: sidecar.Permanent, Code: sidecar.CodeItemDeleted,
			Reason: "the record is dead: " + a.Reason + "; start the task with a new idempotency key for a new record"}
	case a.StartFailed:
		return &sidecar.Failure{Class: sidecar.Permanent, Code: sidecar.CodeStartFailed,
			Reason: "the start of this record failed, it never came to be; start the task with a new idempotency key for a new record"}
	}
	return nil
}

// failureOf turns an error of a port into a failure by structure (WR-25).
func failureOf(err error) *sidecar.Failure {
	f := &sidecar.Failure{Class: sidecar.Permanent, Reason: err.Error()}
	var app *AppVersionError
	var store *sidecar.VersionError
	switch {
	case errors.Is(err, sidecar.ErrNeverIssued):
		f.Code = toolspec.CodeNeverIssued
	case errors.Is(err, sidecar.ErrDead):
		f.Code = sidecar.CodeItemDeleted
	case errors.Is(err, sidecar.ErrStartFailed):
		f.Code = sidecar.CodeStartFailed
	case errors.Is(err, sidecar.ErrKeyReused):
		f.Code = toolspec.CodeKeyReused
	case errors.Is(err, sidecar.ErrUnreadable):
		f.Code = toolspec.CodeSidecarUnreadable
	case errors.Is(err, ErrAccountUnavailable):
		f.Class, f.Code = sidecar.Blocked, toolspec.CodeAccountUnavailable
	case errors.As(err, &app), errors.As(err, &store):
		f.Code = sidecar.CodeVersionMismatch
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		f.Class, f.Code = sidecar.Transient, toolspec.CodeCancelled
	case errors.Is(err, sidecar.ErrBusy):
		f.Class, f.Code = sidecar.Transient, toolspec.CodeSidecarBusy
	default:
		f.Class, f.Code = sidecar.Transient, toolspec.CodeSidecarStorage
	}
	return f
}
