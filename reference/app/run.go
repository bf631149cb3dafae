package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/holdfast-mcp/holdfast/reference/app/executor"
	"github.com/holdfast-mcp/holdfast/reference/app/library"
	"github.com/holdfast-mcp/holdfast/reference/app/page"
	"github.com/holdfast-mcp/holdfast/reference/app/ports"
	"github.com/holdfast-mcp/holdfast/reference/app/session"
	"github.com/holdfast-mcp/holdfast/reference/sidecar"
	"github.com/holdfast-mcp/holdfast/reference/web"
)

// Ports are what the app stands on; each can be decorated by itself.
type Ports = ports.Ports

// sidecarBusy is how long the app waits for another writer of the sidecar. It is
// short against the helper's, because the executor comes again anyway.
const sidecarBusy = time.Second

// Sidecar is what an app does with a sidecar, of whichever contract version.
type Sidecar interface {
	sidecar.Executing
	sidecar.Reading
	io.Closer
}

// DefaultPorts opens the stores and stands everything on them. The caller closes
// them with the returned function after Run has returned.
func DefaultPorts(ctx context.Context, c Config) (Ports, func() error, error) {
	return PortsFor(ctx, c, func(ctx context.Context, path string, o sidecar.Options) (Sidecar, error) {
		return sidecar.OpenStore(ctx, path, o)
	})
}

// PortsFor is DefaultPorts over a sidecar of the contract version that open speaks.
func PortsFor(ctx context.Context, c Config, open func(context.Context, string, sidecar.Options) (Sidecar, error)) (_ Ports, closeAll func() error, err error) {
	var opened []io.Closer
	closeAll = func() error {
		var all error
		for i := len(opened) - 1; i >= 0; i-- {
			all = errors.Join(all, opened[i].Close())
		}
		return all
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("app: %w", err), closeAll())
		}
	}()
	if err := os.MkdirAll(filepath.Dir(c.Sidecar), 0o700); err != nil {
		return Ports{}, nil, fmt.Errorf("opening the sidecar: %w", err)
	}
	store, err := open(ctx, c.Sidecar, sidecar.Options{Busy: sidecarBusy})
	var newer *sidecar.VersionError
	switch {
	case errors.As(err, &newer):
		return Ports{Refused: newer}, closeAll, nil
	case err != nil:
		return Ports{}, nil, err
	}
	opened = append(opened, store)
	changes, err := ports.NewDataVersion(c.Sidecar)
	if err != nil {
		return Ports{}, nil, err
	}
	opened = append(opened, changes)
	records, err := library.Open(ctx, library.Path(c.Library))
	if err != nil {
		return Ports{}, nil, err
	}
	opened = append(opened, records)
	client := session.NewClient(c.AccountURL)
	opened = append(opened, client)
	return Ports{
		Sidecar:    store,
		Records:    store,
		Changes:    changes,
		Library:    records,
		Account:    session.New(client, c.Token, c.Retry),
		Access:     client,
		Guard:      ports.Guard{},
		Classifier: ports.Classes{},
		Staging:    ports.Folder(c.StagingRoot),
		Face:       page.Template{},
		Clock:      ports.SystemClock{},
	}, closeAll, nil
}

// Run serves and settles until ctx ends, then leaves in order.
func Run(ctx context.Context, c Config, p Ports) error {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port)))
	if err != nil {
		return fmt.Errorf("app: listening on port %d: %w; choose a free PORT", c.Port, err)
	}
	if c.Contract == 0 {
		c.Contract = sidecar.ContractVersion
	}
	log := c.logger()
	if p.Refused != nil {
		// It goes on listening, because helpers compare versions by asking.
		log.Error("nothing is settled or served", "error", p.Refused.Error())
		c.listens(log, listener)
		return serve(ctx, listener, page.Refusal(c.Contract, p.Refused))
	}
	settling := executor.New(executor.Config{Retry: c.Retry, Contract: c.Contract, Log: log}, p)
	handler := (&page.Server{Ports: p, Settling: settling, Contract: c.Contract, Log: log}).Handler()

	working, stop := context.WithCancel(ctx)
	var workers sync.WaitGroup
	workers.Go(func() {
		// One look before the account is asked for: what was accepted before the
		// login is then always seen to wait for it, however fast the login is.
		settling.Turn(working)
		workers.Go(func() { p.Account.Run(working) })
		settling.Run(working)
	})
	c.listens(log, listener)
	err = serve(ctx, listener, handler)
	stop()
	workers.Wait()
	return err
}

func (c Config) listens(log *slog.Logger, listener net.Listener) {
	url := "http://" + listener.Addr().String()
	log.Info("the app listens", "url", url, "contract", c.Contract)
	if c.Listening != nil {
		c.Listening(url)
	}
}

func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	if err := web.Serve(ctx, server, listener, nil); err != nil {
		return fmt.Errorf("app: serving on %s: %w", listener.Addr(), err)
	}
	return nil
}

func (c Config) logger() *slog.Logger {
	w := c.Stderr
	if w == nil {
		w = os.Stderr
	}
	return slog.New(slog.NewTextHandler(w, nil))
}
