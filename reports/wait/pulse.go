package wait

import "time"

// beat is how long a call to this process may stand still at most for what Pulse
// is about. It bounds nothing else.
const beat = 100 * time.Millisecond

// Pulse keeps a timer due in this process, for as long as it lives. Every process of
// ours begins with it.
//
// The runtime of Go 1.26 stops the world for a garbage collection without seeing a
// thread that enters a system call in that same moment. It then waits until the call
// returns, or until its monitor wakes: at the next timer, and after a minute where
// there is none. A server that waits for its input has none, and so would answer a
// call, now and then, only when the next one comes.
func Pulse() { time.AfterFunc(beat, Pulse) }
