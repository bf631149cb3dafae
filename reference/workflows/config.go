// Package workflows is the reference's MCP server for durable workflows: ordinary
// tools over a chat service, one middleware for direct calls and for steps, and
// the tools that start, show, resume and cancel operations.
package workflows

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/holdfast-mcp/holdfast/reference/serving"
	"github.com/holdfast-mcp/holdfast/reference/toolspec"
	"github.com/holdfast-mcp/holdfast/reference/workflows/approval"
	"github.com/holdfast-mcp/holdfast/reference/workflows/audit"
	"github.com/holdfast-mcp/holdfast/reference/workflows/chain"
	"github.com/holdfast-mcp/holdfast/reference/workflows/chatclient"
	"github.com/holdfast-mcp/holdfast/reference/workflows/checkpoint"
	"github.com/holdfast-mcp/holdfast/reference/workflows/definitions"
	"github.com/holdfast-mcp/holdfast/reference/workflows/policy"
	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// Config says where a server finds its world.
type Config struct {
	Store       string // folder of the checkpoints
	Approvals   string // folder of the open confirmations
	Audit       string // file of the audit log
	Policy      string // file of the policy, see ports.Policy
	ChatURL     string // base URL of the chat service
	ChatToken   string // file of the token to show there; "" shows none
	ChatTimeout time.Duration
	// HTTPAddr is the loopback address to serve streamable HTTP on; "" means stdio.
	HTTPAddr string

	Stdin  io.ReadCloser  // of stdio; nil means the process's
	Stdout io.WriteCloser // of stdio; nil means the process's
	Stderr io.Writer      // logs; nil means the process's
	// Serving, when not nil, is told the MCP endpoint's URL once HTTP is served.
	Serving func(url string)
}

// FromEnv reads the configuration:
//
//	WORKFLOWS_STORE      folder of the checkpoints (required)
//	WORKFLOWS_APPROVALS  folder of the open confirmations (default: approvals beside the store)
//	WORKFLOWS_AUDIT      file of the audit log (default: audit/audit.jsonl beside the store)
//	WORKFLOWS_POLICY     file of the policy (default: policy.json beside the store)
//	CHAT_URL             base URL of the chat service (required)
//	CHAT_TOKEN_FILE      file of the token to show there
//	CHAT_TIMEOUT         wait for one answer of it, a duration (default 10s)
//	WORKFLOWS_TRANSPORT  "stdio" (default) or "http"
//	ADDR, PORT           loopback address of http: ADDR as host:port, else 127.0.0.1:PORT
func FromEnv(getenv func(string) string) (Config, error) {
	c := Config{Store: getenv("WORKFLOWS_STORE"), ChatURL: strings.TrimRight(getenv("CHAT_URL"), "/"), ChatToken: getenv("CHAT_TOKEN_FILE"), ChatTimeout: 10 * time.Second}
	if c.Store == "" {
		return c, errors.New("workflows: WORKFLOWS_STORE is not set; set it to the folder of the checkpoints")
	}
	if c.ChatURL == "" {
		return c, errors.New("workflows: CHAT_URL is not set; set it to the base URL of the chat service")
	}
	beside := func(variable string, otherwise ...string) string {
		if path := getenv(variable); path != "" {
			return path
		}
		return filepath.Join(append([]string{filepath.Dir(c.Store)}, otherwise...)...)
	}
	c.Approvals = beside("WORKFLOWS_APPROVALS", "approvals")
	c.Audit = beside("WORKFLOWS_AUDIT", "audit", "audit.jsonl")
	c.Policy = beside("WORKFLOWS_POLICY", "policy.json")
	if word := getenv("CHAT_TIMEOUT"); word != "" {
		d, err := time.ParseDuration(word)
		if err != nil || d <= 0 {
			return c, fmt.Errorf("workflows: CHAT_TIMEOUT is %q, expected a positive duration such as 500ms", word)
		}
		c.ChatTimeout = d
	}
	var err error
	switch transport := getenv("WORKFLOWS_TRANSPORT"); transport {
	case "", "stdio":
	case "http":
		c.HTTPAddr, err = serving.Address("workflows", "WORKFLOWS_TRANSPORT", getenv("ADDR"), getenv("PORT"))
	default:
		err = fmt.Errorf("workflows: WORKFLOWS_TRANSPORT is %q, expected stdio or http", transport)
	}
	return c, err
}

// Ports are what the server stands on; each can be decorated by itself.
type Ports struct {
	// Tools are what tools/list tells, in its order.
	Tools     []toolspec.Spec
	Checking  ports.Checking // of the tools, and under definitions.StepSchema of steps
	Admit     ports.Admitting
	Clock     ports.Clock
	IDs       ports.IDs
	Store     ports.Store
	Policies  ports.Policies
	Approvals ports.Approvals
	Audit     ports.Auditing
	Chat      ports.Chat
	// Controls are the middleware's up to the approval, in their order; nil makes
	// them of the ports above (chain.Controls).
	Controls []ports.Control
	// Background lets an operation run beside the call that began it.
	Background func(run func())
	// Tasks shows operations as MCP Tasks.
	Tasks ports.Tasking
	// Invoke is the whole middleware; nil makes it of the ports above (chain.Chain).
	Invoke ports.Invoking
}

// DefaultPorts opens the stores and stands everything on them.
func DefaultPorts(c Config) (Ports, error) {
	tools, steps, err := definitions.Compile()
	if err != nil {
		return Ports{}, err
	}
	if err := firstPolicy(c); err != nil {
		return Ports{}, err
	}
	p := Ports{
		Tools: tools.All(), Checking: checking{tools, steps}, Admit: definitions.Rules{}, Clock: systemClock{}, IDs: randomIDs{},
		Tasks: definitions.Tasks{}, Policies: policy.At(c.Policy), Chat: chatclient.New(c.ChatURL, c.ChatToken, c.ChatTimeout),
		Background: func(run func()) { go run() },
	}
	if p.Store, err = checkpoint.Open(c.Store); err != nil {
		return Ports{}, fmt.Errorf("workflows: %w", err)
	}
	approvals, err := approval.Open(c.Approvals, p.Clock, p.IDs)
	if err != nil {
		return Ports{}, fmt.Errorf("workflows: %w", err)
	}
	p.Approvals = approvals
	if p.Audit, err = audit.Open(c.Audit); err != nil {
		return Ports{}, fmt.Errorf("workflows: %w", err)
	}
	return p, nil
}

// complete makes what is made of other ports.
func (p Ports) complete() Ports {
	if p.Controls == nil {
		p.Controls = chain.Controls(p.Checking, p.Approvals)
	}
	if p.Invoke == nil {
		p.Invoke = chain.Chain{Policies: p.Policies, Controls: p.Controls, Approvals: p.Approvals, Audit: p.Audit, Clock: p.Clock, Chat: p.Chat}
	}
	return p
}

// firstPolicy writes the default policy where a server runs for the first time. A
// policy that is missing later stays missing, and nothing is permitted.
func firstPolicy(c Config) error {
	if _, err := os.Lstat(c.Store); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := policy.Begin(c.Policy); err != nil {
		return fmt.Errorf("workflows: %w", err)
	}
	return nil
}

// checking holds arguments against the schemas of tools and of steps. What is
// wrong with them is not told: it could repeat what they hold (WF-23).
type checking struct{ tools, steps *toolspec.Set }

func (c checking) Check(tool string, arguments []byte) bool {
	set := c.tools
	if strings.HasPrefix(tool, definitions.StepSchema("")) {
		set = c.steps
	}
	return set.Check(tool, arguments) == nil
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

type randomIDs struct{}

func (randomIDs) NewOperation() string    { return checkpoint.NewID() }
func (randomIDs) NewConfirmation() string { return "cf_" + strings.ToLower(rand.Text()) }

func (c Config) logger() *slog.Logger {
	w := c.Stderr
	if w == nil {
		w = os.Stderr
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelInfo}))
}
