//go:build !linux

package world

import "github.com/holdfast-mcp/holdfast/reports/verdict"

// Openings needs inotify.
type Openings struct{}

// WatchOpenings stops the spec: only Linux tells which files are opened.
func (w *World) WatchOpenings(string) *Openings {
	panic(Stop{Verdict: verdict.NotRun, Reason: "watching which files are opened needs Linux"})
}

// WatchFolders stops the spec as well.
func (w *World) WatchFolders(string, ...string) *Openings { return w.WatchOpenings("") }

// Look never comes to be called.
func (o *Openings) Look(string) {}

// Control never comes to be called.
func (o *Openings) Control() {}

// Close never comes to be called.
func (o *Openings) Close() {}
