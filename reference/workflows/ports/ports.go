package ports

import (
	"context"
	"encoding/json"
	"time"
)

// Clock tells the time.
type Clock interface{ Now() time.Time }

// IDs makes fresh references of at least 128 random bits (WF-02).
type IDs interface {
	NewOperation() string    // begins with wf_
	NewConfirmation() string // begins with cf_
}

// Checking holds a call's raw arguments against the tool's schema; false refuses them.
type Checking interface {
	Check(tool string, arguments []byte) bool
}

// Admitting says which steps a definition may have; "" admits them (WF-07, WF-08).
type Admitting interface {
	Admit(steps []Step) Code
}

// Store keeps checkpoints. Every method refuses a reference that is none of its
// own before it touches a file (WF-24), with ErrNoSuch.
type Store interface {
	// Create stores the first checkpoint and returns with the operation's lock held.
	Create(ctx context.Context, o Operation) (Lock, error)
	// Save replaces the checkpoint, wholly or not at all. The caller holds the lock.
	Save(ctx context.Context, o Operation) error
	// Load reads one checkpoint, ErrNoSuch where there is none. With any other
	// error the operation's ID is given all the same, and its Binding where it is known.
	Load(ctx context.Context, id string) (Operation, error)
	// List is the references of all operations, in their order.
	List(ctx context.Context) ([]string, error)
	// Acquire takes the operation's lock and does not wait: ErrBusy where somebody
	// else, here or in another process, has it. It ends with its holder (WF-11).
	Acquire(ctx context.Context, id string) (Lock, error)
	// Held says whether somebody has the lock, and takes nothing.
	Held(ctx context.Context, id string) (bool, error)
	// AskCancel leaves the wish to stop where whoever runs the operation sees it.
	AskCancel(ctx context.Context, id string) error
	CancelAsked(ctx context.Context, id string) (bool, error)
}

// Lock is held until it is released or its process ends.
type Lock interface{ Release() error }

// Approvals hands out confirmations and uses them up.
type Approvals interface {
	// Issue stores a confirmation of a hash for the given time.
	Issue(ctx context.Context, hash string, ttl time.Duration) (Confirmation, error)
	// Use uses up a confirmation, for one caller of any number. It returns
	// ErrApproval unless the ID was issued for exactly that hash, less than ttl ago
	// and less than it was issued for, and never used.
	Use(ctx context.Context, id, hash string, ttl time.Duration) error
}

// Policies reads the policy as it stands now. Whoever asks twice may get two answers.
type Policies interface {
	Current(ctx context.Context) (Policy, error)
}

// Control is one of the middleware's. It returns nil to let the call through.
type Control interface {
	Name() string
	Admit(ctx context.Context, call Call, policy Policy) *Denial
}

// AuditRecord is one line of the audit log: who wanted what, and whether it was
// let through. It holds digests of what was said, never the content (WF-23).
type AuditRecord struct {
	Time      time.Time `json:"time"`
	Via       string    `json:"via"` // "call", "step" or "pipeline"
	Operation string    `json:"operation,omitempty"`
	Step      int       `json:"step,omitempty"` // from 1
	Attempt   int       `json:"attempt,omitempty"`
	Profile   string    `json:"profile_sha256"`
	Target    string    `json:"target_sha256"`
	Tool      string    `json:"tool"`
	Arguments string    `json:"arguments_sha256"`
	Decision  string    `json:"decision"` // "allowed", "denied" or "preview"
	Code      Code      `json:"code,omitempty"`
}

// Auditing appends records, durable before it returns.
type Auditing interface {
	Record(ctx context.Context, r AuditRecord) error
}

// Chat is the outside service. Errors are *RefusedError, ErrUnsent, or doubt:
// every other error means that nobody here knows what came of the request.
type Chat interface {
	ReadMessages(ctx context.Context, channel string, limit int) (json.RawMessage, error)
	Publish(ctx context.Context, channel, content, key string) (json.RawMessage, error)
	Update(ctx context.Context, channel, message, content, key string) (json.RawMessage, error)
	SetTopic(ctx context.Context, channel, topic, key string) (json.RawMessage, error)
	Nudge(ctx context.Context, channel, content, key string) (json.RawMessage, error)
	// Compose posts parts in order and returns the delivery receipt too.
	Compose(ctx context.Context, channel string, parts []string, key string) (json.RawMessage, Delivery, error)
}

// Delivery is what a receipt says.
type Delivery string

// The receipts; only Complete lets a workflow go on (WF-22).
const (
	Complete   Delivery = "complete"
	Partial    Delivery = "partial"
	Unverified Delivery = "unverified"
)

// Invoking runs one call through the whole middleware.
type Invoking interface {
	Invoke(ctx context.Context, call Call) Outcome
}
