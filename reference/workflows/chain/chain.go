package chain

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/holdfast-mcp/holdfast/reference/workflows/definitions"
	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// Chain is the whole middleware with the tools behind it.
type Chain struct {
	Policies  ports.Policies
	Controls  []ports.Control
	Approvals ports.Approvals
	Audit     ports.Auditing
	Clock     ports.Clock
	Chat      ports.Chat
}

// Invoke runs one call through all controls, as the policy stands now, and then
// the tool. A call that a control denies gets its audit record too.
func (c Chain) Invoke(ctx context.Context, call ports.Call) ports.Outcome {
	policy, denial := c.policy(ctx)
	if denial == nil {
		call.Preview = call.Preview && needsApproval(call, policy)
		for _, control := range c.Controls {
			if denial = control.Admit(ctx, call, policy); denial != nil {
				break
			}
		}
	}
	if err := c.Audit.Record(ctx, c.record(call, denial)); err != nil && denial == nil {
		denial = deny(ports.CodeAuditUnavailable) // nothing runs unaudited
	}
	switch {
	case denial != nil:
		return ports.Outcome{Ending: ports.Denied, Code: denial.Code}
	case call.Preview:
		return c.preview(ctx, call, policy)
	}
	return mapped(c.run(ctx, call))
}

func (c Chain) policy(ctx context.Context) (ports.Policy, *ports.Denial) {
	p, err := c.Policies.Current(ctx)
	if err != nil {
		return p, deny(ports.CodePolicyUnreadable)
	}
	return p, nil
}

func (c Chain) record(call ports.Call, denial *ports.Denial) ports.AuditRecord {
	r := ports.AuditRecord{
		Time: c.Clock.Now().UTC(), Via: "call", Operation: call.Operation, Step: call.Step, Attempt: call.Attempt,
		Profile: sum([]byte(call.Profile)), Target: sum([]byte(call.Target)), Tool: call.Tool, Arguments: sum(call.Arguments),
		Decision: "allowed",
	}
	switch {
	case call.Operation != "":
		r.Via = "step"
	case call.Step > 0:
		r.Via = "pipeline"
	}
	switch {
	case denial != nil:
		r.Decision, r.Code = "denied", denial.Code
	case call.Preview:
		r.Decision = "preview"
	}
	return r
}

func sum(raw []byte) string {
	s := sha256.Sum256(raw)
	return hex.EncodeToString(s[:])
}

// preview hands out what the approval asks for.
func (c Chain) preview(ctx context.Context, call ports.Call, p ports.Policy) ports.Outcome {
	confirmation, err := c.Approvals.Issue(ctx, Hash(call), p.ConfirmTTL())
	if err != nil {
		return ports.Outcome{Ending: ports.Unsent, Code: ports.CodeStoreUnreadable}
	}
	raw, err := json.Marshal(confirmation)
	if err != nil {
		return ports.Outcome{Ending: ports.Unsent, Code: ports.CodeStoreUnreadable}
	}
	return ports.Outcome{Ending: ports.Previewed, Result: raw}
}

// run asks the chat service.
func (c Chain) run(ctx context.Context, call ports.Call) (json.RawMessage, ports.Delivery, error) {
	a := argumentsOf(call)
	var raw json.RawMessage
	var err error
	switch call.Tool {
	case definitions.ReadMessages:
		limit := a.Limit
		if limit == 0 {
			limit = 50
		}
		raw, err = c.Chat.ReadMessages(ctx, a.Channel, limit)
	case definitions.Publish:
		raw, err = c.Chat.Publish(ctx, a.Channel, a.Content, call.Key)
	case definitions.UpdateMessage:
		raw, err = c.Chat.Update(ctx, a.Channel, a.Message, a.Content, call.Key)
	case definitions.SetTopic:
		raw, err = c.Chat.SetTopic(ctx, a.Channel, a.Topic, call.Key)
	case definitions.Nudge:
		raw, err = c.Chat.Nudge(ctx, a.Channel, a.Content, call.Key)
	case definitions.ComposerPublish:
		return c.Chat.Compose(ctx, a.Channel, a.Parts, call.Key)
	default:
		return nil, "", ports.ErrUnsent
	}
	return raw, ports.Complete, err
}

// mapped turns what the chat service said into an outcome with a safe code. What
// is not known for certain is doubted.
func mapped(raw json.RawMessage, delivery ports.Delivery, err error) ports.Outcome {
	var refused *ports.RefusedError
	switch {
	case errors.As(err, &refused):
		return ports.Outcome{Ending: ports.Refused, Code: refusalCode(refused.Status)}
	case errors.Is(err, ports.ErrUnsent):
		return ports.Outcome{Ending: ports.Unsent, Code: ports.CodeUpstreamUnreachable}
	case err != nil:
		return ports.Outcome{Ending: ports.Doubted, Code: ports.CodeOutcomeUnknown}
	case delivery == ports.Partial:
		return ports.Outcome{Ending: ports.Incomplete, Code: ports.CodeDeliveryPartial, Result: raw}
	case delivery != ports.Complete:
		return ports.Outcome{Ending: ports.Incomplete, Code: ports.CodeDeliveryUnverified, Result: raw}
	}
	return ports.Outcome{Ending: ports.Succeeded, Result: raw}
}

func refusalCode(status int) ports.Code {
	switch {
	case status == http.StatusUnauthorized:
		return ports.CodeUpstreamUnauthed
	case status == http.StatusForbidden:
		return ports.CodeUpstreamForbidden
	case status == http.StatusNotFound:
		return ports.CodeUpstreamNotFound
	case status == http.StatusTooManyRequests:
		return ports.CodeUpstreamRateLimited
	case status >= http.StatusInternalServerError:
		return ports.CodeUpstreamUnavailable
	}
	return ports.CodeUpstreamRefused
}
