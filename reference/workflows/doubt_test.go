package workflows

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/fixtures/chat"
	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

func nudge(text string) map[string]any {
	return step("nudge", arguments{"channel": "lobby", "content": text})
}

func read() map[string]any { return step("read_messages", arguments{"channel": "lobby"}) }

// declare makes nudges claim what a test needs of them.
func declare(w *world, idempotent, safe bool) {
	w.tool("nudge", func(p *ports.ToolPolicy) {
		p.Declared = ports.Declared{Idempotent: idempotent, SafeToRetry: safe}
	})
}

// The four combinations of the two claims, each killed with the step in flight and
// its effect applied (WF-14, WF-16, WF-17).
func TestOnlyBothClaimsPermitARetry(t *testing.T) {
	for name, c := range map[string]struct {
		idempotent, safe bool
		state            string
	}{
		"none":            {false, false, "needs_review"},
		"idempotent only": {true, false, "needs_review"},
		"safe only":       {false, true, "needs_review"},
		"both":            {true, true, "running"},
	} {
		t.Run(name, func(t *testing.T) {
			g, w := NewWithT(t), newWorld(t)
			declare(w, c.idempotent, c.safe)
			w.control(chat.HoldPath, chat.Hold{Point: chat.AfterApplied})
			s := w.launch()
			o := s.start(nudge("one"), nudge("two"))
			w.untilHeld()
			s.kill()
			w.control(chat.ReleasePath, struct{}{})

			s = w.launch()
			defer s.kill()
			g.Expect(s.about("resume", o.Operation).State).To(Equal(c.state))
			want, effects := "needs_review", []string{"one"}
			if c.state == "running" {
				want, effects = "completed", []string{"one", "two"}
			}
			g.Expect(s.ends(o.Operation).State).To(Equal(want))
			g.Expect(w.effects()).To(Equal(effects), "each step took effect once")
		})
	}
}

// A policy that claims more only after the step went out without a key must not
// permit a retry: the chat service could not know the second attempt.
func TestAClaimMadeAfterTheStepWentOutPermitsNothing(t *testing.T) {
	g, w := NewWithT(t), newWorld(t)
	w.control(chat.HoldPath, chat.Hold{Point: chat.AfterApplied})
	s := w.launch()
	o := s.start(nudge("one"))
	w.untilHeld()
	s.kill()
	w.control(chat.ReleasePath, struct{}{})
	declare(w, true, true)
	s = w.launch()
	defer s.kill()
	g.Expect(s.about("resume", o.Operation).State).To(Equal("needs_review"))
	g.Expect(w.effects()).To(Equal([]string{"one"}))
}

// What a surviving process sees: definite answers are no doubt, and only what was
// sent and not answered is (WF-18, WF-19, WF-22).
func TestWhatASurvivingProcessSees(t *testing.T) {
	one := chat.Which{Channel: chat.Lobby}
	refused := func(status int) func(*world) {
		return func(w *world) { w.control(chat.RefusePath, chat.Refusal{Which: one, Status: status}) }
	}
	for name, c := range map[string]struct {
		trouble func(*world)
		both    bool // the step declares both claims
		state   string
		code    ports.Code
		step    string // the state of the first step
		effects []string
	}{
		"400":            {trouble: refused(400), state: "failed", code: ports.CodeUpstreamRefused, step: "failed"},
		"403":            {trouble: refused(403), state: "failed", code: ports.CodeUpstreamForbidden, step: "failed"},
		"404":            {trouble: refused(404), state: "failed", code: ports.CodeUpstreamNotFound, step: "failed"},
		"429":            {trouble: refused(429), state: "failed", code: ports.CodeUpstreamRateLimited, step: "failed"},
		"503 that says":  {trouble: refused(503), state: "failed", code: ports.CodeUpstreamUnavailable, step: "failed"},
		"400, retryable": {trouble: refused(400), both: true, state: "failed", code: ports.CodeUpstreamRefused, step: "failed"},
		"504 that says nothing": {
			trouble: func(w *world) {
				w.control(chat.RefusePath, chat.Refusal{Which: one, Status: 504, Silent: true})
			},
			state: "needs_review", code: ports.CodeOutcomeUnknown, step: "unknown",
		},
		"502 after the effect": {
			trouble: func(w *world) {
				w.control(chat.RefusePath, chat.Refusal{Which: one, Status: 502, Applied: true})
			},
			state: "needs_review", code: ports.CodeOutcomeUnknown, step: "unknown", effects: []string{"one"},
		},
		"502 after the effect, retryable": {
			trouble: func(w *world) {
				w.control(chat.RefusePath, chat.Refusal{Which: one, Status: 502, Applied: true})
			},
			both:  true,
			state: "interrupted", code: ports.CodeOutcomeUnknown, step: "unknown", effects: []string{"one"},
		},
		"no service": {
			trouble: func(w *world) { w.chat = "http://127.0.0.1:1" },
			state:   "failed", code: ports.CodeUpstreamUnreachable, step: "failed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, w := NewWithT(t), newWorld(t)
			declare(w, c.both, c.both)
			chatURL := w.chat
			c.trouble(w)
			s := w.launch()
			defer s.kill()
			w.chat = chatURL
			o := s.start(nudge("one"), nudge("two"))
			end := s.ends(o.Operation)
			g.Expect(end.State).To(Equal(c.state), end.raw)
			g.Expect(end.Code).To(Equal(c.code))
			g.Expect(end.Steps).To(HaveKeyWithValue(c.step, 1))
			g.Expect(end.Steps).To(HaveKeyWithValue("pending", 1), "nothing follows")
			g.Expect(w.effects()).To(ConsistOf(c.effects))
			if c.state == "interrupted" {
				s.about("resume", o.Operation)
				g.Expect(s.ends(o.Operation).State).To(Equal("completed"))
				g.Expect(w.effects()).To(Equal([]string{"one", "two"}))
				return
			}
			g.Expect(s.about("resume", o.Operation).State).To(Equal(c.state), "resume does nothing")
			g.Expect(s.about("cancel", o.Operation).State).To(Equal(c.state), "nor does cancel")
			g.Expect(w.effects()).To(ConsistOf(c.effects))
		})
	}
}

func TestAnIncompleteDeliveryIsReviewedAndNotRepeated(t *testing.T) {
	for delivery, code := range map[chat.Delivery]ports.Code{chat.Partial: ports.CodeDeliveryPartial, chat.Unverified: ports.CodeDeliveryUnverified} {
		t.Run(string(delivery), func(t *testing.T) {
			g, w := NewWithT(t), newWorld(t)
			// Both claims make no difference: the receipt is an answer, and not a lost one.
			w.tool("composer_publish", func(p *ports.ToolPolicy) {
				p.Declared = ports.Declared{Idempotent: true, SafeToRetry: true}
			})
			s := w.launch()
			defer s.kill()
			w.control(chat.DeliverPath, chat.Delivering{Delivery: delivery})
			post := s.confirmed("composer_publish", arguments{"channel": "lobby", "parts": []string{"a", "b"}})
			o := s.start(step("composer_publish", post), nudge("after"))
			end := s.ends(o.Operation)
			g.Expect(end.State).To(Equal("needs_review"))
			g.Expect(end.Code).To(Equal(code))
			g.Expect(s.about("resume", o.Operation).State).To(Equal("needs_review"))
			g.Expect(w.effects()).To(HaveLen(1))
		})
	}
}

// A step that needs a confirmation cannot be retried with the one that is used up.
// Its first attempt stays in doubt, so that this is no failure but a review.
func TestARetryCannotUseAConfirmationAgain(t *testing.T) {
	g, w := NewWithT(t), newWorld(t)
	w.tool("publish", func(p *ports.ToolPolicy) {
		p.Declared = ports.Declared{Idempotent: true, SafeToRetry: true}
	})
	s := w.launch()
	write := s.confirmed("publish", post("one"))
	w.control(chat.HoldPath, chat.Hold{Point: chat.AfterApplied})
	o := s.start(step("publish", write))
	w.untilHeld()
	s.kill()
	w.control(chat.ReleasePath, struct{}{})
	s = w.launch()
	defer s.kill()
	s.about("resume", o.Operation)
	end := s.ends(o.Operation)
	g.Expect(end.Code).To(Equal(ports.CodeApprovalInvalid), end.raw)
	g.Expect(end.State).To(Equal("needs_review"))
	g.Expect(w.effects()).To(Equal([]string{"one"}))
}
