package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

func mark(name string) Event { return Event{Kind: KindMark, Mark: &Mark{Name: name}} }

func TestRecorderIsOneOrderForAll(t *testing.T) {
	const writers, each = 8, 200
	var out bytes.Buffer
	r := NewRecorder(&out)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				if kept := r.Record(mark(fmt.Sprintf("%d/%d", w, i))); kept.Seq == 0 {
					t.Errorf("event %d of writer %d was not numbered", i, w)
				}
				if _, err := r.History(); err != nil {
					t.Errorf("reading meanwhile: %v", err)
				}
			}
		})
	}
	all.Wait()
	h, err := r.History()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Check(); err != nil {
		t.Fatal(err)
	}
	if len(h.Events) != writers*each {
		t.Fatalf("%d events were kept, expected %d", len(h.Events), writers*each)
	}
	next := map[string]int{}
	for _, e := range h.Events {
		var w string
		var i int
		if _, err := fmt.Sscanf(strings.Replace(e.Mark.Name, "/", " ", 1), "%s %d", &w, &i); err != nil {
			t.Fatal(err)
		}
		if i != next[w] {
			t.Fatalf("writer %s: event %d came where %d was due", w, i, next[w])
		}
		next[w]++
	}
	again, err := Read(&out)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(h, again) {
		t.Error("what was written is not what was kept")
	}
}

func TestRecorderKeepsWhatItWrites(t *testing.T) {
	var out bytes.Buffer
	secret := "s3cret"
	r := NewRecorder(&out, WithRedaction(func(line []byte) []byte {
		return bytes.ReplaceAll(line, []byte(secret), []byte("[redacted]"))
	}))
	kept := r.Record(Event{Kind: KindMessage, Message: &Message{Session: "helper.1", Raw: `{"token":"` + secret + `"}`}})
	r.Record(Event{Kind: KindLook, Look: &Look{Probe: "item", Rows: []map[string]any{{"n": int64(3), "text": "<b> " + secret}}}})
	h, err := r.History()
	if err != nil {
		t.Fatal(err)
	}
	if kept.Message.Raw != `{"token":"[redacted]"}` || h.Events[0].Message.Raw != kept.Message.Raw {
		t.Errorf("the secret stands in what is judged: %s", kept.Message.Raw)
	}
	if strings.Contains(out.String(), secret) {
		t.Errorf("the secret stands in what is written: %s", out.String())
	}
	// Judges see numbers as a recording has them, also in the same process.
	if want := []map[string]any{{"n": float64(3), "text": "<b> [redacted]"}}; !reflect.DeepEqual(h.Events[1].Look.Rows, want) {
		t.Errorf("the rows are %v, expected %v", h.Events[1].Look.Rows, want)
	}
	for line := range strings.Lines(out.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("a line is no JSON after redaction: %s", line)
		}
	}
}

func TestRecorderSaysWhatItLost(t *testing.T) {
	full := errors.New("no space left")
	tests := []struct {
		name   string
		record func() *Recorder
		err    string
		kept   int
		check  string // what Check says of the rest, "" for nothing
	}{
		{"redaction that breaks the JSON", func() *Recorder {
			r := NewRecorder(nil, WithRedaction(func(line []byte) []byte { return bytes.ReplaceAll(line, []byte(`"two"`), []byte(`two`)) }))
			r.Mark("one", nil)
			r.Mark("two", nil)
			r.Mark("three", nil)
			return r
		}, "event 2 (mark) of the history is no JSON after redaction: invalid character 'w' in literal true (expecting 'r')", 2,
			"the recording has a gap: event 2 carries number 3"},
		{"an event that is no JSON", func() *Recorder {
			r := NewRecorder(nil)
			r.Record(Event{Kind: KindCall, Call: &Call{ID: "c1", Phase: Invoked, Arguments: json.RawMessage(`{`)}})
			r.Mark("two", nil)
			return r
		}, "writing event 1 (call) of the history: json: error calling MarshalJSON for type json.RawMessage: unexpected end of JSON input", 1,
			"the recording has a gap: event 1 carries number 2"},
		{"a file that takes nothing", func() *Recorder {
			r := NewRecorder(failing{full})
			r.Mark("one", nil)
			return r
		}, "writing event 1 (mark) of the history: no space left", 1, ""},
		{"the first of several errors", func() *Recorder {
			r := NewRecorder(failing{full}, WithRedaction(func(line []byte) []byte { return bytes.ReplaceAll(line, []byte(`"two"`), nil) }))
			r.Mark("one", nil)
			r.Mark("two", nil)
			return r
		}, "writing event 1 (mark) of the history: no space left", 1, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, err := tt.record().History()
			if err == nil || err.Error() != tt.err {
				t.Errorf("the error is %v, expected %s", err, tt.err)
			}
			if len(h.Events) != tt.kept {
				t.Errorf("%d events were kept, expected %d", len(h.Events), tt.kept)
			}
			if err := h.Check(); fmt.Sprint(err) != tt.check && (err != nil || tt.check != "") {
				t.Errorf("the check says %v, expected %q", err, tt.check)
			}
		})
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestRecorderUsesTheClockThatItIsGiven(t *testing.T) {
	left := time.Hour
	r := NewRecorder(io.Discard, WithClock(func() time.Duration { left -= time.Millisecond; return left }))
	r.Mark("one", nil)
	r.Mark("two", nil)
	h, err := r.History()
	if err != nil {
		t.Fatal(err)
	}
	want := "the recorder's clock ran backwards: event 1 at 59m59.999s, event 2 at 59m59.998s"
	if err := h.Check(); err == nil || err.Error() != want {
		t.Errorf("the check says %v, expected %s", err, want)
	}
}

func TestHistoryIsACopy(t *testing.T) {
	r := NewRecorder(nil)
	r.Mark("one", nil)
	before, _ := r.History()
	r.Mark("two", nil)
	before.Events[0].Seq = 99
	after, _ := r.History()
	if len(before.Events) != 1 || after.Events[0].Seq != 1 {
		t.Error("a history that was handed out and the recorder share their events")
	}
}
