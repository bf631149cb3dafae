// Package helper is the reference's MCP server for work records: it validates,
// accepts commands into the sidecar, and answers. It never opens the library.
package helper

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/holdfast-mcp/holdfast/reference/serving"
	"github.com/holdfast-mcp/holdfast/reference/sidecar"
	"github.com/holdfast-mcp/holdfast/reference/toolspec"
)

// Config says where a helper finds its world.
type Config struct {
	Sidecar     string // file, created if missing
	AppURL      string // the app's base URL; "" if there is no app to ask
	StagingRoot string // folder that attachment paths are relative to; "" refuses attachments
	Access      []toolspec.Access
	// HTTPAddr is the loopback address to serve streamable HTTP on; "" means stdio.
	HTTPAddr    string
	BusyTimeout time.Duration // how long a call waits for another writer of the sidecar
	AppTimeout  time.Duration // how long the app is waited for

	Stdin  io.ReadCloser  // of stdio; nil means the process's
	Stdout io.WriteCloser // of stdio; nil means the process's
	Stderr io.Writer      // logs; nil means the process's
	// Serving, when not nil, is told the MCP endpoint's URL once HTTP is served.
	Serving func(url string)
}

// FromEnv reads the configuration:
//
//	SIDECAR            path of the sidecar (required)
//	APP_URL            base URL of the app
//	STAGING_ROOT       folder of staged files
//	HELPER_ACCESS      access that callers have: "read,write" (default), "read"
//	HELPER_TRANSPORT   "stdio" (default) or "http"
//	ADDR, PORT         loopback address of http: ADDR as host:port, else 127.0.0.1:PORT
//	BUSY_TIMEOUT       wait for another writer of the sidecar, a duration (default 5s)
//	APP_TIMEOUT        wait for the app's answer, a duration (default 2s)
func FromEnv(getenv func(string) string) (Config, error) {
	c := Config{Sidecar: getenv("SIDECAR"), AppURL: strings.TrimRight(getenv("APP_URL"), "/"), StagingRoot: getenv("STAGING_ROOT")}
	if c.Sidecar == "" {
		return c, errors.New("helper: SIDECAR is not set; set it to the path of the sidecar file")
	}
	var err error
	if c.Access, err = accessOf(getenv("HELPER_ACCESS")); err != nil {
		return c, err
	}
	if c.BusyTimeout, err = duration(getenv, "BUSY_TIMEOUT", 5*time.Second); err != nil {
		return c, err
	}
	if c.AppTimeout, err = duration(getenv, "APP_TIMEOUT", 2*time.Second); err != nil {
		return c, err
	}
	switch transport := getenv("HELPER_TRANSPORT"); transport {
	case "", "stdio":
	case "http":
		c.HTTPAddr, err = serving.Address("helper", "HELPER_TRANSPORT", getenv("ADDR"), getenv("PORT"))
	default:
		err = fmt.Errorf("helper: HELPER_TRANSPORT is %q, expected stdio or http", transport)
	}
	return c, err
}

func accessOf(words string) ([]toolspec.Access, error) {
	if words == "" {
		words = "read,write"
	}
	var all []toolspec.Access
	for word := range strings.SplitSeq(words, ",") {
		a := toolspec.Access(strings.TrimSpace(word))
		if a != toolspec.Read && a != toolspec.Write {
			return nil, fmt.Errorf("helper: HELPER_ACCESS names %q, expected read, write or both with a comma", word)
		}
		all = append(all, a)
	}
	return all, nil
}

func duration(getenv func(string) string, name string, otherwise time.Duration) (time.Duration, error) {
	word := getenv(name)
	if word == "" {
		return otherwise, nil
	}
	d, err := time.ParseDuration(word)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("helper: %s is %q, expected a positive duration such as 500ms", name, word)
	}
	return d, nil
}

// Checking holds a call's raw arguments against the tool's schema, before dispatch.
type Checking interface {
	Check(tool string, arguments []byte) *sidecar.Failure
}

// Refusals counts the calls that were turned down for good before dispatch. A
// refusal leaves no record, so this number is all that stays of it (WR-34).
type Refusals interface {
	CountRefusal(ctx context.Context) error
}

// Ports are what the helper stands on; each can be decorated by itself.
type Ports struct {
	// Tools are what tools/list tells, in its order; nil means those of toolspec.
	Tools     []toolspec.Spec
	Checking  Checking
	Accepting sidecar.Accepting
	Reading   sidecar.Reading
	Dead      sidecar.MarkingDead
	Refusals  Refusals      // nil counts none
	App       AppReader     // nil if there is no app to ask
	Versions  Versions      // nil if there is no app to compare with
	NewID     func() string // a fresh item ID
	Dialect   Dialect       // the zero one is the current contract version's
	// Refused, when not nil, is why no call is accepted: the sidecar is of a
	// newer contract version. The other ports that stand on it are nil then.
	Refused *sidecar.VersionError
}

// Sidecar is what a helper does with a sidecar, of whichever contract version.
type Sidecar interface {
	sidecar.Accepting
	sidecar.Reading
	sidecar.MarkingDead
	io.Closer
}

// DefaultPorts opens the sidecar and stands everything on it. The caller closes
// the sidecar with the returned function after Run has returned.
func DefaultPorts(ctx context.Context, c Config) (Ports, func() error, error) {
	set, err := toolspec.Specs()
	if err != nil {
		return Ports{}, nil, err
	}
	return PortsFor(ctx, c, Dialect{Version: sidecar.ContractVersion, Tools: set}, func(ctx context.Context, path string, o sidecar.Options) (Sidecar, error) {
		return sidecar.OpenStore(ctx, path, o)
	})
}

// PortsFor is DefaultPorts for the contract version of a dialect.
func PortsFor(ctx context.Context, c Config, d Dialect, open func(context.Context, string, sidecar.Options) (Sidecar, error)) (Ports, func() error, error) {
	p := Ports{Tools: d.Tools.All(), Checking: checking{d.Tools}, NewID: NewItemID, Dialect: d}
	if c.AppURL != "" {
		app := NewAppClient(c.AppURL, c.AppTimeout).As(d.Version)
		p.App, p.Versions = app, app
	}
	store, err := open(ctx, c.Sidecar, sidecar.Options{Busy: c.BusyTimeout})
	switch {
	case errors.As(err, &p.Refused):
		// An agent reads answers, not the log of a process that did not start.
		c.logger().Error("every call is refused", "error", err.Error())
		return p, func() error { return nil }, nil
	case err != nil:
		return Ports{}, nil, err
	}
	p.Accepting, p.Reading, p.Dead = store, store, store
	p.Refusals, _ = store.(Refusals) // an older sidecar counts none
	return p, store.Close, nil
}

type checking struct{ set *toolspec.Set }

func (c checking) Check(tool string, arguments []byte) *sidecar.Failure {
	return c.set.Check(tool, arguments)
}

// NewItemID makes an item ID of 130 random bits.
func NewItemID() string { return "item_" + strings.ToLower(rand.Text()) }

func (c Config) logger() *slog.Logger {
	w := c.Stderr
	if w == nil {
		w = os.Stderr
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelInfo}))
}
