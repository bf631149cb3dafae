package chain

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/toolspec"
	"github.com/holdfast-mcp/holdfast/reference/workflows/definitions"
	"github.com/holdfast-mcp/holdfast/reference/workflows/policy"
	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// world stands in for everything around the middleware.
type world struct {
	policy    ports.Policy
	noPolicy  error
	noAudit   error
	records   []ports.AuditRecord
	used      []string
	issued    int
	sent      []string
	answer    error
	delivery  ports.Delivery
	confirmed string // the ID that is open
}

func (w *world) Current(context.Context) (ports.Policy, error) { return w.policy, w.noPolicy }

func (w *world) Record(_ context.Context, r ports.AuditRecord) error {
	if w.noAudit == nil {
		w.records = append(w.records, r)
	}
	return w.noAudit
}

func (w *world) Issue(_ context.Context, hash string, ttl time.Duration) (ports.Confirmation, error) {
	w.issued++
	return ports.Confirmation{Hash: hash, ID: "cf_1", Expires: "then"}, nil
}

func (w *world) Use(_ context.Context, id, _ string, _ time.Duration) error {
	if id != w.confirmed {
		return ports.ErrApproval
	}
	w.used, w.confirmed = append(w.used, id), ""
	return nil
}

func (w *world) Now() time.Time { return time.Unix(0, 0) }

func (w *world) send(what ...string) (json.RawMessage, error) {
	w.sent = append(w.sent, strings.Join(what, " "))
	return json.RawMessage(`{"ok":true}`), w.answer
}

func (w *world) ReadMessages(_ context.Context, channel string, limit int) (json.RawMessage, error) {
	return w.send("read", channel)
}

func (w *world) Publish(_ context.Context, channel, content, key string) (json.RawMessage, error) {
	return w.send("publish", channel, content, key)
}

func (w *world) Update(_ context.Context, channel, message, content, key string) (json.RawMessage, error) {
	return w.send("update", channel, message, content, key)
}

func (w *world) SetTopic(_ context.Context, channel, topic, key string) (json.RawMessage, error) {
	return w.send("topic", channel, topic, key)
}

func (w *world) Nudge(_ context.Context, channel, content, key string) (json.RawMessage, error) {
	return w.send("nudge", channel, content, key)
}

func (w *world) Compose(_ context.Context, channel string, parts []string, key string) (json.RawMessage, ports.Delivery, error) {
	raw, err := w.send("compose", channel, strings.Join(parts, "+"), key)
	return raw, w.delivery, err
}

type schemas struct{}

var compiled = sync.OnceValues(func() (*toolspec.Set, error) {
	_, steps, err := definitions.Compile()
	return steps, err
})

func (schemas) Check(tool string, arguments []byte) bool {
	steps, err := compiled()
	return err == nil && steps.Check(tool, arguments) == nil
}

func newWorld() (*world, Chain) {
	w := &world{policy: policy.Default(), delivery: ports.Complete}
	return w, Chain{Policies: w, Controls: Controls(schemas{}, w), Approvals: w, Audit: w, Clock: w, Chat: w}
}

// confirmed is a publish that all controls let through.
func confirmed(w *world) ports.Call {
	c := ports.Call{Binding: ports.Binding{Profile: "writer", Target: "guild-1"}, Tool: definitions.Publish, Arguments: json.RawMessage(`{"channel":"lobby","content":"canary"}`), Key: "k"}
	w.confirmed = "cf_1"
	c.Arguments = json.RawMessage(`{"channel":"lobby","content":"canary","__confirm":true,"__confirm_hash":"` + Hash(c) + `","__confirm_id":"cf_1"}`)
	return c
}

func TestAllControlsLetThroughWhatIsRight(t *testing.T) {
	g := NewWithT(t)
	w, chain := newWorld()
	out := chain.Invoke(t.Context(), confirmed(w))
	g.Expect(out).To(Equal(ports.Outcome{Ending: ports.Succeeded, Result: json.RawMessage(`{"ok":true}`)}))
	g.Expect(w.sent).To(Equal([]string{"publish lobby canary k"}))
	g.Expect(w.used).To(Equal([]string{"cf_1"}))
	g.Expect(w.records).To(HaveLen(1))
	raw, _ := json.Marshal(w.records[0])
	g.Expect(string(raw)).NotTo(Or(ContainSubstring("canary"), ContainSubstring("lobby"), ContainSubstring("cf_1"), ContainSubstring("writer")), "digests only")
	g.Expect(w.records[0].Decision).To(Equal("allowed"))
}

// Of all that is wrong, the first control in the order is the one that denies:
// each case is the one before with one thing mended.
func TestTheOrderOfTheControls(t *testing.T) {
	type call = func(*world, *ports.Call)
	broken := []struct {
		code  ports.Code
		spoil call
	}{
		{ports.CodePolicyUnreadable, func(w *world, _ *ports.Call) { w.noPolicy = errors.New("gone") }},
		{ports.CodeInvalidArguments, func(_ *world, c *ports.Call) { c.Profile = "no name" }},
		{ports.CodeGuildNotAllowed, func(w *world, _ *ports.Call) { w.policy.Guilds = nil }},
		{ports.CodeCategoryDenied, func(w *world, _ *ports.Call) { w.policy.Categories = nil }},
		{ports.CodeAccessDenied, func(w *world, _ *ports.Call) { w.policy.Profiles = nil }},
		{ports.CodeWritesDisabled, func(w *world, _ *ports.Call) { w.policy.Writes = "off" }},
		{ports.CodeApprovalInvalid, func(w *world, _ *ports.Call) { w.confirmed = "" }},
		{ports.CodeAuditUnavailable, func(w *world, _ *ports.Call) { w.noAudit = errors.New("full") }},
	}
	for first := range broken {
		t.Run(string(broken[first].code), func(t *testing.T) {
			g := NewWithT(t)
			w, chain := newWorld()
			c := confirmed(w)
			for _, b := range broken[first:] {
				b.spoil(w, &c)
			}
			g.Expect(chain.Invoke(t.Context(), c)).To(Equal(ports.Outcome{Ending: ports.Denied, Code: broken[first].code}))
			g.Expect(w.sent).To(BeEmpty())
			alone, chain := newWorld()
			c = confirmed(alone)
			broken[first].spoil(alone, &c)
			g.Expect(chain.Invoke(t.Context(), c).Code).To(Equal(broken[first].code))
			if alone.noAudit == nil {
				g.Expect(alone.records).To(HaveLen(1), "what is denied is on record too")
				g.Expect(alone.records[0]).To(And(HaveField("Decision", "denied"), HaveField("Code", broken[first].code)))
			}
			if broken[first].code != ports.CodeAuditUnavailable {
				g.Expect(alone.used).To(BeEmpty(), "no confirmation is used up by a call that is denied before the approval")
			}
		})
	}
}

func TestWhatTheMiddlewareMakesOfAnAnswer(t *testing.T) {
	refused := func(status int) error { return &ports.RefusedError{Status: status} }
	for name, c := range map[string]struct {
		err      error
		delivery ports.Delivery
		ending   ports.Ending
		code     ports.Code
	}{
		"done":          {delivery: ports.Complete, ending: ports.Succeeded},
		"400":           {err: refused(400), ending: ports.Refused, code: ports.CodeUpstreamRefused},
		"401":           {err: refused(401), ending: ports.Refused, code: ports.CodeUpstreamUnauthed},
		"403":           {err: refused(403), ending: ports.Refused, code: ports.CodeUpstreamForbidden},
		"404":           {err: refused(404), ending: ports.Refused, code: ports.CodeUpstreamNotFound},
		"409":           {err: refused(409), ending: ports.Refused, code: ports.CodeUpstreamRefused},
		"429":           {err: refused(429), ending: ports.Refused, code: ports.CodeUpstreamRateLimited},
		"503":           {err: refused(503), ending: ports.Refused, code: ports.CodeUpstreamUnavailable},
		"unsent":        {err: ports.ErrUnsent, ending: ports.Unsent, code: ports.CodeUpstreamUnreachable},
		"anything else": {err: errors.New("the canary"), ending: ports.Doubted, code: ports.CodeOutcomeUnknown},
		"partial":       {delivery: ports.Partial, ending: ports.Incomplete, code: ports.CodeDeliveryPartial},
		"unverified":    {delivery: ports.Unverified, ending: ports.Incomplete, code: ports.CodeDeliveryUnverified},
		"no receipt":    {delivery: "", ending: ports.Incomplete, code: ports.CodeDeliveryUnverified},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w, chain := newWorld()
			w.policy.Tools[definitions.ComposerPublish] = ports.ToolPolicy{Approval: "none"}
			w.answer, w.delivery = c.err, c.delivery
			out := chain.Invoke(t.Context(), ports.Call{Binding: ports.Binding{Profile: "writer", Target: "guild-1"}, Tool: definitions.ComposerPublish, Arguments: json.RawMessage(`{"channel":"lobby","parts":["a"]}`)})
			g.Expect([]any{out.Ending, out.Code}).To(Equal([]any{c.ending, c.code}))
		})
	}
}

func TestAPreviewHandsOutAConfirmationAndSendsNothing(t *testing.T) {
	g := NewWithT(t)
	w, chain := newWorld()
	c := ports.Call{Binding: ports.Binding{Profile: "writer", Target: "guild-1"}, Tool: definitions.Publish, Arguments: json.RawMessage(`{"channel":"lobby","content":"x"}`), Preview: true}
	out := chain.Invoke(t.Context(), c)
	g.Expect(out.Ending).To(Equal(ports.Previewed))
	g.Expect(out.Result).To(MatchJSON(`{"confirm_hash":"` + Hash(c) + `","confirm_id":"cf_1","expires_at":"then"}`))
	g.Expect(w.sent).To(BeEmpty())
	g.Expect(w.records[0].Decision).To(Equal("preview"))

	w.policy.Writes = "off"
	g.Expect(chain.Invoke(t.Context(), c)).To(Equal(ports.Outcome{Ending: ports.Denied, Code: ports.CodeWritesDisabled}), "the other controls stand in front of it")
	g.Expect(w.issued).To(Equal(1))

	w.policy.Writes = "on"
	w.policy.Tools[definitions.Publish] = ports.ToolPolicy{Approval: "none"}
	g.Expect(chain.Invoke(t.Context(), c).Ending).To(Equal(ports.Succeeded), "what needs no approval needs no preview")
}

func TestAHashIsOfExactlyOneWrite(t *testing.T) {
	g := NewWithT(t)
	base := ports.Call{Binding: ports.Binding{Profile: "p", Target: "t"}, Tool: "publish", Arguments: json.RawMessage(`{"a":1,"b":"x"}`)}
	same := base
	same.Arguments = json.RawMessage(` {"b" : "x", "a":1, "__confirm":true, "__confirm_id":"i", "__confirm_hash":"h"} `)
	g.Expect(Hash(same)).To(Equal(Hash(base)))
	for name, change := range map[string]func(*ports.Call){
		"profile":  func(c *ports.Call) { c.Profile = "q" },
		"target":   func(c *ports.Call) { c.Target = "q" },
		"the two":  func(c *ports.Call) { c.Profile, c.Target = "t", "p" },
		"tool":     func(c *ports.Call) { c.Tool = "nudge" },
		"a value":  func(c *ports.Call) { c.Arguments = json.RawMessage(`{"a":1,"b":"y"}`) },
		"a number": func(c *ports.Call) { c.Arguments = json.RawMessage(`{"a":1.0,"b":"x"}`) },
		"a name":   func(c *ports.Call) { c.Arguments = json.RawMessage(`{"a":1,"c":"x"}`) },
		"one more": func(c *ports.Call) { c.Arguments = json.RawMessage(`{"a":1,"b":"x","c":null}`) },
	} {
		other := base
		change(&other)
		g.Expect(Hash(other)).NotTo(Equal(Hash(base)), name)
	}
}
