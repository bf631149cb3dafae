package clauses

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// Need is one word of the fixed vocabulary in which a clause says what it takes
// to be judged. Its form is kind:name, or one plain word for the machine. The
// names of tools, probes, actions, processes and wires are those of the target
// file.
type Need struct {
	Name    string `json:"name"`
	Meaning string `json:"meaning"`
}

// Kind is the part before the colon; "machine" for a plain word.
func (n Need) Kind() string {
	kind, _, ok := strings.Cut(n.Name, ":")
	if !ok {
		return "machine"
	}
	return kind
}

// Missing is the verdict of a clause whose need is not met on a target that
// claims the profile (contract, "Verdicts"): what the target does not claim or
// cannot have makes the clause not-applicable, a surface or a hold on it that
// is not described makes it inconclusive, a lack of the machine not-run.
func (n Need) Missing() verdict.Verdict {
	switch n.Kind() {
	case "tool", "claim", "transport", "version":
		return verdict.NotApplicable
	case "machine":
		return verdict.NotRun
	default:
		return verdict.Inconclusive
	}
}

// vocabulary in reading order. Adding a word is fine; a word that a frozen set
// uses is never removed and never gets another meaning.
var vocabulary = []Need{
	{"tool:start", "the tool that opens a work record, or starts a workflow"},
	{"tool:note", "the tool that adds a note to a work record"},
	{"tool:status", "the tool that sets a work record's status, or reports an operation's state"},
	{"tool:complete", "the tool that completes a work record"},
	{"tool:cancel", "the tool that cancels a work record, or an operation"},
	{"tool:get", "the tool that reads a work record"},
	{"tool:resume", "the tool that resumes an operation"},
	{"tool:read", "the tool that reads the draft, or that reads back what was written"},
	{"tool:write", "at least one tool whose effect the read shows"},
	{"tool:update", "the tool that changes the draft"},
	{"tool:submit", "the tool that submits the draft"},
	{"tool:recheck_update", "the tool that looks up the receipt of an update"},
	{"tool:recheck_submission", "the tool that looks up the receipt of a submission"},

	{"claim:inputSchema", "a tool with an inputSchema that some arguments violate"},
	{"claim:outputSchema", "a tool that declares an outputSchema"},
	{"claim:readOnlyHint", "a tool annotated readOnlyHint: true"},
	{"claim:idempotentHint", "a tool annotated idempotentHint: true"},
	{"claim:destructiveHint", "a tool that writes, annotated destructiveHint: false"},
	{"claim:idempotency-key", "a write that takes an idempotency key"},
	{"claim:attachments", "a note that may carry the path of a staged file"},
	{"claim:access", "tools that declare the access they need, and a caller who lacks it"},
	{"claim:fencing", "a recheck that can declare a command not applied"},
	{"claim:retry-policy", "tool policies that declare idempotent and safe to retry"},
	{"claim:confirmation", "writes that need the confirmation of their own preview"},
	{"claim:bindings", "operations that belong to a profile and a target, and a caller of another"},
	{"claim:handles", "results that contain handles with a stated lifetime"},
	{"claim:jobs", "tools that hand work to a child process and give out its ID"},
	{"claim:tasks", "MCP Tasks over the same record"},

	{"transport:stdio", "the server is reached over stdio"},
	{"transport:http-sessions", "the server is reached over streamable HTTP with session IDs"},
	{"version:other", "a second contract version of helper, app or sidecar to pair or to migrate from"},

	{"process:helper", "the helper is started, killed and restarted by the harness"},
	{"process:second-helper", "a second helper process can be started on the same store"},
	{"process:app", "the app is started, stopped and killed by the harness"},
	{"process:account", "the account service that the app's session comes from is run by the harness"},
	{"process:server", "the server behind the page is started, killed and restarted by the harness"},

	{"wire:helper", "the link between caller and helper goes through the harness"},
	{"wire:account", "the link between app and account service goes through the harness"},
	{"wire:server", "the link between the page's tools and its server goes through the harness"},
	{"wire:outside", "the link between a step's tool and the outside service goes through the harness"},

	{"probe:anchor", "an independent look at an item ID's anchor"},
	{"probe:intents", "an independent look at the intents of an item ID"},
	{"probe:item", "an independent look at the item in the library, with its notes and status"},
	{"probe:card", "what a person sees of the item"},
	{"probe:writes", "the number of sync envelopes and refresh events"},
	{"probe:counters", "the numbers of intents that are retrying and that failed permanently"},
	{"probe:values", "an independent look at what the writes have stored"},
	{"probe:draft", "an independent look at the draft in the database"},
	{"probe:receipt", "an independent look at a command's receipt"},
	{"probe:editor", "what a person sees in the editor"},
	{"probe:checkpoint", "an independent look at an operation's checkpoint"},
	{"probe:audit", "an independent look at the audit records"},
	{"probe:effects", "what the outside service was asked to do, counted by the harness"},

	{"action:delete", "a person deletes the item"},
	{"action:sign_in", "the person, or another one, signs in"},
	{"action:sign_out", "the person's session ends"},
	{"action:revoke", "the account's access is withdrawn"},
	{"action:unblock", "a person lifts what blocks an intent"},
	{"action:lock_library", "the library is made busy, and free again"},
	{"action:type", "a person types in the editor"},
	{"action:reload", "a person reloads the page"},
	{"action:deny", "a control of the server (allowlist, access, write mode, …) is changed"},

	{"files:store", "where the server's own files are"},
	{"files:sidecar", "where the sidecar's files are"},
	{"files:library", "where the library's files are"},
	{"files:staging", "the root folder of staged attachments"},
	{"files:logs", "where the logs are"},

	{"tracer", "Linux with ptrace, to enumerate crash points and to watch file access"},
	{"browser", "a browser that the harness drives"},
	{"small-disk", "a file system that can be filled, or a tracer that answers ENOSPC"},
	{"second-user", "a second user ID that files can be given to"},
}

// Vocabulary returns every need that a clause may name, in reading order.
func Vocabulary() []Need { return slices.Clone(vocabulary) }

// NeedOf returns the vocabulary's entry for a word, for example "probe:anchor".
func NeedOf(name string) (Need, bool) {
	for _, n := range vocabulary {
		if n.Name == name {
			return n, true
		}
	}
	return Need{}, false
}

func checkNeeds(needs []string) error {
	seen := map[string]bool{}
	for _, n := range needs {
		if _, ok := NeedOf(n); !ok {
			return fmt.Errorf("need %q is not in the vocabulary (needs.go); use one of its words or add one with its meaning", n)
		}
		if seen[n] {
			return fmt.Errorf("need %q is named twice", n)
		}
		seen[n] = true
	}
	return nil
}
