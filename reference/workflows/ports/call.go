package ports

import "encoding/json"

// Call is one call of an ordinary tool, direct or as a step. Both go through the
// same middleware.
type Call struct {
	Binding
	Tool      string
	Arguments json.RawMessage // a JSON object without the binding
	// Operation and Step say of which operation it is a step; "" for a direct call.
	Operation string
	Step      int // from 1
	Attempt   int // from 1
	// Key is the idempotency key to send along, "" for none.
	Key string
	// Preview asks for a confirmation instead of an effect.
	Preview bool
}

// Access is what a profile must have to use a tool.
type Access string

// The kinds of access.
const (
	Read  Access = "read"
	Write Access = "write"
)

// Ending is how a call ended.
type Ending string

// The endings. Denied, Refused and Unsent are definite: nothing was applied.
const (
	Succeeded Ending = "succeeded"
	Previewed Ending = "previewed" // a confirmation was handed out
	Denied    Ending = "denied"    // by the middleware
	Refused   Ending = "refused"   // by the chat service
	Unsent    Ending = "unsent"    // no request left
	Doubted   Ending = "doubted"   // sent, and nobody here knows what came of it
	// Incomplete: the receipt of a delivery says that it was partial, or could not
	// be verified (WF-22).
	Incomplete Ending = "incomplete"
)

// Endings lists the endings.
func Endings() []Ending {
	return []Ending{Succeeded, Previewed, Denied, Refused, Unsent, Doubted, Incomplete}
}

// Outcome is what came of a call.
type Outcome struct {
	Ending Ending
	Code   Code            // "" where it succeeded
	Result json.RawMessage // of the tool, nil where there is none
}

// Denial is why the middleware does not let a call through.
type Denial struct{ Code Code }

// Confirmation is what a preview hands out for one write, exactly as previewed.
type Confirmation struct {
	Hash    string `json:"confirm_hash"` // over profile, target, tool and arguments
	ID      string `json:"confirm_id"`   // works once
	Expires string `json:"expires_at"`   // RFC 3339
}
