// Package chain is the middleware that every call of an ordinary tool goes
// through, direct or as a step: validate, guild allowlist, category policy,
// access, write mode, approval, audit, error mapping. There is no way around it.
package chain

import (
	"context"
	"encoding/json"

	"github.com/holdfast-mcp/holdfast/reference/workflows/definitions"
	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// Controls are the middleware's in their order, up to the approval. Audit and
// error mapping stand behind them in Chain.
func Controls(check ports.Checking, approvals ports.Approvals) []ports.Control {
	return []ports.Control{
		control{"validation", validation(check)},
		control{"guild allowlist", allowlist},
		control{"category policy", category},
		control{"access", access},
		control{"write mode", writeMode},
		control{"approval", approval(approvals)},
	}
}

// control is one control made of a function.
type control struct {
	name  string
	admit func(context.Context, ports.Call, ports.Policy) *ports.Denial
}

func (c control) Name() string { return c.name }

func (c control) Admit(ctx context.Context, call ports.Call, p ports.Policy) *ports.Denial {
	return c.admit(ctx, call, p)
}

func deny(code ports.Code) *ports.Denial { return &ports.Denial{Code: code} }

// validation holds the binding and the arguments against their schemas.
func validation(check ports.Checking) func(context.Context, ports.Call, ports.Policy) *ports.Denial {
	return func(_ context.Context, call ports.Call, _ ports.Policy) *ports.Denial {
		binding, err := json.Marshal(call.Binding)
		if err != nil || !check.Check(definitions.BindingSchema, binding) || !check.Check(definitions.StepSchema(call.Tool), call.Arguments) {
			return deny(ports.CodeInvalidArguments)
		}
		return nil
	}
}

// allowlist lets through what is in a guild that may be used, and is the guild
// that the call is bound to: an operation does not reach beyond its target.
func allowlist(_ context.Context, call ports.Call, p ports.Policy) *ports.Denial {
	if !p.Allows(call.Target) || p.Channels[argumentsOf(call).Channel].Guild != call.Target {
		return deny(ports.CodeGuildNotAllowed)
	}
	return nil
}

func category(_ context.Context, call ports.Call, p ports.Policy) *ports.Denial {
	if !p.Permits(p.Channels[argumentsOf(call).Channel].Category, definitions.AccessOf(call.Tool)) {
		return deny(ports.CodeCategoryDenied)
	}
	return nil
}

func access(_ context.Context, call ports.Call, p ports.Policy) *ports.Denial {
	if !p.Has(call.Profile, definitions.AccessOf(call.Tool)) {
		return deny(ports.CodeAccessDenied)
	}
	return nil
}

func writeMode(_ context.Context, call ports.Call, p ports.Policy) *ports.Denial {
	if p.Writes != "on" && definitions.AccessOf(call.Tool) == ports.Write {
		return deny(ports.CodeWritesDisabled)
	}
	return nil
}

// approval uses up the confirmation of a write: the exact hash, the one-time ID
// and the word that goes with them (WF-06). Nothing else approves it, and no start
// of a workflow does (WF-05). A preview needs none: it is what hands them out.
func approval(approvals ports.Approvals) func(context.Context, ports.Call, ports.Policy) *ports.Denial {
	return func(ctx context.Context, call ports.Call, p ports.Policy) *ports.Denial {
		if !needsApproval(call, p) || call.Preview {
			return nil
		}
		a := argumentsOf(call)
		hash := Hash(call)
		if !a.Confirm || a.ConfirmHash != hash || approvals.Use(ctx, a.ConfirmID, hash, p.ConfirmTTL()) != nil {
			return deny(ports.CodeApprovalInvalid)
		}
		return nil
	}
}

func needsApproval(call ports.Call, p ports.Policy) bool {
	return definitions.AccessOf(call.Tool) == ports.Write && p.NeedsApproval(call.Tool)
}

// arguments are those of every ordinary tool; the schema has said which may be there.
type arguments struct {
	Channel     string   `json:"channel"`
	Message     string   `json:"message"`
	Content     string   `json:"content"`
	Topic       string   `json:"topic"`
	Parts       []string `json:"parts"`
	Limit       int      `json:"limit"`
	Confirm     bool     `json:"__confirm"`
	ConfirmHash string   `json:"__confirm_hash"`
	ConfirmID   string   `json:"__confirm_id"`
}

// argumentsOf reads the arguments; the validation stands in front of whoever asks,
// so that what cannot be read is empty and gets no further than the allowlist.
func argumentsOf(call ports.Call) arguments {
	var a arguments
	if json.Unmarshal(call.Arguments, &a) != nil {
		return arguments{}
	}
	return a
}
