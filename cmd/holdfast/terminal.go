package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/holdfast-mcp/holdfast/reports/progress"
	"github.com/holdfast-mcp/holdfast/reports/render"
	"github.com/holdfast-mcp/holdfast/suites"
)

// terminal is the file behind a writer if that is a terminal that can do more
// than print lines.
func terminal(w io.Writer) (*os.File, bool) {
	if o, ok := w.(*output); ok {
		w = o.to
	}
	f, ok := w.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// screenOf says what a writer can show.
func screenOf(w io.Writer) render.Screen {
	f, ok := terminal(w)
	if !ok {
		return render.Screen{}
	}
	s := render.Screen{Color: os.Getenv("NO_COLOR") == ""}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil {
		s.Width = width
	}
	return s
}

// watch shows progress on stderr: live on a terminal, as lines elsewhere and in CI.
func (p *program) watch() progress.Watch {
	// A terminal that does not know its width cannot have a line redrawn.
	if s := screenOf(p.err); s.Width > 0 && os.Getenv("CI") == "" {
		return progress.Live(p.err, s)
	}
	return progress.Lines(p.err)
}

// stop listens for signals: the first one ends the run in order, the second one
// at once, a third one is not caught any more. first is what is said at the first.
func (p *program) stop(first string) (suites.Stop, func()) {
	ctx, interrupt := context.WithCancel(context.Background())
	kill := make(chan struct{})
	caught := make(chan os.Signal, 2)
	over := make(chan struct{})
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		for n := 0; n < 2; n++ {
			select {
			case <-over:
				return
			case <-caught:
			}
			if n == 0 {
				fmt.Fprintln(p.err, first+"; once more ends at once")
				interrupt()
				continue
			}
			signal.Stop(caught)
			close(kill)
		}
	}()
	return suites.Stop{Interrupted: ctx, Kill: kill}, func() {
		signal.Stop(caught)
		close(over)
		interrupt()
	}
}
