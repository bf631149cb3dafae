// Package serving is how the reference's MCP servers speak: over stdio, and over
// streamable HTTP with sessions and without.
package serving

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holdfast-mcp/holdfast/reference/web"
)

// Stdio serves until the caller's input ends or ctx is done. in and out are the
// process's where they are nil. Calls that are under way are answered first.
func Stdio(ctx context.Context, server *mcp.Server, in io.ReadCloser, out io.WriteCloser, door Door) error {
	if in == nil {
		in = os.Stdin
	}
	if out == nil {
		out = os.Stdout
	}
	server.AddReceivingMiddleware(onlyOffered)
	d := newDrain(ctx, in, out, door)
	err := server.Run(ctx, &mcp.IOTransport{Reader: drainIn{d}, Writer: drainOut{d}})
	if ctx.Err() != nil {
		return nil // asked to leave
	}
	if err != nil {
		return fmt.Errorf("serve stdio: %w", err)
	}
	return nil
}

// statelessFrom is the first MCP revision without sessions; revisions are dates.
const statelessFrom = "2026-07-28"

// HTTP serves streamable HTTP on a loopback address until ctx is done: revisions
// with sessions, and those without. started, when not nil, is told the MCP
// endpoint's URL. beside, when not nil, serves every other path of the address but
// /healthz.
func HTTP(ctx context.Context, server *mcp.Server, addr string, log *slog.Logger, started func(url string), door Door, beside http.Handler) error {
	server.AddReceivingMiddleware(onlyOffered)
	find := func(*http.Request) *mcp.Server { return server }
	sessions := mcp.NewStreamableHTTPHandler(find, nil)
	stateless := mcp.NewStreamableHTTPHandler(find, &mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true})
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= statelessFrom {
			stateless.ServeHTTP(w, r)
			return
		}
		if err := door.request(r); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		sessions.ServeHTTP(w, r)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })

	if beside != nil {
		mux.Handle("/", beside)
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("serve HTTP on %s: %w; free the port or choose another PORT", addr, err)
	}
	url := "http://" + listener.Addr().String() + "/mcp"
	log.Info("serving", "url", url)
	if started != nil {
		started(url)
	}
	speaking := &http.Server{Handler: http.NewCrossOriginProtection().Handler(mux), ReadHeaderTimeout: 10 * time.Second}
	err = web.Serve(ctx, speaking, listener, func() {
		for session := range server.Sessions() {
			_ = session.Close() // ends its streams; one that is gone already is what is wanted
		}
	})
	if err != nil {
		return fmt.Errorf("serve HTTP on %s: %w", addr, err)
	}
	return nil
}
