package trips

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/holdfast-mcp/holdfast/reference/trips/api"
	"github.com/holdfast-mcp/holdfast/reference/trips/commands"
	"github.com/holdfast-mcp/holdfast/reference/trips/page"
	"github.com/holdfast-mcp/holdfast/reference/trips/ports"
	"github.com/holdfast-mcp/holdfast/reference/trips/sessions"
	"github.com/holdfast-mcp/holdfast/reference/web"
)

// Ports are what the server stands on; each can be decorated by itself.
type Ports struct {
	Store    ports.Store
	Sessions ports.Sessions
	Accounts ports.Accounts
	Gate     ports.Gate // nil makes it of Sessions (sessions.Gate)
	Access   ports.Access
	// Rules are what a command must pass, in their order; nil makes them of Access
	// (commands.Rules).
	Rules []ports.Rule
	// Digest is what two commands under one ID are compared by.
	Digest   func(ports.Command) string
	Refusals ports.Refusals
	// Page are the page and its assets, see the package page.
	Page fs.FS
}

// DefaultPorts opens the store, plants the drafts and stands everything on them. The
// caller closes it with the returned function after Run has returned.
func DefaultPorts(ctx context.Context, c Config) (Ports, func() error, error) {
	if _, err := sessions.File(c.Accounts).Read(); err != nil {
		return Ports{}, nil, fmt.Errorf("trips: %w", err)
	}
	store, err := openStore(ctx, c.Store)
	if err != nil {
		return Ports{}, nil, fmt.Errorf("trips: %w", err)
	}
	if err := store.Plant(ctx, c.Drafts); err != nil {
		return Ports{}, nil, errors.Join(fmt.Errorf("trips: %w", err), store.Close())
	}
	return Ports{
		Store:    store,
		Sessions: sessions.Sessions{Rows: store, Clock: systemClock{}},
		Accounts: sessions.File(c.Accounts),
		Access:   commands.Owners{},
		Digest:   commands.Digest,
		Refusals: api.Refusals{},
		Page:     page.Files(),
	}, store.Close, nil
}

// complete makes what is made of other ports.
func (p Ports) complete() Ports {
	if p.Gate == nil {
		p.Gate = sessions.Gate{Sessions: p.Sessions}
	}
	if p.Rules == nil {
		p.Rules = commands.Rules(p.Access)
	}
	return p
}

// Run serves until ctx ends, then leaves in order.
func Run(ctx context.Context, c Config, p Ports) error {
	p = p.complete()
	log := c.logger()
	handler, err := (&api.Server{
		Store: p.Store, Sessions: p.Sessions, Accounts: p.Accounts, Gate: p.Gate, Access: p.Access,
		Commands: commands.Commands{Store: p.Store, Access: p.Access, Rules: p.Rules, Digest: p.Digest},
		Refusals: p.Refusals, Page: p.Page, Deadlines: c.Deadlines, Log: log,
	}).Handler()
	if err != nil {
		return fmt.Errorf("trips: %w", err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port)))
	if err != nil {
		return fmt.Errorf("trips: listening on port %d: %w; choose a free PORT", c.Port, err)
	}
	url := "http://" + listener.Addr().String()
	log.Info("trips listens", "url", url)
	if c.Listening != nil {
		c.Listening(url)
	}
	return serve(ctx, listener, handler, log)
}

func serve(ctx context.Context, listener net.Listener, handler http.Handler, log *slog.Logger) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
	// A browser sends a request again by itself when a connection that it has used
	// before breaks, be it a mutation: so it gets none that it could use again (RC-09).
	server.SetKeepAlivesEnabled(false)
	if err := web.Serve(ctx, server, listener, nil); err != nil {
		return fmt.Errorf("trips: serving on %s: %w", listener.Addr(), err)
	}
	return nil
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }
