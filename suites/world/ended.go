package world

// LeftOpenMark says that a helper over HTTP left an answer open: its end did not come
// within the limit of an answer.
const LeftOpenMark = "answer-left-open"

// answersEnded waits until a helper over HTTP has ended all its answers so far. A
// caller has its answer before that, and so what is counted of the next call would
// begin with the end of the last one: in one run it does, in another it does not. A
// helper that leaves its answers open is waited for once.
func (c *Caller) answersEnded() {
	if c.wire == nil || c.path == "" || c.w.leftOpen {
		return
	}
	if err := c.wire.Landed(c.w.ctx); err != nil {
		c.w.leftOpen = true
		c.w.Mark(LeftOpenMark, map[string]any{"process": c.name, "error": err.Error()})
	}
}
