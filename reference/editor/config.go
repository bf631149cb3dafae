// Package editor is the reference's editor of trips without a browser: an MCP
// server whose tools and whose person work on the same drafts, so that a lost
// answer is recovered and not repeated.
package editor

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-mcp/holdfast/reference/editor/definitions"
	"github.com/holdfast-mcp/holdfast/reference/editor/desk"
	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
	"github.com/holdfast-mcp/holdfast/reference/editor/tripsclient"
	"github.com/holdfast-mcp/holdfast/reference/serving"
	"github.com/holdfast-mcp/holdfast/reference/toolspec"
)

// Config says where an editor finds its world.
type Config struct {
	TripsURL  string // base URL of the trips server
	User      string // who signs in at the start; "" for nobody
	TokenFile string // file of their password
	// Deadline bounds a mutation, LookupDeadline a recheck and every read.
	Deadline, LookupDeadline time.Duration
	// PersonAddr is the loopback address of the person's surface.
	PersonAddr string
	// HTTPAddr is the loopback address to serve streamable HTTP on; "" means stdio.
	HTTPAddr string

	Stdin  io.ReadCloser  // of stdio; nil means the process's
	Stdout io.WriteCloser // of stdio; nil means the process's
	Stderr io.Writer      // logs; nil means the process's
	// Serving, when not nil, is told the MCP endpoint's URL once HTTP is served.
	Serving func(url string)
	// Seated, when not nil, is told the base URL of the person's surface.
	Seated func(url string)
}

// FromEnv reads the configuration:
//
//	TRIPS_URL               base URL of the trips server (required)
//	EDITOR_PORT             port of the person's surface on 127.0.0.1, 0 for any free one (required);
//	                        over http it may be PORT, and both are served there
//	EDITOR_USER             who signs in at the start
//	EDITOR_TOKEN_FILE       file of their password (required with EDITOR_USER)
//	EDITOR_DEADLINE         wait for one mutation, a duration (default 5s)
//	EDITOR_LOOKUP_DEADLINE  wait for one recheck or read, a duration (default 3s)
//	EDITOR_TRANSPORT        "stdio" (default) or "http"
//	ADDR, PORT              loopback address of http: ADDR as host:port, else 127.0.0.1:PORT
func FromEnv(getenv func(string) string) (Config, error) {
	c := Config{TripsURL: strings.TrimRight(getenv("TRIPS_URL"), "/"), User: getenv("EDITOR_USER"), TokenFile: getenv("EDITOR_TOKEN_FILE")}
	if u, err := url.Parse(c.TripsURL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return c, fmt.Errorf("editor: TRIPS_URL is %q, expected the base URL of the trips server, such as http://127.0.0.1:8080", c.TripsURL)
	}
	if c.User != "" && c.TokenFile == "" {
		return c, errors.New("editor: EDITOR_USER is set, and EDITOR_TOKEN_FILE is not; set it to the file of the user's password")
	}
	var err error
	if c.Deadline, err = duration(getenv, "EDITOR_DEADLINE", 5*time.Second); err != nil {
		return c, err
	}
	if c.LookupDeadline, err = duration(getenv, "EDITOR_LOOKUP_DEADLINE", 3*time.Second); err != nil {
		return c, err
	}
	port := getenv("EDITOR_PORT")
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return c, fmt.Errorf("editor: EDITOR_PORT is %q, expected the port of the person's surface, 0 for any free one", port)
	}
	c.PersonAddr = net.JoinHostPort("127.0.0.1", port)
	switch transport := getenv("EDITOR_TRANSPORT"); transport {
	case "", "stdio":
	case "http":
		c.HTTPAddr, err = serving.Address("editor", "EDITOR_TRANSPORT", getenv("ADDR"), getenv("PORT"))
	default:
		err = fmt.Errorf("editor: EDITOR_TRANSPORT is %q, expected stdio or http", transport)
	}
	return c, err
}

func duration(getenv func(string) string, variable string, otherwise time.Duration) (time.Duration, error) {
	word := getenv(variable)
	if word == "" {
		return otherwise, nil
	}
	d, err := time.ParseDuration(word)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("editor: %s is %q, expected a positive duration such as 500ms", variable, word)
	}
	return d, nil
}

// Ports are what the editor stands on; each can be decorated by itself.
type Ports struct {
	// Tools are what tools/list tells, in its order.
	Tools       []toolspec.Spec
	Checking    ports.Checking
	Trips       ports.Trips
	Classifying ports.Classifying
	Deadlines   ports.Deadlines
	Admission   ports.Admission
	Merging     ports.Merging
	Showing     ports.Showing
	Operations  ports.Operations
}

// DefaultPorts stands everything on the trips server.
func DefaultPorts(c Config) (Ports, error) {
	tools, err := definitions.Compile()
	if err != nil {
		return Ports{}, err
	}
	return Ports{
		Tools: tools.All(), Checking: checking{tools}, Trips: tripsclient.New(c.TripsURL), Classifying: Classes{},
		Deadlines: Limits{c.Deadline, c.LookupDeadline}, Admission: desk.Admission{}, Merging: desk.Merging{}, Showing: desk.Showing{}, Operations: desk.NewSlots(),
	}, nil
}

// checking holds arguments against the schemas of the tools (RC-01).
type checking struct{ tools *toolspec.Set }

func (c checking) Check(tool string, arguments []byte) string {
	if failed := c.tools.Check(tool, arguments); failed != nil {
		return failed.Reason
	}
	return ""
}

func (c Config) logger() *slog.Logger {
	w := c.Stderr
	if w == nil {
		w = os.Stderr
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelInfo}))
}
