package crashpoint_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-mcp/holdfast/faults/crashpoint"
	"github.com/holdfast-mcp/holdfast/fixtures/launch"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// storing starts the store and has it store one line before it is armed.
func storing(t testing.TB, r *launch.Run, trigger *crashpoint.Trigger) *bench {
	t.Helper()
	b := role(t, r, t.TempDir(), crashpoint.Plan{Text: 16}, "store")
	for _, line := range []string{"ready", "stored first"} {
		if line != "ready" {
			b.say("first")
		}
		if got := b.line(); got != line {
			t.Fatalf("the store said %q, expected %q", got, line)
		}
	}
	b.arm(trigger)
	b.say("second")
	return b
}

func (b *bench) stored() string {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.dir, "store.json"))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

// recordStoring notes down the storing of one line.
func recordStoring(t testing.TB, r *launch.Run) crashpoint.Record {
	t.Helper()
	b := storing(t, r, nil)
	if got := b.line(); got != "stored second" {
		t.Fatalf("the store said %q", got)
	}
	record, err := b.trace.Disarm(within(t))
	if err != nil {
		t.Fatal(err)
	}
	b.say("third") // is not counted any more
	if got := b.line(); got != "stored third" {
		t.Fatalf("the store said %q", got)
	}
	if again := b.trace.Record().Points; len(again) != len(record.Points) {
		t.Errorf("what came behind Disarm was counted: %+v", again)
	}
	b.proc.Stdin.Close()
	b.ended()
	return record
}

func TestAnOperationIsRecorded(t *testing.T) {
	record := recordStoring(t, newRun(t))
	var calls []string
	for _, p := range record.Points {
		calls = append(calls, strings.TrimSpace(strings.Join([]string{p.Call, string(p.Kind), p.Name, p.ToName, p.Text}, " ")))
	}
	want := []string{
		"openat state store.json.*", "write state store.json.*", "fsync state store.json.*",
		"renameat state store.json.* store.json", "write ack stdout  stored second\n",
	}
	for i := range want {
		want[i] = strings.TrimSpace(want[i])
	}
	if !slices.Equal(calls, want) {
		t.Errorf("recorded\n%s\nexpected\n%s", strings.Join(calls, "\n"), strings.Join(want, "\n"))
	}
	if len(crashpoint.Reduce(record)) < 5 {
		t.Errorf("reduced to %+v", crashpoint.Reduce(record))
	}
}

// The whole way: record, reduce, enumerate, run, verify, table.
func TestEveryCrashPointOfAnOperation(t *testing.T) {
	r := newRun(t)
	record := recordStoring(t, r)
	var results []crashpoint.Result
	for _, run := range crashpoint.Enumerate(record) {
		b := storing(t, r, run.ByNumber())
		struck, err := b.trace.Struck(within(t))
		if err != nil {
			t.Fatalf("%s of %s: %v", run.Variant(), run.Point.Call, err)
		}
		result := crashpoint.Result{Run: run}
		if run.Error == "" {
			said, err := io.ReadAll(b.out)
			if err != nil {
				t.Fatal(err)
			}
			result.Acknowledged = string(said) == "stored second\n"
			b.ended()
		} else if line := b.line(); !strings.HasPrefix(line, "refused: ") || !strings.Contains(line, words[run.Error]) {
			t.Errorf("%s at %s, and the store said %q", run.Variant(), run.Point.Call, line)
		}
		result.Standing, result.Why = crashpoint.Verify(record, run.Moment, b.trace.Record(), &struck.Point)
		result.Left = strings.ReplaceAll(b.stored(), "\n", " ")
		result.Verdict = verdict.Pass
		switch renamed := run.Error == "" && (run.Point.N > 4 || run.Point.N == 4 && run.Side == crashpoint.After); {
		case renamed && result.Left != "first second ", !renamed && result.Left != "first ":
			t.Errorf("%s at %s it left %q", run.Variant(), run.Point.Call, result.Left)
		case result.Acknowledged != (run.Error == "" && run.Point.Kind == crashpoint.Ack && run.Side == crashpoint.After):
			t.Errorf("%s at %s it had acknowledged = %v", run.Variant(), run.Point.Call, result.Acknowledged)
		case result.Standing != crashpoint.Verified:
			t.Errorf("%s at %s it is %s: %s", run.Variant(), run.Point.Call, result.Standing, result.Why)
		}
		results = append(results, result)
	}
	if c := crashpoint.Cover(results); !c.Decides() || c.Points != 5 || c.Verified != len(results) {
		t.Errorf("covered: %s", c)
	}
	t.Logf("\n%s", crashpoint.Table(results, record.Unseen()))
}

// words are how a program says an error.
var words = map[string]string{"ENOSPC": "no space left on device", "EIO": "input/output error"}

func TestAByAddressStruckPointIsTheSame(t *testing.T) {
	r := newRun(t)
	record := recordStoring(t, r)
	for _, p := range record.Points {
		run := crashpoint.Run{Moment: crashpoint.Moment{Point: p, Side: crashpoint.Before}}
		struck, err := storing(t, r, run.ByAddress()).trace.Struck(within(t))
		if err != nil || struck.Point.N != p.N {
			t.Errorf("by %v struck %+v, %v; expected point %d", run.ByAddress().At, struck.Point, err, p.N)
		}
	}
	b := storing(t, r, &crashpoint.Trigger{At: crashpoint.Address{Call: "mkdir", Name: "x", Occurrence: 1}, Side: crashpoint.Before, Do: crashpoint.Kill})
	if line := b.line(); line != "stored second" {
		t.Errorf("with a trigger that is never met the store said %q", line)
	}
	b.proc.Stdin.Close()
	if _, err := b.trace.Struck(within(t)); !errors.Is(err, crashpoint.ErrMissed) {
		t.Errorf("waiting for a trigger that is never met: %v", err)
	}
}

func TestAFullDiskStaysFull(t *testing.T) {
	b := storing(t, newRun(t), &crashpoint.Trigger{At: crashpoint.Address{N: 2}, Do: crashpoint.Fail, Error: "ENOSPC", Stays: true})
	if line := b.line(); !strings.Contains(line, "no space left") {
		t.Errorf("on a full disk the store said %q", line)
	}
	b.say("third")
	if line := b.line(); !strings.Contains(line, "no space left") {
		t.Errorf("on a disk that is still full the store said %q", line)
	}
	if _, err := b.trace.Disarm(within(t)); err != nil {
		t.Fatal(err)
	}
	b.say("fourth")
	if line := b.line(); line != "stored fourth" {
		t.Errorf("with room again the store said %q", line)
	}
}

func TestHeldAtAPoint(t *testing.T) {
	r := newRun(t)
	at := crashpoint.Address{Call: "renameat", Name: "store.json.*", Occurrence: 1}
	for _, side := range []crashpoint.Side{crashpoint.Before, crashpoint.After} {
		want := "first\n"
		if side == crashpoint.After {
			want = "first\nsecond\n"
		}
		b := storing(t, r, &crashpoint.Trigger{At: at, Side: side, Do: crashpoint.Hold})
		held, err := b.trace.Held(within(t))
		if err != nil {
			t.Fatal(err)
		}
		if held.Point.N != 4 || held.Side != side || b.stored() != want {
			t.Errorf("held %s %+v, and stored is %q", held.Side, held.Point, b.stored())
		}
		if err := b.trace.Arm(within(t), nil); err == nil || !strings.Contains(err.Error(), "release or kill it first") {
			t.Errorf("arming what is held: %v", err)
		}
		if err := b.trace.Release(within(t)); err != nil {
			t.Fatal(err)
		}
		if line := b.line(); line != "stored second" || b.stored() != "first\nsecond\n" {
			t.Errorf("released, the store said %q and has %q", line, b.stored())
		}
		if err := b.trace.Release(within(t)); err == nil || !strings.Contains(err.Error(), "not held") {
			t.Errorf("releasing what is not held: %v", err)
		}

		b = storing(t, r, &crashpoint.Trigger{At: at, Side: side, Do: crashpoint.Hold})
		if _, err := b.trace.Held(within(t)); err != nil {
			t.Fatal(err)
		}
		if err := b.trace.Kill(within(t)); err != nil {
			t.Fatal(err)
		}
		struck, err := b.trace.Struck(within(t))
		if err != nil || struck.Side != side || struck.Point.N != 4 || b.stored() != want {
			t.Errorf("killed while held: struck %+v, %v, and stored is %q", struck, err, b.stored())
		}
		if end := b.ended(); end.Signal != "SIGKILL" {
			t.Errorf("it ended with %+v", end)
		}
	}
}

func TestBlindSpotsAreTold(t *testing.T) {
	r := newRun(t)
	for _, without := range []bool{false, true} {
		dir := files(t, 1)
		b := role(t, r, dir, crashpoint.Plan{NoRings: without, Armed: true}, "mapper")
		if line := b.line(); without && line != "io_uring: true" {
			t.Errorf("where rings are switched off it said %q", line)
		}
		b.ended()
		record := b.trace.Record()
		if want := []crashpoint.Blind{{What: "mmap", Path: "file-0"}, {What: "io_uring"}}; !slices.Equal(record.Unseen(), want) {
			t.Errorf("blind spots %v, expected %v", record.Unseen(), want)
		}
		if len(record.Points) < 2 || record.Points[0].Call != "ftruncate" || record.Points[1].Call != "msync" || record.Points[1].Path != "file-0" {
			t.Errorf("it was seen to make %+v", record.Points)
		}
	}
}

func TestOnlyFilesThatCountAreCounted(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	b := trace(t, newRun(t), dir, crashpoint.Plan{Armed: true, Naming: crashpoint.Naming{Exclude: []string{"*.log"}}},
		[]string{needs(t, "sh"), "-c", `echo 1 >` + other + `/x; echo 2 >server.log; mkdir -p a/b; cd a/b; echo 3 >../c; ln -s .. up; echo 4 >up/d; echo 5 >&2; mv ../c ` + other + `/c; rm up/d; exec 3>>../e; rm ../e; echo 6 >&3; echo 7 | cat >/dev/null`})
	if end := b.ended(); end.Code != 0 {
		t.Errorf("it ended with %+v", end)
	}
	var names []string
	for _, p := range b.trace.Record().Points {
		names = append(names, p.Path+" "+strings.TrimPrefix(p.To, other))
	}
	// Where the shell gives no name twice, each of open, write and so on is one.
	want := []string{"a ", "a/b ", "a/c ", "a/c ", "a/b/up ", "a/d ", "a/d ", "a/c /c", "a/d ", "a/e ", "a/e "}
	if !slices.Equal(names, want) {
		t.Errorf("counted %q, expected %q", names, want)
	}
}
