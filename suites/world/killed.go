package world

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-mcp/holdfast/faults/crashpoint"
	"github.com/holdfast-mcp/holdfast/fixtures/mcp"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// The marks of kills in the middle of writes (DU-23): rounds in which nobody was
// killed, a kill, and what lay below {{dir}} once a later server had come to rest.
const (
	UnharmedMark = "rounds-unharmed"
	KillMark     = "killed-in-a-write"
	SettledMark  = "settled-behind-a-kill"
)

// Kills is one server after another that is killed in the middle of a write, on one
// store that is never put back. Behind each kill a fresh server reads and writes.
type Kills struct {
	// Places is at how many places of a write at most servers are killed, and Rounds
	// how often at each.
	Places, Rounds int
	// Made: only at places where something stands that the write has made, a
	// file, folder or link. Then what is left is made old, and what lies below {{dir}} is
	// counted, also over half as many rounds without a kill.
	Made bool
	// Write is a write of a fresh value, Read reads everything back.
	Write, Read func() Act
}

// killing is Kills under way.
type killing struct {
	Kills
	w      *World
	folder string // what the tracers need
	base   string // the stores before the first kill, where they may have to be put back
	left   map[string][]string
	runs   []string // of the present place
}

// KillInWrites does it. It ends at the first server behind a kill that accepts no
// write, because none behind it would either. Where that is because the store itself
// was torn it is put back, if nothing is counted, and the next place is tried.
func (w *World) KillInWrites(kills Kills) {
	if err := crashpoint.Available(); err != nil {
		panic(Stop{Verdict: verdict.NotRun, Reason: err.Error()})
	}
	folder, err := w.config.Run.Scratch(folderName(w.config.Name) + "-trace")
	if err != nil {
		Broken("making the tracer's folder: %v", err)
	}
	k := &killing{Kills: kills, w: w, folder: folder, left: map[string][]string{}}
	record := w.recordWrite(kills.Write(), folder)
	places := k.places(record)
	if len(places) == 0 {
		Inapplicable("a write makes no file, folder or link of its own below {{dir}}: it changes %s, so that a kill within it leaves nothing there that was not there before", quotedPaths(record))
	}
	if k.Made {
		k.unharmed()
	} else if k.base, err = w.snapshot(); err != nil {
		Broken("copying the stores: %v", err)
	}
	for i, place := range places {
		k.runs = nil
		for round := range k.Rounds {
			if !k.round(fmt.Sprintf("p%d.r%d", i+1, round+1), i+1, round+1, place) {
				return
			}
		}
	}
}

// quotedPaths names what a recorded write changed, for a person.
func quotedPaths(r crashpoint.Record) string {
	paths := map[string]bool{}
	for _, m := range crashpoint.Moments(r) {
		if m.Point.Kind == crashpoint.State {
			paths[m.Point.Path] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(paths)), ", ")
}

// places are the moments of the write at which servers are killed. Of those at which
// the same things stand that the write has made, it is the last; where more stands at
// another moment only that one is taken. What is gone at the write's end comes first,
// because that is what only a kill leaves.
func (k *killing) places(record crashpoint.Record) []crashpoint.Moment {
	if !k.Made {
		return spread(crashpoint.Reduce(record), k.Places)
	}
	moments := crashpoint.Moments(record)
	var all []standing
	for _, m := range moments {
		made := k.counted(record.Made(m))
		at := slices.IndexFunc(all, func(s standing) bool { return slices.Equal(s.made, made) })
		switch {
		case len(made) == 0:
		case at >= 0:
			all[at].at = m
		default:
			all = append(all, standing{made, m})
		}
	}
	largest := slices.DeleteFunc(slices.Clone(all), func(s standing) bool {
		return slices.ContainsFunc(all, func(other standing) bool { return len(other.made) > len(s.made) && s.within(other.made) })
	})
	var passing, kept []crashpoint.Moment
	for _, s := range largest {
		if s.within(record.Made(moments[len(moments)-1])) {
			kept = append(kept, s.at)
		} else {
			passing = append(passing, s.at)
		}
	}
	places := slices.Concat(passing, kept)
	return places[:min(len(places), k.Places)]
}

// standing is what the write had made and stood there, and the last moment of that.
type standing struct {
	made []string
	at   crashpoint.Moment
}

func (s standing) within(names []string) bool {
	return !slices.ContainsFunc(s.made, func(name string) bool { return !slices.Contains(names, name) })
}

// spread picks at most n of a list, with its two ends, evenly.
func spread[T any](all []T, n int) []T {
	if len(all) <= n {
		return all
	}
	picked := make([]T, n)
	for i := range n {
		picked[i] = all[i*(len(all)-1)/(n-1)]
	}
	return picked
}

// round kills one server in a write, and lets a fresh one read and write; false where
// nothing can come of going on.
func (k *killing) round(run string, place, round int, at crashpoint.Moment) bool {
	hit := crashpoint.Run{Moment: at}
	tried := k.kill(run, place, round, hit, hit.ByNumber())
	if !tried {
		// The calls came in another order than recorded.
		tried = k.kill(run, place, round, hit, hit.ByAddress())
	}
	if tried {
		k.runs = append(k.runs, run)
	}
	w := k.w
	again, err := w.newCaller()
	if err != nil {
		if !ownFault(err) && !unansweredStart(err) {
			w.cannotStart(err)
		}
		w.Mark(RestartMark, map[string]any{"run": run, "error": err.Error()})
		w.EndCallers()
		return k.putBack()
	}
	read := again.Do(k.Read().At("restarted").With("run", run))
	accepted := k.writesAgain(run, again)
	again.end()
	if accepted && k.Made {
		k.lookAround(run, place, round)
	}
	return accepted || read.Outcome() == history.Refused && k.putBack()
}

// putBack puts the stores back, and says whether that could be done.
func (k *killing) putBack() bool {
	if k.base == "" {
		return false
	}
	if err := k.w.restore(k.base); err != nil {
		Broken("restoring the stores: %v", err)
	}
	return true
}

// unansweredStart says that a server did not shake hands in time.
func unansweredStart(err error) bool {
	var none *mcp.NoAnswer
	return errors.As(err, &none) && none.Reason == mcp.Deadline
}

// kill makes a write whose server is killed at a moment, and says whether it was.
func (k *killing) kill(run string, place, round int, at crashpoint.Run, trigger *crashpoint.Trigger) bool {
	w, c := k.w, Crash{Act: k.Write().At("killed").With("place", fmt.Sprint(place))}
	before := w.belowDir()
	traced := w.underTrace(c, k.folder)
	w.killed = true
	w.arm(traced.trace, trigger)
	outcome, _ := traced.lead(c, run)
	struck, err := w.struck(traced.trace, nil)
	if err != nil && !errors.Is(err, crashpoint.ErrMissed) {
		Broken("killing at point %s: %v", PointName(at), err)
	}
	hit := err == nil && struck.Side == at.Side && struck.Point.Call == at.Point.Call
	var made, left []string
	if hit {
		for _, name := range k.counted(traced.trace.Record().MadeBy(struck)) {
			if _, err := os.Lstat(filepath.Join(w.dir, filepath.FromSlash(name))); err == nil {
				made = append(made, name)
			}
		}
	}
	traced.close(w)
	for _, name := range slices.Sorted(maps.Keys(w.belowDir())) {
		if _, there := before[name]; !there {
			left = append(left, name)
		}
	}
	k.left[run] = left
	if k.Made {
		k.age(left)
	}
	w.Mark(KillMark, map[string]any{
		"run": run, "place": place, "round": round, "hit": hit, "outcome": string(outcome),
		"side": string(at.Side), "call": at.Point.Call, "path": at.Point.Path, "n": at.Point.N, "struck": struck.Point.N,
		"made": list(made), "left": list(left),
	})
	return hit
}

// list is a list as a mark holds it.
func list(names []string) []any {
	all := []any{}
	for _, name := range names {
		all = append(all, name)
	}
	return all
}

// writesAgain lets a server write until it accepts one, for as long as a caller waits
// for one answer.
func (k *killing) writesAgain(run string, c *Caller) bool {
	accepted := false
	err := wait.For(k.w.ctx, "a write to be accepted", k.w.config.Limits.Answer, func(ctx context.Context) (bool, error) {
		patience := k.w.config.Limits.Answer
		if until, ok := ctx.Deadline(); ok {
			patience = time.Until(until)
		}
		accepted = c.Go(k.Write().At("behind").With("run", run), patience).Wait().Outcome() == history.Done
		return accepted || c.Over(), nil
	})
	return err == nil && accepted
}

// unharmed is half of the rounds in which a server starts and reads, and a second one
// starts, reads and writes, as where one is killed, and nobody is killed.
func (k *killing) unharmed() {
	rounds := k.Rounds / 2
	k.w.Quiet()
	before := k.w.belowDir()
	for range rounds {
		first := k.w.NewCaller()
		first.Do(k.Read().At("unharmed"))
		first.end()
		second := k.w.NewCaller()
		second.Do(k.Read().At("unharmed"))
		second.Do(k.Write().At("unharmed"))
		second.end()
	}
	k.w.Quiet()
	after := k.w.belowDir()
	k.w.Mark(UnharmedMark, map[string]any{"rounds": rounds, "entries": len(after) - len(before), "bytes": sum(after) - sum(before)})
}

// lookAround records how much lies below {{dir}}, and what of that the kills at this
// place have left.
func (k *killing) lookAround(run string, place, round int) {
	k.w.Quiet()
	there, stays := k.w.belowDir(), map[string]any{}
	for _, run := range k.runs {
		still := slices.DeleteFunc(slices.Clone(k.left[run]), func(name string) bool { _, ok := there[name]; return !ok })
		if len(still) > 0 {
			stays[run] = list(still)
		}
	}
	k.w.Mark(SettledMark, map[string]any{"run": run, "place": place, "round": round, "entries": len(there), "bytes": sum(there), "stays": stays})
}

// longAgo is how old leftovers are made.
const longAgo = 30 * 24 * time.Hour

// age makes what a kill has left old, so that who takes away, or breaks, only what is
// old does so at once.
func (k *killing) age(left []string) {
	then := time.Now().Add(-longAgo)
	for _, name := range left {
		path := filepath.Join(k.w.dir, filepath.FromSlash(name))
		if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink != 0 {
			continue
		}
		if err := os.Chtimes(path, then, then); err != nil {
			Broken("making %s, which a kill has left, old: %v", name, err)
		}
	}
}

// counted leaves out what never counts as left behind.
func (k *killing) counted(names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return !k.w.mayBeLeft(name) })
}

// mayBeLeft says whether something below {{dir}} could be left behind by a kill: the
// machine empties temporary folders and caches, and the target file may leave out more.
func (w *World) mayBeLeft(rel string) bool {
	return rel != "." && (target.State{Exclude: w.Target.State.Exclude}).Counts(rel) && (target.State{}).Counts(rel)
}

// belowDir is everything below {{dir}} that could be left behind, folders and links
// too, with the sizes of the files.
func (w *World) belowDir() map[string]int64 {
	there := map[string]int64{}
	err := filepath.WalkDir(w.dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it vanished meanwhile
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(w.dir, path)
		rel = filepath.ToSlash(rel)
		if err != nil || !w.mayBeLeft(rel) {
			return err
		}
		there[rel] = 0
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			there[rel] = info.Size()
		}
		return nil
	})
	if err != nil {
		Broken("listing what lies below {{dir}}: %v", err)
	}
	return there
}

func sum(sizes map[string]int64) int64 {
	var n int64
	for _, size := range sizes {
		n += size
	}
	return n
}
