// Package ports holds the words of durable workflows and what its engine stands
// on. Each port can be decorated by itself.
package ports

// State is where an operation stands.
type State string

// The states of an operation. Completed, failed and cancelled never change;
// needs_review is sticky too: another attempt is a new operation (WF-27).
const (
	Running     State = "running"      // somebody holds its lock and runs it
	Interrupted State = "interrupted"  // nobody runs it; an explicit resume may
	NeedsReview State = "needs_review" // a person must look at the outside world first
	Completed   State = "completed"    // every step is done
	Failed      State = "failed"       // a step was definitely not done
	Cancelled   State = "cancelled"    // stopped on purpose, with no doubt about any write
)

// States lists the states of an operation.
func States() []State {
	return []State{Running, Interrupted, NeedsReview, Completed, Failed, Cancelled}
}

// Settled says whether neither resume nor cancel changes the state any more.
func (s State) Settled() bool { return s != Running && s != Interrupted }

// StepState is where a step stands.
type StepState string

// The states of a step.
const (
	Pending  StepState = "pending"
	InFlight StepState = "in_flight" // its request may leave, may have left
	Done     StepState = "done"
	StepFail StepState = "failed"  // denied, refused, or definitely not sent
	Unknown  StepState = "unknown" // nobody here can say what came of it
)

// StepStates lists the states of a step.
func StepStates() []StepState { return []StepState{Pending, InFlight, Done, StepFail, Unknown} }

// Doubtful says whether the outside world may hold more than the checkpoint says.
func (s StepState) Doubtful() bool { return s == InFlight || s == Unknown }

// Code is a safe error code: a stable word without anything of a caller's.
type Code string

// What a call can end with. The first group are the middleware's denials, in its order.
const (
	CodeInvalidArguments Code = "invalid_arguments"
	CodeGuildNotAllowed  Code = "guild_not_allowed"
	CodeCategoryDenied   Code = "category_denied"
	CodeAccessDenied     Code = "access_denied"
	CodeWritesDisabled   Code = "writes_disabled"
	CodeApprovalInvalid  Code = "approval_invalid"
	CodeAuditUnavailable Code = "audit_unavailable"
	CodePolicyUnreadable Code = "policy_unreadable"

	CodeUpstreamRefused     Code = "upstream_refused"
	CodeUpstreamUnauthed    Code = "upstream_unauthenticated"
	CodeUpstreamForbidden   Code = "upstream_forbidden"
	CodeUpstreamNotFound    Code = "upstream_not_found"
	CodeUpstreamRateLimited Code = "upstream_rate_limited"
	CodeUpstreamUnavailable Code = "upstream_unavailable"
	CodeUpstreamUnreachable Code = "upstream_unreachable"
	CodeOutcomeUnknown      Code = "outcome_unknown"
	CodeDeliveryPartial     Code = "delivery_partial"
	CodeDeliveryUnverified  Code = "delivery_unverified"
)

// What the workflow tools themselves answer with.
const (
	CodeOperationUnknown    Code = "operation_unknown"
	CodeOperationBusy       Code = "operation_busy"
	CodeStepRefused         Code = "step_refused"
	CodeCheckpointCorrupt   Code = "checkpoint_corrupt"
	CodeCheckpointVersion   Code = "checkpoint_version"
	CodeCheckpointNotStored Code = "checkpoint_not_stored"
	CodeStoreRefused        Code = "store_refused"
	CodeStoreUnreadable     Code = "store_unreadable"
	CodeStopped             Code = "stopped"
)

// Meaning says in one sentence what a code stands for and what to do next. It is
// the only text that goes with one, so that no content of a caller can.
type Meaning struct {
	Code    Code
	Meaning string
}

// Meanings is one sentence a code.
func Meanings() []Meaning {
	return []Meaning{
		{CodeInvalidArguments, "the arguments do not match the tool's inputSchema; nothing was sent"},
		{CodeGuildNotAllowed, "the target is on no allowlist, or the channel is not in the target; nothing was sent"},
		{CodeCategoryDenied, "the category of the channel does not permit this; nothing was sent"},
		{CodeAccessDenied, "the profile lacks the access that the tool needs; nothing was sent"},
		{CodeWritesDisabled, "writes are switched off; nothing was sent"},
		{CodeApprovalInvalid, "the confirmation is missing, wrong, used up or expired; nothing was sent; ask the tool for a new preview"},
		{CodeAuditUnavailable, "the audit log could not be written, and nothing runs unaudited; nothing was sent"},
		{CodePolicyUnreadable, "the policy file could not be read, and nothing is permitted without it; nothing was sent"},
		{CodeUpstreamRefused, "the chat service refused the request; nothing was applied"},
		{CodeUpstreamUnauthed, "the chat service does not know the server's token; nothing was applied"},
		{CodeUpstreamForbidden, "the chat service forbids this; nothing was applied"},
		{CodeUpstreamNotFound, "the chat service knows no such channel or message; nothing was applied"},
		{CodeUpstreamRateLimited, "the chat service asks to come later; nothing was applied"},
		{CodeUpstreamUnavailable, "the chat service is out of order and says that nothing was applied"},
		{CodeUpstreamUnreachable, "there was no connection to the chat service; the request never left"},
		{CodeOutcomeUnknown, "the request left and no answer came; look at the outside world before anything else"},
		{CodeDeliveryPartial, "only a part was delivered; look at the channel before another attempt"},
		{CodeDeliveryUnverified, "the delivery could not be verified; look at the channel before another attempt"},
		{CodeOperationUnknown, "there is no such operation for this profile and target"},
		{CodeOperationBusy, "somebody else runs this operation; ask for its status"},
		{CodeStepRefused, "a step names a tool that cannot be one: mcp_pipeline, a workflow tool, or none that exists; nothing was stored"},
		{CodeCheckpointCorrupt, "the checkpoint of this operation is damaged; it is kept as it is, for a person to look at"},
		{CodeCheckpointVersion, "the checkpoint was written in a format that this server does not read; it is kept as it is"},
		{CodeCheckpointNotStored, "the checkpoint could not be written, so the step was not invoked, or its result is not stored yet; make room and resume"},
		{CodeStoreRefused, "the store is not private: a link, another owner, or open to others; nothing of it was used"},
		{CodeStoreUnreadable, "the store could not be read"},
		{CodeStopped, "the server is leaving; nothing was started"},
	}
}

// Codes lists the codes.
func Codes() []Code {
	var all []Code
	for _, m := range Meanings() {
		all = append(all, m.Code)
	}
	return all
}
