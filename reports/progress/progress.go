// Package progress shows a run while it runs: a live line on a terminal, plain
// lines elsewhere.
package progress

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/render"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// Watch is told what happens in a run. Calls do not overlap.
type Watch interface {
	// Begin starts a run of that many specs on that many workers.
	Begin(specs, procs int)
	// Started and Finished name a spec by its key.
	Started(key string)
	Finished(s reports.Spec)
	// Say shows a sentence for the person who waits.
	Say(text string)
	// End ends the display; nothing may follow it but Begin.
	End()
}

// Silent shows nothing.
type Silent struct{}

// Begin does nothing.
func (Silent) Begin(int, int) {}

// Started does nothing.
func (Silent) Started(string) {}

// Finished does nothing.
func (Silent) Finished(reports.Spec) {}

// Say does nothing.
func (Silent) Say(string) {}

// End does nothing.
func (Silent) End() {}

// Lines writes one line a finished spec, for CI and for logs.
func Lines(out io.Writer) Watch { return &lines{out: out, style: render.NewStyle(render.Screen{})} }

type lines struct {
	out         io.Writer
	style       render.Style
	done, total int
}

func (l *lines) Begin(specs, procs int) {
	l.done, l.total = 0, specs
	fmt.Fprintf(l.out, "running %s on %s\n", reports.Plural(specs, "spec"), reports.Plural(procs, "worker"))
}

func (l *lines) Started(string) {}

func (l *lines) Finished(s reports.Spec) {
	l.done++
	fmt.Fprintf(l.out, "%*d/%d %s\n", len(fmt.Sprint(l.total)), l.done, l.total, told(l.style, s))
}

func (l *lines) Say(text string) { fmt.Fprintln(l.out, render.Hanging(text, "  ")) }

func (l *lines) End() {}

// told is a finished spec on one line.
func told(style render.Style, s reports.Spec) string {
	line := fmt.Sprintf("%s %s (%d.%d s)", style.Verdict(s.Verdict), render.Plain(s.Key), s.DurationMS/1000, s.DurationMS%1000/100)
	if s.Verdict != verdict.Pass && s.Reason != "" {
		line += ": " + render.FirstLine(s.Reason, 160)
	}
	return line
}

func shortened(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}

// Live keeps a line at the bottom of a terminal that shows how far the run is and
// what runs now; everything that did not pass is told above it.
func Live(out io.Writer, screen render.Screen) Watch {
	return &live{out: out, style: render.NewStyle(screen)}
}

type live struct {
	out   io.Writer
	style render.Style
	bars  *mpb.Progress
	bar   *mpb.Bar

	mu      sync.Mutex // the display reads from a goroutine of its own
	counts  map[verdict.Verdict]int
	running []string
}

func (l *live) Begin(specs, _ int) {
	l.counts, l.running = map[verdict.Verdict]int{}, nil
	l.bars = mpb.New(mpb.WithOutput(l.out), mpb.WithAutoRefresh(), mpb.WithWidth(24))
	l.bar = l.bars.AddBar(int64(specs), mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.CountersNoUnit("%d of %d ")),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return l.now() })))
}

// now is what stands behind the bar: a number a verdict, then what runs.
func (l *live) now() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var b strings.Builder
	for _, v := range verdict.All() {
		if n := l.counts[v]; n > 0 {
			fmt.Fprintf(&b, "%s%d ", render.Mark(v), n)
		}
	}
	return b.String() + shortened(strings.Join(l.running, "  "), 60)
}

func (l *live) Started(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = append(l.running, render.Plain(key))
}

func (l *live) Finished(s reports.Spec) {
	l.mu.Lock()
	l.counts[s.Verdict]++
	if i := slices.Index(l.running, render.Plain(s.Key)); i >= 0 {
		l.running = slices.Delete(l.running, i, i+1)
	}
	l.mu.Unlock()
	if s.Verdict != verdict.Pass && s.Verdict != verdict.NotApplicable {
		l.above(told(l.style, s))
	}
	if l.bar != nil {
		l.bar.Increment()
	}
}

func (l *live) Say(text string) { l.above(render.Hanging(text, "  ")) }

// above writes above the line; text is harmless, and may be coloured.
func (l *live) above(text string) {
	if l.bars == nil {
		fmt.Fprintln(l.out, text)
		return
	}
	fmt.Fprintln(l.bars, text)
}

func (l *live) End() {
	if l.bars == nil {
		return
	}
	l.bar.Abort(true)
	l.bars.Wait()
	l.bars, l.bar = nil, nil
}
