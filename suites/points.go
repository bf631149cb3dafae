package suites

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/holdfast-mcp/holdfast/faults/crashpoint"
	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// PointsFile is the table of a spec's runs at crash points, among its artefacts.
const PointsFile = "crashpoints.txt"

// tabulate puts the runs at crash points, and what the judge said of each, into
// the result and into a table for a person.
func tabulate(result *reports.Spec, h history.History, points []judge.Point, folder string) error {
	var results []crashpoint.Result
	said := map[string]judge.Point{}
	for _, p := range points {
		said[p.Run] = p
	}
	strays := straysOf(h)
	for _, m := range h.Marks(world.CrashMark) {
		var tried world.Tried
		if err := unmark(m, &tried); err != nil {
			return fmt.Errorf("reading a run at a crash point from the history: %w", err)
		}
		results = append(results, crashpoint.Result{
			Run: tried.At, Standing: tried.Standing, Why: tried.Why, Acknowledged: tried.Acknowledged,
			Left: said[tried.Run].Left + strays[tried.Run], Verdict: said[tried.Run].Verdict,
		})
	}
	if len(results) == 0 {
		return nil
	}
	var record crashpoint.Record
	for _, m := range h.Marks(world.RecordMark) {
		if err := unmark(m, &record); err != nil {
			return fmt.Errorf("reading the record of a call from the history: %w", err)
		}
	}
	result.CrashPoints = pointsOf(results, record)
	path := filepath.Join(folder, PointsFile)
	if err := os.WriteFile(path, []byte(crashpoint.Table(results, record.Unseen())), 0o644); err != nil {
		return fmt.Errorf("writing the table of crash points: %w", err)
	}
	return nil
}

// straysOf are the files that stayed behind the runs, in words.
func straysOf(h history.History) map[string]string {
	words := map[string]string{}
	for _, m := range h.Marks(world.StrayMark) {
		run, _ := m.Data["run"].(string)
		files, _ := m.Data["files"].([]any)
		for _, file := range files {
			words[run] += fmt.Sprintf("; stays behind: %v", file)
		}
	}
	return words
}

func pointsOf(results []crashpoint.Result, record crashpoint.Record) *reports.CrashPoints {
	c := crashpoint.Cover(results)
	out := &reports.CrashPoints{
		Runs: c.Runs, Points: c.Points, Verified: c.Verified, Readdressed: c.Readdressed, Drifted: c.Drifted,
		BeforeAck: c.BeforeAck, AfterAck: c.AfterAck, Table: PointsFile,
	}
	for _, r := range results {
		out.Tried = append(out.Tried, reports.CrashPoint{
			Name: world.PointName(r.Run), Call: r.Run.Point.Call, Path: r.Run.Point.Path, How: r.Run.Variant(),
			Standing: string(r.Standing), Acknowledged: r.Acknowledged, Left: r.Left, Verdict: r.Verdict,
		})
	}
	for _, b := range record.Unseen() {
		out.NotSeen = append(out.NotSeen, b.String())
	}
	return out
}

func unmark(m history.Mark, into any) error {
	raw, err := json.Marshal(m.Data)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	return err
}
