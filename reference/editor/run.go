package editor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/holdfast-mcp/holdfast/reference/editor/person"
	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
	"github.com/holdfast-mcp/holdfast/reference/serving"
	"github.com/holdfast-mcp/holdfast/reference/web"
)

// Run serves tools and the person until the caller's input ends (stdio) or ctx is
// done. It signs in first; where that fails it serves all the same, and the person
// can sign in.
func Run(ctx context.Context, cfg Config, p Ports) error {
	log := cfg.logger()
	e := New(p, log)
	defer e.Close()
	if cfg.User != "" {
		if err := e.signInAtStart(ctx, cfg); err != nil {
			return err
		}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	// A server waits for its calls as it leaves, and they would wait for their deadlines.
	defer context.AfterFunc(ctx, e.Leave)()
	server := newServer(p, e, log)
	if cfg.HTTPAddr == cfg.PersonAddr && !strings.HasSuffix(cfg.HTTPAddr, ":0") { // both at one port
		return serving.HTTP(ctx, server, cfg.HTTPAddr, log, cfg.served, serving.Door{}, person.Handler(e, CodeOf))
	}
	seat, err := sit(ctx, cfg, e, log)
	if err != nil {
		return err
	}
	if cfg.HTTPAddr != "" {
		err = serving.HTTP(ctx, server, cfg.HTTPAddr, log, cfg.Serving, serving.Door{}, nil)
	} else {
		err = serving.Stdio(ctx, server, cfg.Stdin, cfg.Stdout, serving.Door{})
	}
	stop()
	return errors.Join(err, <-seat)
}

// served tells of both surfaces at one address.
func (cfg Config) served(endpoint string) {
	if cfg.Seated != nil {
		cfg.Seated(strings.TrimSuffix(endpoint, "/mcp"))
	}
	if cfg.Serving != nil {
		cfg.Serving(endpoint)
	}
}

func (e *Editor) signInAtStart(ctx context.Context, cfg Config) error {
	password, err := os.ReadFile(cfg.TokenFile)
	if err != nil {
		return fmt.Errorf("editor: read the password of %s: %w; set EDITOR_TOKEN_FILE to its file", cfg.User, err)
	}
	if err := e.SignIn(ctx, cfg.User, strings.TrimSpace(string(password))); err != nil {
		code := CodeOf(err)
		e.log.Warn("not signed in", "user", cfg.User, "code", code, "meaning", ports.MeaningOf(code))
	}
	return nil
}

// sit serves the person's surface until ctx is done; the channel tells its end.
func sit(ctx context.Context, cfg Config, e *Editor, log *slog.Logger) (<-chan error, error) {
	listener, err := net.Listen("tcp", cfg.PersonAddr)
	if err != nil {
		return nil, fmt.Errorf("editor: serve the person's surface on %s: %w; free the port or choose another EDITOR_PORT", cfg.PersonAddr, err)
	}
	url := "http://" + listener.Addr().String()
	log.Info("seated", "url", url)
	if cfg.Seated != nil {
		cfg.Seated(url)
	}
	server := &http.Server{Handler: person.Handler(e, CodeOf), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() {
		err := web.Serve(ctx, server, listener, nil)
		if err != nil {
			err = fmt.Errorf("editor: serve the person's surface on %s: %w", cfg.PersonAddr, err)
		}
		ended <- err
	}()
	return ended, nil
}
