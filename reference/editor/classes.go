package editor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
)

// Classes is the reference's ports.Classifying.
type Classes struct{}

// Mutation takes an answer below 500 for what it says. Before the dispatch nothing
// can have been applied; after it only a connection that never was proves that.
func (Classes) Mutation(dispatched bool, err error) ports.Ending {
	var said *ports.AnswerError
	switch {
	case errors.As(err, &said) && said.Status < http.StatusInternalServerError:
		return refused(said)
	case !dispatched || errors.Is(err, ports.ErrUnsent):
		return ports.Ending{Outcome: ports.NotSent, Code: stopped(err, ports.CodeUnavailable, ports.CodeUnreachable)}
	}
	return ports.Ending{Outcome: ports.Unknown, Code: stopped(err, ports.CodeUnavailable, ports.CodeAnswerLost)}
}

// Lookup takes nothing but a receipt for an answer to the question.
func (Classes) Lookup(err error) ports.Ending {
	code := stopped(err, ports.CodeUnavailable, ports.CodeUnavailable)
	var said *ports.AnswerError
	if errors.As(err, &said) {
		switch said.Status {
		case http.StatusUnauthorized:
			code = ports.CodeSignedOut
		case http.StatusForbidden:
			code = ports.CodeForbidden
		case http.StatusNotFound:
			code = ports.CodeNoReceipt
		}
	}
	return ports.Ending{Outcome: ports.Unknown, Code: code}
}

// stopped says why there is no answer: the caller's cancel, the deadline, an answer
// that says nothing, or none.
func stopped(err error, nothing, none ports.Code) ports.Code {
	var said *ports.AnswerError
	switch {
	case errors.Is(err, context.Canceled):
		return ports.CodeCancelled
	case errors.Is(err, context.DeadlineExceeded):
		return ports.CodeDeadline
	case errors.As(err, &said), errors.Is(err, ports.ErrUnreliable):
		return nothing
	}
	return none
}

// byStatus is what a refusal means whose code is none of the server's.
var byStatus = map[int]ports.Code{
	http.StatusBadRequest:          ports.CodeInvalid,
	http.StatusUnauthorized:        ports.CodeSignedOut,
	http.StatusForbidden:           ports.CodeForbidden,
	http.StatusNotFound:            ports.CodeNotFound,
	http.StatusUnprocessableEntity: ports.CodeCommandReused,
}

// byConflict are the codes of a 409, which means several things.
var byConflict = map[string]ports.Code{
	string(ports.CodeSubmitted): ports.CodeSubmitted,
	string(ports.CodeFenced):    ports.CodeFenced,
}

func refused(said *ports.AnswerError) ports.Ending {
	if said.Status == http.StatusConflict && said.Code == string(ports.CodeRevisionConflict) {
		e := ports.Ending{Outcome: ports.Conflict, Code: ports.CodeRevisionConflict}
		if said.Revision > 0 {
			e.Detail = fmt.Sprintf("it is at revision %d", said.Revision)
		}
		return e
	}
	code, known := byStatus[said.Status]
	if said.Status == http.StatusConflict {
		code, known = byConflict[said.Code]
	}
	if !known {
		code = ports.CodeRefused
	}
	return ports.Ending{Outcome: ports.Refused, Code: code, Detail: fmt.Sprintf("HTTP %d", said.Status)}
}

// Limits is the reference's ports.Deadlines.
type Limits struct{ OfMutation, OfLookup time.Duration }

// Mutation bounds a mutation with all that belongs to it.
func (l Limits) Mutation(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, l.OfMutation)
}

// Lookup bounds a recheck, and every read.
func (l Limits) Lookup(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, l.OfLookup)
}
