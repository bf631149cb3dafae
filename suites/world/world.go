// Package world is a target that is started and stands behind its wires: what a
// spec acts on. Everything that happens in it is recorded; nothing is judged.
package world

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/faults/schedule"
	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/fixtures/account"
	"github.com/holdfast-mcp/holdfast/fixtures/launch"
	"github.com/holdfast-mcp/holdfast/fixtures/launch/browser"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// Config is what a world is made of.
type Config struct {
	Target *target.File
	// Profile is the profile whose tools and probes the spec uses.
	Profile  string
	Run      *launch.Run
	Recorder *history.Recorder
	Schedule *schedule.Schedule
	Limits   wait.Limits
	// Name is the spec's ID; the private folder is named after it.
	Name string
	// Folder takes the logs of the processes.
	Folder string
	// Version is that of holdfast, as callers introduce themselves.
	Version string
	// Self is the path of this binary, for processes of the reference.
	Self string
	// Mutant names the reference's defect, "" for none.
	Mutant string
	// Accounts are those of the account fixture.
	Accounts account.Accounts
	// Secrets are the target's resolved secrets, Redact takes them out again.
	Secrets target.Scope
	Redact  func([]byte) []byte
	// Leaks counts the accounts' secrets in what is kept, before Redact.
	Leaks *Leaks
	// Point is the one crash point to be tried (see PointName), "" for all.
	Point string
	// Numbers are how often the spec does what shows only sometimes.
	Numbers reports.Numbers
	// Browser lends the windows in which pages are opened; nil for a browser of the
	// world's own.
	Browser *browser.Lender
	// Seams are where the harness's own self-test reaches in.
	Seams Seams
}

// World is one started target behind its wires, with one history. Its methods
// stop the spec (see Stop) where the harness or the machine fails.
type World struct {
	Target *target.File

	config Config
	ctx    context.Context
	dir    string
	ledger *faults.Ledger

	mu        sync.Mutex
	processes map[string]*member
	wires     map[string]*wire.Wire
	callers   []*Caller
	troubles  []*Trouble
	window    *browser.Window // nil until it is needed
	lender    *browser.Lender // of the world's own browser, nil where it is lent another's
	scope     target.Scope
	calls     int
	words     int
	killed    bool // a fault has killed a process of the target
	leftOpen  bool // the helper over HTTP does not end its answers
	starts    int
}

// Open makes a world in which nothing is started yet.
func Open(ctx context.Context, c Config) (*World, error) {
	folder, err := c.Run.Scratch(folderName(c.Name))
	if err != nil {
		return nil, err
	}
	w := &World{
		Target: c.Target, config: c, ctx: ctx, dir: folder,
		ledger:    faults.NewLedger(c.Recorder),
		processes: map[string]*member{}, wires: map[string]*wire.Wire{},
	}
	w.scope = target.Scope{"dir": folder, "home": filepath.Join(folder, "home"), "self": c.Self}.With(c.Secrets)
	if thirdparty, err := target.Thirdparty(); err == nil {
		w.scope["thirdparty"] = thirdparty // where there is none, whoever names it is told
	}
	if c.Numbers != (reports.Numbers{}) {
		w.Mark(NumbersMark, map[string]any{"numbers": c.Numbers})
	}
	return w, writeAccounts(folder, c.Accounts)
}

// NumbersMark tells the judges how often a spec does what shows only sometimes:
// {"numbers": reports.Numbers}.
const NumbersMark = "numbers"

// Numbers are how often the spec does what shows only sometimes.
func (w *World) Numbers() reports.Numbers { return w.config.Numbers }

// Dir is the world's private folder, {{dir}} of the target file.
func (w *World) Dir() string { return w.dir }

// Starts is how many processes of the target were started so far.
func (w *World) Starts() int { return w.starts }

// Close heals and ends everything in the world. It is called once, by the
// engine, whatever became of the spec.
func (w *World) Close(ctx context.Context) error {
	w.mu.Lock()
	troubles, callers := w.troubles, w.callers
	w.troubles, w.callers = nil, nil
	processes := slices.Collect(maps.Values(w.processes))
	wires := slices.Collect(maps.Values(w.wires))
	w.mu.Unlock()
	for _, t := range troubles {
		t.end()
	}
	var errs []error
	for _, c := range callers {
		errs = append(errs, c.discard(ctx))
	}
	for _, p := range processes {
		if p.running != nil {
			errs = append(errs, gone(p.running.Kill(ctx)))
		}
	}
	for _, l := range wires {
		errs = append(errs, l.Close())
	}
	// It takes the longest to leave, and nobody waits for it.
	errs = append(errs, w.closeWindow(ctx))
	return errors.Join(errs...)
}

// Mark is the spec's own word in the history.
func (w *World) Mark(name string, data map[string]any) { w.config.Recorder.Mark(name, data) }

// Word makes a text that occurs nowhere else in this run; base keeps it readable.
func (w *World) Word(base string) string {
	w.mu.Lock()
	w.words++
	n := w.words
	w.mu.Unlock()
	return fmt.Sprintf("%s ~%08x", base, w.config.Schedule.Word(n))
}

// Plant makes a word that is looked for later on, and tells the judges of it.
func (w *World) Plant(base string, data map[string]any) (sent, sought string) {
	sought = w.Word(base)
	told := map[string]any{"text": sought}
	maps.Copy(told, data)
	w.Mark("canary", told)
	return w.config.Seams.plant(sought), sought
}

// Choose picks a number from 0 to n-1 by the spec's seed, or as a replayed
// schedule has it.
func (w *World) Choose(name string, n int) int {
	choice, err := w.config.Schedule.Choose(name, n)
	if err != nil {
		Broken("%v", err)
	}
	return choice
}

// folderName makes a spec's ID a folder's name.
func folderName(id string) string {
	out := []rune{}
	for _, r := range id {
		if r == '/' || r == '\\' || r == ':' {
			r = '-'
		}
		out = append(out, r)
	}
	return string(out)
}

// known is the scope as it is now.
func (w *World) known(more target.Scope) target.Scope {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.scope.With(more)
}

func (w *World) learn(name, value string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.scope[name] = value
}
