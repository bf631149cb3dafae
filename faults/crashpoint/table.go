package crashpoint

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// Result is what came of one run.
type Result struct {
	Run      Run      `json:"run"`
	Standing Standing `json:"standing"`
	// Why says what was different, of a run that is not verified.
	Why string `json:"why,omitempty"`
	// Acknowledged: the caller had its answer by then.
	Acknowledged bool `json:"acknowledged"`
	// Left says in a few words what state was found afterwards.
	Left    string          `json:"left"`
	Verdict verdict.Verdict `json:"verdict"`
}

// counts: the run was struck where it should have been.
func (r Result) counts() bool { return r.Standing == Verified || r.Standing == Readdressed }

// Coverage is how much of what was to be tried was tried.
type Coverage struct {
	Runs        int `json:"runs"`
	Points      int `json:"points"`
	Verified    int `json:"verified"`
	Readdressed int `json:"readdressed"`
	Drifted     int `json:"drifted"`
	// BeforeAck and AfterAck are the kills that count, by what had been acknowledged.
	BeforeAck int `json:"before_ack"`
	AfterAck  int `json:"after_ack"`
}

// Cover counts.
func Cover(results []Result) Coverage {
	c := Coverage{Runs: len(results)}
	points := map[int]bool{}
	for _, r := range results {
		points[r.Run.Point.N] = true
		switch r.Standing {
		case Verified:
			c.Verified++
		case Readdressed:
			c.Readdressed++
		default:
			c.Drifted++
		}
		switch {
		case !r.counts() || r.Run.Error != "":
		case r.Acknowledged:
			c.AfterAck++
		default:
			c.BeforeAck++
		}
	}
	c.Points = len(points)
	return c
}

// Decides says whether a clause can be judged: at least one kill counts before
// the acknowledgement, and one after it.
func (c Coverage) Decides() bool { return c.BeforeAck > 0 && c.AfterAck > 0 }

func (c Coverage) String() string {
	return fmt.Sprintf("%d points, %d runs: %d verified, %d re-addressed, %d drifted; killed %d times before and %d times after the acknowledgement",
		c.Points, c.Runs, c.Verified, c.Readdressed, c.Drifted, c.BeforeAck, c.AfterAck)
}

// limits of this method, which stand wherever its results do.
const notShown = "SIGKILL keeps the page cache: this shows killed processes, not power loss, and no missing fsync."

// Table is what a person reads: one line a run, what was covered, and what this
// does not show.
func Table(results []Result, unseen []Blind) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "POINT\tCALL\tPATH\tSIDE\tACKNOWLEDGED\tSTATE LEFT\tVERDICT")
	for _, r := range results {
		p := r.Run.Point
		file := p.Name // what differs from run to run would only mislead
		if p.ToName != "" {
			file += " → " + p.ToName
		}
		side := string(r.Run.Side)
		if r.Run.Error != "" {
			side = r.Run.Error
		}
		acknowledged := "no"
		if r.Acknowledged {
			acknowledged = "yes"
		}
		left := r.Left
		if r.Standing != Verified {
			left = strings.TrimSuffix(string(r.Standing)+": "+r.Why+"; "+left, "; ")
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", p.N, p.Call, plain(file), side, acknowledged, plain(left), r.Verdict)
	}
	w.Flush()
	fmt.Fprintf(&text, "%s\n%s\n", Cover(results), notShown)
	for _, b := range unseen {
		fmt.Fprintf(&text, "Not seen: %s\n", plain(b.String()))
	}
	return text.String()
}

// plain keeps a target's names from breaking the table or the terminal.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '?'
		}
		return r
	}, text)
}
