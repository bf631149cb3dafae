package wire

import "context"

// Line is what a fault needs of a wire. *Wire is one; the harness's self-test
// decorates it (design rule 12), so everything a fault gets is an interface.
type Line interface {
	Name() string
	// Trap holds one message: the match's occurrence, counted from now.
	Trap(Match) Trap
	// Gate holds every matching message from now until it is opened.
	Gate(Match) Gate
	// Refuse answers the next n matching requests itself, with 503 over HTTP and
	// with a JSON-RPC error over stdio; the callee sees none of them.
	Refuse(n int, m Match) Refusal
	// Instead answers the next n matching requests itself, with an HTTP status (over
	// stdio it is ignored) and a body; the callee sees none of them.
	Instead(n int, m Match, status int, body []byte) Refusal
	// Cut severs the caller's connections at toxiproxy; see Side.
	Cut(Side) error
	// Heal takes away cuts, delays and refusals, disarms every trap and opens
	// every gate. A stdio wire that was cut stays so: ErrSevered.
	Heal() error
	// Count is how many messages came that fit m; its occurrence is ignored.
	Count(Match) int
	// Passed is how many of them were let through to the other side.
	Passed(Match) int
	// Landed waits until what callers had sent by now has come through: it is
	// counted, and the exchange over. A caller that was killed may have sent a
	// request that has not come yet. Not on stdio.
	Landed(ctx context.Context) error
	// Messages are all messages so far, in the order in which they came.
	Messages() []Message
}

// Trap is armed for one message.
type Trap interface {
	// Held blocks until the message is held. Its error says what was waited for,
	// and what came instead.
	Held(ctx context.Context) (Held, error)
	// Disarm takes the trap away; a message that it holds goes on.
	Disarm()
}

// Held is a message that the proxy keeps until it is told what to do. The first
// decision stands, later ones do nothing; when the wire closes undecided
// messages are dropped.
type Held interface {
	Message() Message
	// Release lets it go on.
	Release()
	// Drop loses just this message: the other side waits until its own deadline,
	// and no error is made up for it.
	Drop()
	// Break loses just this message and ends the caller's connection that it was on,
	// so that the other side sees at once that nothing comes. Later connections go
	// through. On stdio, which has one connection, it is Drop.
	Break()
	// Replace sends body in its place; a replaced request is answered by the
	// proxy and does not reach the callee. status is that of HTTP, else ignored.
	Replace(status int, body []byte)
	// Duplicate lets a request go on twice, as a network may; the caller gets one
	// of the answers. An answer is released.
	Duplicate()
	// Settled is closed when the decision is carried out: the message is written
	// to the other side, or lost.
	Settled() <-chan struct{}
}

// Gate holds all that fits.
type Gate interface {
	// Waiting is how many messages it holds now.
	Waiting() int
	// Open lets them go, and all that come later.
	Open()
}

// Refusal counts what the proxy refused.
type Refusal interface {
	// Used is how many requests were refused so far.
	Used() int
	// Stop ends it early.
	Stop()
}

// Side says who sees a cut.
type Side int

const (
	// CallerOnly is the lost answer: the callee's side stays open and is drained,
	// so that the callee believes that it answered.
	CallerOnly Side = iota + 1
	// Both is the caller gone: the callee sees the disconnect as well.
	Both
)

// String is the side in words.
func (s Side) String() string {
	switch s {
	case CallerOnly:
		return "caller's side only"
	case Both:
		return "both sides"
	}
	return "no side"
}
