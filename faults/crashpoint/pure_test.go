package crashpoint

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// made writes a record down in short: "thread call name [to]", one a line. "ack"
// is a write to stdout, "make" an open that makes the file; "!" before a call says
// that it failed.
func made(lines ...string) Record {
	var r Record
	occurrences := map[string]int{}
	for i, line := range lines {
		fields := strings.Fields(line)
		p := Point{N: i + 1, Kind: State, Done: true, Result: 8, Call: strings.TrimPrefix(fields[1], "!")}
		fmt.Sscan(fields[0], &p.Thread)
		if len(fields) > 2 {
			p.Name = fields[2]
		}
		if len(fields) > 3 {
			p.ToName = fields[3]
		}
		if strings.HasPrefix(fields[1], "!") {
			p.Result = -5
		}
		switch p.Call {
		case "ack":
			p.Call, p.Kind, p.Name = "write", Ack, "stdout"
		case "make":
			p.Call, p.Before = "openat", -1
		case "fsync":
			p.Result = 0
		}
		occurrences[p.Call+p.Name]++
		p.Path, p.To, p.Occurrence = p.Name, p.ToName, occurrences[p.Call+p.Name]
		r.Points = append(r.Points, p)
	}
	return r
}

func moments(all []Moment) string {
	var text []string
	for _, m := range all {
		text = append(text, fmt.Sprintf("%s %d", m.Side, m.Point.N))
	}
	return strings.Join(text, ", ")
}

func TestReduce(t *testing.T) {
	for _, c := range []struct {
		what   string
		record Record
		want   string
	}{
		{"nothing", made(), ""},
		{"one thread", made("1 write a", "1 write b"), "before 1, before 2, after 2"},
		{"fsyncs do not count", made("1 write a", "1 fsync a", "1 fsync a", "1 write b", "1 fsync b"), "before 1, before 4, after 4"},
		{"what failed does not count", made("1 !write a", "1 write a"), "before 2, after 2"},
		{"the WAL index does not count", made("1 write a-shm", "1 write a"), "before 2, after 2"},
		{"an acknowledgement lies between", made("1 write a", "1 ack", "1 write b"), "before 1, before 2, before 3, after 3"},
		{"other threads keep both sides", made("1 write a", "2 write b", "2 write b"), "before 1, after 1, before 2, before 3, after 3"},
	} {
		if got := moments(Reduce(c.record)); got != c.want {
			t.Errorf("%s: %s, expected %s", c.what, got, c.want)
		}
	}
	if got := moments(Moments(made("1 write a", "1 fsync a", "1 ack"))); got != "before 1, after 1, before 3, after 3" {
		t.Errorf("unreduced: %s", got)
	}
	late := made("1 write a", "1 write b")
	slices.Reverse(late.Points) // told in the order of their ends
	if got := moments(Reduce(late)); got != "before 1, before 2, after 2" {
		t.Errorf("told in another order: %s", got)
	}
}

func TestEnumerate(t *testing.T) {
	record := made("1 make t", "1 write t", "1 fsync t", "1 unlink old", "1 !write t", "1 ack")
	list := func(runs []Run) string {
		var text []string
		for _, r := range runs {
			text = append(text, fmt.Sprintf("%d %s", r.Point.N, r.Variant()))
		}
		return strings.Join(text, ", ")
	}
	for _, c := range []struct {
		variants []string
		want     string
	}{
		{[]string{""}, "1 killed before, 2 killed before, 4 killed before, 6 killed before, 6 killed after"},
		{[]string{"ENOSPC"}, "1 ENOSPC instead, 2 ENOSPC instead, 3 ENOSPC instead"},
		{[]string{"EIO"}, "1 EIO instead, 2 EIO instead, 3 EIO instead, 4 EIO instead"},
	} {
		if got := list(Enumerate(record, c.variants...)); got != c.want {
			t.Errorf("%q: %s, expected %s", c.variants, got, c.want)
		}
	}
	if all := Enumerate(record); len(all) != 12 {
		t.Errorf("all variants: %s", list(all))
	}
	run := Enumerate(record, "EIO")[1]
	for _, trigger := range []*Trigger{run.ByNumber(), run.ByAddress()} {
		if err := trigger.Check(); err != nil || trigger.Error != "EIO" || !trigger.At.Names(record.Points[1]) || trigger.At.Names(record.Points[4]) {
			t.Errorf("the trigger %+v: %v", trigger, err)
		}
	}
	if got := record.AcksBefore(Moment{record.Points[5], Before}); len(got) != 0 {
		t.Errorf("acknowledged before the acknowledgement: %+v", got)
	}
	if got := record.AcksBefore(Moment{record.Points[5], After}); len(got) != 1 {
		t.Errorf("acknowledged after it: %+v", got)
	}
}

func TestSample(t *testing.T) {
	// One file is made, written eleven times and renamed, then the answer leaves.
	lines := []string{"1 make t"}
	for range 11 {
		lines = append(lines, "1 write t")
	}
	runs := Enumerate(made(append(lines, "1 rename t db", "1 ack")...), "", "ENOSPC")
	list := func(runs []Run) string {
		var text []string
		for _, r := range runs {
			text = append(text, fmt.Sprintf("%d %s", r.Point.N, r.Variant()))
		}
		return strings.Join(text, ", ")
	}
	if Kinds(runs) != 7 {
		t.Fatalf("%d kinds: %s", Kinds(runs), list(runs))
	}
	for most, want := range map[int]string{
		2: "1 killed before, 2 killed before",
		6: "1 killed before, 2 killed before, 13 killed before, 14 killed before, 1 ENOSPC instead, 2 ENOSPC instead",
		11: "1 killed before, 2 killed before, 7 killed before, 12 killed before, 13 killed before, 14 killed before, 14 killed after, " +
			"1 ENOSPC instead, 2 ENOSPC instead, 12 ENOSPC instead, 13 ENOSPC instead",
		len(runs): list(runs),
	} {
		sample := Sample(runs, most)
		if got := list(sample); got != want {
			t.Errorf("%d of them: %s, expected %s", most, got, want)
		}
		if len(sample) != most || Kinds(sample) != min(most, 7) {
			t.Errorf("%d of them: %d runs of %d kinds", most, len(sample), Kinds(sample))
		}
	}
}

func TestVerify(t *testing.T) {
	for _, c := range []struct {
		what        string
		record, run Record
		at          int // the record's point, and the run's last one is where it was struck
		side        Side
		want        Standing
		why         string
	}{
		{"the same", made("1 write a", "1 write b", "1 ack"), made("1 write a", "1 write b"), 2, Before, Verified, ""},
		{"the same, after", made("1 write a", "1 write b", "1 ack"), made("1 write a", "1 write b"), 2, After, Verified, ""},
		{"fsyncs more and less", made("1 write a", "1 fsync a", "1 write b"), made("1 write a", "1 write b"), 3, Before, Verified, ""},
		{"threads named otherwise", made("1 write a", "2 write b", "2 write c"), made("4 write b", "9 write a", "4 write c"), 3, Before, Verified, ""},
		{"one order, spread over threads otherwise", made("1 write a", "2 write b", "1 write c"), made("1 write a", "1 write b", "2 write c"), 3, Before, Verified, ""},
		{"temporary names", made("1 make t", "1 write t", "1 rename t a", "1 ack"), made("1 make u", "1 write u", "1 rename u a"), 3, Before, Verified, ""},
		{"temporary names, struck at the first", made("1 make t", "1 write t", "1 rename t a"), made("1 make u"), 1, Before, Verified, ""},
		{"two temporary files", made("1 make t", "1 make u", "1 write u", "1 unlink t", "1 unlink u"), made("1 make x", "1 make y", "1 write y"), 3, Before, Verified, ""},
		{"the wrong one of two temporary files", made("1 make t", "1 make u", "1 write u", "1 unlink t", "1 unlink u"), made("1 make x", "1 make y", "1 write x"), 3, Before, Drifted, "it was struck at write of x"},
		{"a lasting file that is called otherwise", made("1 make t", "1 write t", "1 write a"), made("1 make u", "1 write u"), 2, Before, Drifted, "came instead"},
		{"more had happened", made("1 write a", "1 write b"), made("1 write c", "1 write a", "1 write b"), 2, Before, Readdressed, "at number 1 of what changed, write of c came instead of write of a"},
		{"less had happened", made("1 write a", "1 write b"), made("1 write b"), 2, Before, Readdressed, "write of a had not happened"},
		{"one more at the end", made("1 write a", "1 write b"), made("1 write a", "1 write c", "1 write b"), 2, Before, Readdressed, "write of c had happened as well"},
		{"another occurrence", made("1 write a", "1 write b"), made("1 write a", "1 write b", "1 write b"), 2, Before, Drifted, "write of b had happened as well"},
		{"another file", made("1 write a", "1 write b"), made("1 write a", "1 write c"), 2, Before, Drifted, "expected write of b, but it was struck at write of c"},
		{"another call", made("1 write a", "1 rename b c"), made("1 write a", "1 unlink b"), 2, Before, Drifted, "expected rename of b to c, but it was struck at unlink of b"},
		{"order within a thread", made("1 write a", "1 write b", "1 write c"), made("1 write b", "1 write a", "1 write c"), 3, Before, Readdressed, "at number 1"},
		{"a call that failed this time", made("1 write a", "1 write b"), made("1 !write a", "1 write b"), 2, Before, Readdressed, "write of a had not happened"},
	} {
		struck := c.run.Points[len(c.run.Points)-1]
		if c.side == Before { // as it is told: the point itself never ran
			c.run.Points = c.run.Points[:len(c.run.Points)-1]
			struck.Done, struck.Result = false, 0
		}
		got, why := Verify(c.record, Moment{c.record.Points[c.at-1], c.side}, c.run, &struck)
		if got != c.want || !strings.Contains(why, c.why) || (c.why == "") != (why == "") {
			t.Errorf("%s: %s, %q; expected %s, %q", c.what, got, why, c.want, c.why)
		}
	}
	record := made("1 write a")
	if got, why := Verify(record, Moment{record.Points[0], Before}, made(), nil); got != Drifted || why != "the run never came to write of a" {
		t.Errorf("never struck: %s, %q", got, why)
	}
}

func TestTable(t *testing.T) {
	record := made("1 make t", "1 rename t store.json", "1 ack")
	at := func(n int, side Side) Run { return Run{Moment: Moment{record.Points[n-1], side}} }
	failing := Run{Moment{record.Points[0], Before}, "EIO"}
	results := []Result{
		{at(1, Before), Verified, "", false, "empty", verdict.Fail},
		{at(2, Before), Drifted, "it was struck at unlink of x", false, "", verdict.Inconclusive},
		{at(3, After), Readdressed, "write of c had happened as well", true, "both \x1b[31mvalues", verdict.Pass},
		{failing, Verified, "", false, "first value", verdict.Pass},
	}
	want := `POINT  CALL    PATH            SIDE    ACKNOWLEDGED  STATE LEFT                                                         VERDICT
1      openat  t               before  no            empty                                                              fail
2      rename  t → store.json  before  no            drifted: it was struck at unlink of x                              inconclusive
3      write   stdout          after   yes           re-addressed: write of c had happened as well; both ?[31mvalues    pass
1      openat  t               EIO     no            first value                                                        pass
3 points, 4 runs: 2 verified, 1 re-addressed, 1 drifted; killed 1 times before and 1 times after the acknowledgement
SIGKILL keeps the page cache: this shows killed processes, not power loss, and no missing fsync.
Not seen: the target writes a.mdb through memory (mmap)
`
	got := Table(results, Record{Blind: []Blind{{What: "mmap", Path: "a.mdb"}, {What: "mmap", Path: "a.db-shm"}}}.Unseen())
	if squeeze(got) != squeeze(want) {
		t.Errorf("the table is\n%s\nexpected\n%s", got, want)
	}
	header, _, _ := strings.Cut(got, "\n")
	column := strings.Index(header, "VERDICT")
	for line := range strings.Lines(got) {
		if runes := []rune(line); strings.HasSuffix(line, "pass\n") && string(runes[column:]) != "pass\n" {
			t.Errorf("the verdict is not in its column: %q", line)
		}
	}
}

func squeeze(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}

func TestCoverageDecides(t *testing.T) {
	record := made("1 write a", "1 ack")
	kill := func(acknowledged bool, s Standing) Result {
		return Result{Run: Run{Moment: Moment{record.Points[0], Before}}, Standing: s, Acknowledged: acknowledged}
	}
	failing := kill(false, Verified)
	failing.Run.Error = "EIO"
	for _, c := range []struct {
		what    string
		results []Result
		want    bool
	}{
		{"nothing", nil, false},
		{"only before", []Result{kill(false, Verified)}, false},
		{"only after", []Result{kill(true, Verified)}, false},
		{"both", []Result{kill(false, Verified), kill(true, Readdressed)}, true},
		{"before it drifted", []Result{kill(false, Drifted), kill(true, Verified)}, false},
		{"before it only an error", []Result{failing, kill(true, Verified)}, false},
	} {
		if got := Cover(c.results).Decides(); got != c.want {
			t.Errorf("%s: decides = %v, expected %v", c.what, got, c.want)
		}
	}
}
