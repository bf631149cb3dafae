package api

import (
	"errors"
	"net/http"

	"github.com/holdfast-mcp/holdfast/reference/trips/ports"
)

// The codes of refusals.
const (
	CodeInvalid       = "invalid"
	CodeSignInRefused = "sign_in_refused"
	CodeSignedOut     = "signed_out"
	CodeForbidden     = "forbidden"
	CodeNotFound      = "not_found"
	CodeNoReceipt     = "no_receipt"
	CodeConflict      = "revision_conflict"
	CodeSubmitted     = "submitted"
	CodeFenced        = "fenced"
	CodeReused        = "command_reused"
	CodeUnavailable   = "unavailable"
)

// told is how each definite error is told.
var told = []struct {
	err    error
	status int
	code   string
}{
	{ports.ErrSignInRefused, http.StatusUnauthorized, CodeSignInRefused},
	{ports.ErrSignedOut, http.StatusUnauthorized, CodeSignedOut},
	{ports.ErrNoDraft, http.StatusNotFound, CodeNotFound},
	{ports.ErrNoReceipt, http.StatusNotFound, CodeNoReceipt},
	{ports.ErrSubmitted, http.StatusConflict, CodeSubmitted},
	{ports.ErrFenced, http.StatusConflict, CodeFenced},
	{ports.ErrReused, http.StatusUnprocessableEntity, CodeReused},
}

// Refusals tells errors as the API does.
type Refusals struct{}

// Of is how an error is told.
func (Refusals) Of(err error) ports.Refusal {
	var conflict *ports.ConflictError
	var invalid *ports.InvalidError
	switch {
	case errors.As(err, &conflict):
		return ports.Refusal{Status: http.StatusConflict, Code: CodeConflict, Reason: conflict.Error(), Revision: conflict.Current}
	case errors.As(err, &invalid):
		return ports.Refusal{Status: http.StatusBadRequest, Code: CodeInvalid, Reason: invalid.Error()}
	}
	for _, t := range told {
		if errors.Is(err, t.err) {
			return ports.Refusal{Status: t.status, Code: t.code, Reason: t.err.Error()}
		}
	}
	return ports.Refusal{Status: http.StatusServiceUnavailable, Code: CodeUnavailable, Reason: "the server could not do it now; whether a command was applied can be looked up under its commandId"}
}
