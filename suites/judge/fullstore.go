package judge

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// FullDiskWrite (DU-10): wherever the disk is full a write is answered, and not
// acknowledged unless it is kept; what was acknowledged before is there; and with
// room again a restarted server accepts another write and keeps it. Where the disk
// stays full, a file that was written and cannot be synced keeps nothing.
func FullDiskWrite(stays bool) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		var earlier []string
		refused := 0
		for _, w := range h.Operations("write") {
			switch {
			case w.Param("run") == "" && w.Outcome() == history.Done:
				earlier = append(earlier, w.Param("value"))
			case w.Param("run") != "" && w.Param("again") == "" && w.Outcome() != history.Done:
				refused++
			}
		}
		if len(earlier) == 0 {
			r.doubted("no write was acknowledged before the disk was full")
		}
		all, err := crashes(h)
		if err != nil || !slices.ContainsFunc(all, Crash.Counts) {
			r.doubted("of %s at a full disk none was struck where it should have been", reports.Plural(len(all), "run"))
		}
		synced := syncedFiles(h)
		judged := eachRun(h, r, "DU-10", "a full disk was no clean error", func(c Crash) (string, string, error) {
			return fullWriteAt(h, c, earlier, stays && slices.Contains(synced, c.At.Point.Path) && slices.Contains(syncs, c.At.Point.Call))
		})
		if refused == 0 && len(judged.Findings) == 0 {
			judged.doubted("every write was acknowledged, so that no full disk was met")
		}
		return judged
	}
}

// syncs are the calls that force a file to disk.
var syncs = []string{"fsync", "fdatasync", "msync"}

// syncedFiles are the files that the recorded call wrote, and what it renamed them
// to, and so no folders.
func syncedFiles(h history.History) (files []string) {
	for _, m := range h.Marks("crash-record") {
		raw, err := json.Marshal(m.Data)
		var record struct {
			Points []struct {
				Path  string `json:"path"`
				To    string `json:"to"`
				Bytes int64  `json:"bytes"`
			} `json:"points"`
		}
		if err != nil || json.Unmarshal(raw, &record) != nil {
			continue
		}
		for _, p := range record.Points {
			if p.Bytes > 0 {
				files = append(files, p.Path)
			}
			if p.To != "" && slices.Contains(files, p.Path) {
				files = append(files, p.To)
			}
		}
	}
	return files
}

func fullWriteAt(h history.History, c Crash, earlier []string, unsynced bool) (left, wrong string, err error) {
	var first, again *history.Operation
	for _, w := range h.Operations("write") {
		switch {
		case w.Param("run") != c.Run:
		case w.Param("again") == "":
			first = &w
		default:
			again = &w
		}
	}
	if first == nil {
		return "", "", fmt.Errorf("the write of the run is not recorded")
	}
	if outcomeUnknown(*first) {
		return "no answer", "the write got no answer: " + answerOf(*first), nil
	}
	values, wrong, err := behind(h, c)
	if wrong != "" || err != nil {
		return wrong, wrong, err
	}
	there, acknowledged := slices.Contains(values, first.Param("value")), first.Outcome() == history.Done
	left = fmt.Sprintf("%s, and there: %t", first.Outcome(), there)
	lost := slices.DeleteFunc(slices.Clone(earlier), func(v string) bool { return slices.Contains(values, v) })
	switch {
	case acknowledged && !there:
		return left, fmt.Sprintf("%q was acknowledged and is not there", first.Param("value")), nil
	case acknowledged && unsynced:
		return left, fmt.Sprintf("%q was acknowledged, and its file was never synced", first.Param("value")), nil
	case len(lost) > 0:
		return left, "acknowledged before and lost: " + quoted(lost), nil
	}
	return worksAgain(h, c, left, again)
}

// worksAgain says what is wrong with a write once there is room.
func worksAgain(h history.History, c Crash, left string, again *history.Operation) (string, string, error) {
	if again == nil || outcomeUnknown(*again) {
		return left, "", fmt.Errorf("the write with room again is not recorded, or got no answer")
	}
	if again.Outcome() != history.Done {
		return left, "with room again a write is not accepted: " + answerOf(*again), nil
	}
	var said Ruling // of other runs' reads nothing is said here
	for _, read := range said.reads(h, whenAgain) {
		switch {
		case read.op.Param("run") != c.Run:
		case read.err != "":
			return left, "with room again the store cannot be read: " + read.err, nil
		case !slices.Contains(read.values, again.Param("value")):
			return left, fmt.Sprintf("with room again %q was acknowledged and is not there", again.Param("value")), nil
		default:
			return left, "", nil
		}
	}
	return left, "", fmt.Errorf("nothing was read with room again")
}
