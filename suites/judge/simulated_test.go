package judge

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// shop is a tiny store that does right: it accepts a note once per key, keeps
// the order in which it accepted them, and answers what it did. Around it
// messages get lost, come late, race and are retried.
type shop struct {
	*story
	t       *rapid.T
	notes   map[string][]string // what each item's record shows
	taken   map[string]bool     // keys that were accepted
	sent    []*parcel           // one a note
	flights []*flight           // attempts that are not over, or may still arrive
}

// parcel is one note, with what its sender knows.
type parcel struct {
	item, text  string
	first, ack  int // positions of its first sending and first acknowledgement, 0 for none
	outstanding int
}

// flight is one attempt on its way.
type flight struct {
	*parcel
	call    string
	arrived bool
	over    bool // its sender has an outcome
}

func newShop(t *rapid.T) *shop {
	return &shop{story: newStory(), t: t, notes: map[string][]string{}, taken: map[string]bool{}}
}

func (s *shop) now() int { return len(s.told().Events) }

func (s *shop) newNote() *parcel {
	p := &parcel{
		item: rapid.SampledFrom([]string{"i1", "i2"}).Draw(s.t, "item"),
		text: fmt.Sprintf("note %d", len(s.sent)+1),
	}
	s.sent = append(s.sent, p)
	return p
}

func (s *shop) send(p *parcel) *flight {
	f := &flight{parcel: p, call: s.invoke("note", params("item_id", p.item, "text", p.text, "key", "key "+p.text))}
	if p.first == 0 {
		p.first = s.now()
	}
	p.outstanding++
	s.flights = append(s.flights, f)
	return f
}

func (s *shop) arrive(f *flight) {
	f.arrived = true
	if !s.taken[f.text] {
		s.taken[f.text] = true
		s.notes[f.item] = append(s.notes[f.item], f.text)
	}
}

func (s *shop) finish(f *flight, e ending) {
	s.end(f.call, e)
	f.over = true
	f.outstanding--
	if e.Outcome == "done" && f.ack == 0 {
		f.ack = s.now()
	}
}

// acknowledgedNote is a note that nothing happens to.
func (s *shop) acknowledgedNote(p *parcel) {
	f := s.send(p)
	s.arrive(f)
	s.finish(f, done("state", "queued"))
	s.flights = slices.DeleteFunc(s.flights, func(o *flight) bool { return o == f })
}

// step lets anything happen that may.
func (s *shop) step() {
	waiting := slices.DeleteFunc(slices.Clone(s.sent), func(p *parcel) bool { return p.outstanding > 1 })
	pick := func(what string, fits func(*flight) bool) *flight {
		all := slices.DeleteFunc(slices.Clone(s.flights), func(f *flight) bool { return !fits(f) })
		if len(all) == 0 {
			return nil
		}
		return rapid.SampledFrom(all).Draw(s.t, what)
	}
	switch rapid.SampledFrom([]string{"send", "retry", "arrive", "arrive", "refuse", "answer", "answer", "lose"}).Draw(s.t, "step") {
	case "send":
		s.send(s.newNote())
	case "retry": // also of what was acknowledged
		if len(waiting) > 0 {
			s.send(rapid.SampledFrom(waiting).Draw(s.t, "retried"))
		}
	case "arrive": // also long after its sender gave up
		if f := pick("arriving", func(f *flight) bool { return !f.arrived }); f != nil {
			s.arrive(f)
		}
	case "refuse": // with nothing stored; a refused request does not arrive again
		if f := pick("refused", func(f *flight) bool { return !f.arrived && !f.over }); f != nil {
			s.finish(f, refused("transient", "busy"))
			f.arrived = true
		}
	case "answer":
		if f := pick("answered", func(f *flight) bool { return f.arrived && !f.over }); f != nil {
			s.finish(f, done("state", "queued"))
		}
	case "lose": // the request or the answer
		if f := pick("lost", func(f *flight) bool { return !f.over }); f != nil {
			s.finish(f, unknown())
		}
	}
}

// run is a history of a store that does right.
func run(t *rapid.T) *shop {
	s := newShop(t)
	for _, id := range []string{"i1", "i2"} {
		s.call("start", params("task_key", id, "key", "start "+id), done("item_id", id, "state", "queued"))
	}
	for range 2 { // so that every defect finds something to spoil
		p := s.newNote()
		p.item = "i1"
		s.acknowledgedNote(p)
	}
	for range rapid.IntRange(0, 40).Draw(t, "steps") {
		s.step()
	}
	return s
}

func (s *shop) judged() Ruling {
	for _, id := range []string{"i1", "i2"} {
		s.look("item", "converged", item(id), row("item_id", id, "notes", list(s.notes[id]...)))
	}
	return NotesOnRecord("WR-05", 1)(s.told())
}

func TestACorrectStoreHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if r := run(t).judged(); !r.silent() {
			t.Fatalf("a store that does right is judged\n%s%q", told(r.Findings), r.Doubts)
		}
	})
}

func TestOneDefectBreaks(t *testing.T) {
	defects := []struct {
		name    string
		summary string
		spoil   func(*shop)
	}{
		{"an acknowledged note is lost", "acknowledged notes are not on the record", func(s *shop) {
			p := s.anyAcknowledged()
			s.notes[p.item] = slices.DeleteFunc(s.notes[p.item], func(n string) bool { return n == p.text })
		}},
		{"half of an acknowledged note is there", "acknowledged notes are not on the record", func(s *shop) {
			p := s.anyAcknowledged()
			s.notes[p.item][slices.Index(s.notes[p.item], p.text)] = p.text[:4]
		}},
		{"an acknowledged note stands on another record", "acknowledged notes are not on the record", func(s *shop) {
			p := s.anyAcknowledged()
			s.notes[p.item] = slices.DeleteFunc(s.notes[p.item], func(n string) bool { return n == p.text })
			other := map[string]string{"i1": "i2", "i2": "i1"}[p.item]
			s.notes[other] = append(s.notes[other], p.text)
		}},
		{"an acknowledged note is applied twice", "acknowledged notes are on the record more than once", func(s *shop) {
			p := s.anyAcknowledged()
			s.notes[p.item] = append(s.notes[p.item], p.text)
		}},
		{"a note comes from nowhere", "nobody was told were accepted", func(s *shop) {
			s.notes["i2"] = append(s.notes["i2"], "note from nowhere")
		}},
		{"a note of unknown outcome is applied twice", "nobody was told were accepted", func(s *shop) {
			p := s.newNote()
			f := s.send(p)
			s.arrive(f)
			s.finish(f, unknown())
			s.notes[p.item] = append(s.notes[p.item], p.text)
		}},
		{"a note that was refused is applied", "nobody was told were accepted", func(s *shop) {
			p := s.newNote()
			f := s.send(p)
			s.finish(f, refused("transient", "busy"))
			s.notes[p.item] = append(s.notes[p.item], p.text)
		}},
		{"two notes change places", "not in the order in which they were accepted", func(s *shop) {
			var pairs [][2]*parcel
			for _, a := range s.sent {
				for _, b := range s.sent {
					if a.item == b.item && a.ack > 0 && a.ack < b.first && s.taken[b.text] {
						pairs = append(pairs, [2]*parcel{a, b})
					}
				}
			}
			pair := rapid.SampledFrom(pairs).Draw(s.t, "swapped")
			notes := s.notes[pair[0].item]
			i, j := slices.Index(notes, pair[0].text), slices.Index(notes, pair[1].text)
			notes[i], notes[j] = notes[j], notes[i]
		}},
	}
	for _, d := range defects {
		t.Run(d.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s := run(t)
				d.spoil(s)
				r := s.judged()
				if !slices.ContainsFunc(summaries(r), func(s string) bool { return strings.Contains(s, d.summary) }) {
					t.Fatalf("expected a finding that %q, and it is judged\n%s%q", d.summary, told(r.Findings), r.Doubts)
				}
			})
		})
	}
}

func (s *shop) anyAcknowledged() *parcel {
	return rapid.SampledFrom(slices.DeleteFunc(slices.Clone(s.sent), func(p *parcel) bool { return p.ack == 0 })).Draw(s.t, "spoiled")
}

func summaries(r Ruling) []string {
	var all []string
	for _, f := range r.Findings {
		all = append(all, f.Summary)
	}
	return all
}

// shelf is a tiny store of values that does right, without keys: a repeated
// write is a second one.
type shelf struct {
	*story
	t      *rapid.T
	values []string
	acked  []string // acknowledged, in order
	lost   []string // of unknown outcome
	n      int
}

func (s *shelf) write(outcome string) {
	s.n++
	v := fmt.Sprintf("value-%d", s.n) // some are beginnings of others
	p := value(v)
	stored := rapid.Bool().Draw(s.t, "stored")
	switch outcome {
	case "done":
		s.values, s.acked = append(s.values, v), append(s.acked, v)
		s.call("write", p, done())
	case "refused":
		s.call("write", p, refused("transient", "busy"))
	case "unknown", "never returned":
		if stored {
			s.values = append(s.values, v)
		}
		s.lost = append(s.lost, v)
		id := s.invoke("write", p)
		if outcome == "unknown" {
			s.end(id, unknown())
		}
	case "fenced":
		s.call("write", and(p, "fenced", "yes"), unknown())
		s.lost = append(s.lost, v)
	}
}

func shelved(t *rapid.T) *shelf {
	s := &shelf{story: newStory(), t: t}
	for _, first := range []string{"done", "done", "unknown"} {
		s.write(first)
	}
	for range rapid.IntRange(0, 30).Draw(t, "writes") {
		s.write(rapid.SampledFrom([]string{"done", "done", "refused", "unknown", "never returned", "fenced"}).Draw(t, "outcome"))
	}
	return s
}

// readAll reads in any order, while another write may be on its way.
func (s *shelf) readAll() {
	shown := rapid.Permutation(s.values).Draw(s.t, "listed")
	read := s.invoke("read", params("moment", "final"))
	if rapid.Bool().Draw(s.t, "written meanwhile") {
		s.call("write", value("value-meanwhile"), done())
	}
	s.end(read, done("values", list(shown...)))
}

func (s *shelf) judgedAs(rule Rule) Ruling {
	s.readAll()
	return rule(s.told())
}

var shelfRules = []struct {
	name string
	rule Rule
}{{"AckedSurvive", AckedSurvive("DU-01", 2)}, {"WholeOrAbsent", WholeOrAbsent}}

func TestACorrectShelfHolds(t *testing.T) {
	for _, tt := range shelfRules {
		t.Run(tt.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				if r := shelved(t).judgedAs(tt.rule); !r.silent() {
					t.Fatalf("a store that does right is judged\n%s%q", told(r.Findings), r.Doubts)
				}
			})
		})
	}
}

func TestALostValueBreaks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := shelved(t)
		lost := rapid.SampledFrom(s.acked).Draw(t, "lost")
		s.values = slices.DeleteFunc(s.values, func(v string) bool { return v == lost })
		r := s.judgedAs(AckedSurvive("DU-01", 2))
		want := fmt.Sprintf("%d of %d acknowledged writes survived", len(s.acked)-1, len(s.acked))
		if got := summaries(r); !slices.Equal(got, []string{want}) || r.Findings[0].Facts[0] != fmt.Sprintf("lost: %q", lost) {
			t.Fatalf("expected %q of %s, and it is judged\n%s", want, lost, told(r.Findings))
		}
	})
}

func TestAHalfValueBreaks(t *testing.T) {
	defects := []struct {
		name, summary string
		spoil         func(*shelf)
	}{
		{"half of a lost write is there", "a write is there in part", func(s *shelf) {
			v := rapid.SampledFrom(s.lost).Draw(s.t, "cut")
			s.values = append(slices.DeleteFunc(s.values, func(x string) bool { return x == v }), v[:rapid.IntRange(1, len("value-")).Draw(s.t, "at")])
		}},
		{"a lost write is there twice", "a write whose answer was lost is there more than once", func(s *shelf) {
			v := rapid.SampledFrom(s.lost).Draw(s.t, "doubled")
			s.values = append(slices.DeleteFunc(s.values, func(x string) bool { return x == v }), v, v)
		}},
		{"a write that never arrived is there", "a write whose request never arrived is there", func(s *shelf) {
			s.write("fenced")
			s.values = append(s.values, fmt.Sprintf("value-%d", s.n))
		}},
	}
	for _, d := range defects {
		t.Run(d.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s := shelved(t)
				d.spoil(s)
				if r := s.judgedAs(WholeOrAbsent); !slices.Contains(summaries(r), d.summary) {
					t.Fatalf("expected a finding that %q, and it is judged\n%s%q", d.summary, told(r.Findings), r.Doubts)
				}
			})
		})
	}
}
