package ports

import (
	"context"
	"errors"
	"fmt"
)

// Trips is the server. Its errors are *AnswerError, ErrUnsent, or doubt: every
// other error means that nobody here knows what came of the request. No method
// sends a request twice.
type Trips interface {
	SignIn(ctx context.Context, user, password string) error
	SignOut(ctx context.Context) error
	Draft(ctx context.Context, draft string) (Draft, error)
	Update(ctx context.Context, c Command) (Receipt, error)
	Submit(ctx context.Context, c Command) (Receipt, error)
	// Receipt looks up the receipt of a command and changes nothing.
	Receipt(ctx context.Context, draft, command string) (Receipt, error)
	// Fence has a command refused from now on, or says that it was applied (RC-28).
	Fence(ctx context.Context, draft, command string) (Fenced, error)
}

// ErrUnsent: no request left.
var ErrUnsent = errors.New("no request left")

// ErrUnreliable: an answer came whole, and says nothing that can be relied on.
var ErrUnreliable = errors.New("the answer is not one that can be relied on")

// AnswerError is an answer of the server that is not the one hoped for.
type AnswerError struct {
	Status   int    // HTTP, from 400 on
	Code     string // as the server says it, "" where it says none
	Revision int    // of a conflict: where the draft stands; 0 where it is not said
}

func (e *AnswerError) Error() string {
	return fmt.Sprintf("the trips server answered %d %s", e.Status, e.Code)
}

// Classifying says how a request ended.
type Classifying interface {
	// Mutation says how an update or a submission ended. dispatched is false while no
	// request could have left.
	Mutation(dispatched bool, err error) Ending
	// Lookup says how a recheck ended; absence of a receipt proves nothing (RC-24).
	Lookup(err error) Ending
}

// Deadlines bound how long an answer is waited for (RC-17). A context that is done
// has DeadlineExceeded as its cause when the deadline ended it.
type Deadlines interface {
	Mutation(ctx context.Context) (context.Context, context.CancelFunc)
	Lookup(ctx context.Context) (context.Context, context.CancelFunc)
}

// Admission says what may begin, before anything is sent; "" admits it.
type Admission interface {
	Mutation(kind Kind, s Standing) Code
	// Recheck finds the outcome that is asked for (RC-12).
	Recheck(ask Recheck, s Standing) (Unresolved, Code)
	Typing(field Field, s Standing) Code
}

// Merging makes the visible values once a receipt is there.
type Merging interface{ Merge(r Recovery) Fields }

// Showing makes what is shown of a place, to the person and to the tools.
type Showing interface{ Show(s Standing) View }

// Operations hold what is in flight, at most one at a place (RC-29).
type Operations interface {
	// Begin takes the place; false where another operation has it.
	Begin(at Place, op Operation) bool
	Current(at Place) (op Operation, held bool)
	// End releases the operation and only that. It returns false for one that is not
	// in flight any more: how that ended changes nothing.
	End(at Place, id int64, how Ending) bool
}

// Checking holds a call's raw arguments against the tool's schema.
type Checking interface {
	// Check returns "", or what is wrong.
	Check(tool string, arguments []byte) string
}
