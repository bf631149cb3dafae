package bench

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// measurement is one line of the table.
type measurement struct {
	name  string
	value float64
	unit  string  // "" for a ratio
	bound float64 // 0 asserts nothing
	from  string  // what the ratio is made of
}

// measured are all measurements of this run, in order.
var measured []measurement

func (m measurement) over() bool { return m.bound > 0 && m.value > m.bound }

// tell reports a measurement as the benchmark's, and keeps it for the table.
func tell(b *testing.B, m measurement) {
	b.Helper()
	unit := "ratio"
	if m.unit != "" {
		unit = m.unit
	}
	b.ReportMetric(m.value, unit)
	b.ReportMetric(0, "ns/op") // the time of a whole iteration means nothing
	if m.bound > 0 {
		b.ReportMetric(m.bound, "bound")
	}
	if m.over() {
		b.Logf("OVER ITS BOUND: %s is %.2f, expected at most %.2f (%s)", m.name, m.value, m.bound, m.from)
	}
	measured = append(measured, m)
}

func exceeded(all []measurement) bool { return slices.ContainsFunc(all, measurement.over) }

// table is what a person reads at the end.
func table(all []measurement) string {
	var text strings.Builder
	out := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "closing measurement\tvalue\tbound\t\tmade of")
	for _, m := range all {
		bound, word := "-", "told"
		switch {
		case m.over():
			word = "OVER"
		case m.bound > 0:
			word = "ok"
		}
		if m.bound > 0 {
			bound = fmt.Sprintf("%.1f", m.bound)
		}
		fmt.Fprintf(out, "%s\t%.2f %s\t%s\t%s\t%s\n", m.name, m.value, m.unit, bound, word, m.from)
	}
	out.Flush() // into memory, which takes everything
	return text.String()
}

// pairs are samples of two things, taken in turns.
type pairs struct{ base, ours []time.Duration }

// take measures both once. Which goes first changes every time, so that what one
// leaves behind (garbage, a busy disk) falls on both alike.
func (p *pairs) take(base, ours func() time.Duration) {
	if len(p.base)%2 == 0 {
		p.base = append(p.base, base())
		p.ours = append(p.ours, ours())
		return
	}
	p.ours = append(p.ours, ours())
	p.base = append(p.base, base())
}

// tell reports the ratio of the medians.
func (p *pairs) tell(b *testing.B, name string, bound float64) {
	b.Helper()
	ours, base := median(p.ours), median(p.base)
	tell(b, measurement{name: name, bound: bound, value: float64(ours) / float64(base),
		from: fmt.Sprintf("%s ÷ %s, %d pairs", short(ours), short(base), len(p.base))})
}

// median does not change the order of its samples; of none it is 0.
func median(samples []time.Duration) time.Duration {
	if len(samples) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[len(sorted)/2]
}

func short(d time.Duration) string {
	return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
}

// timed is how long do took.
func timed(do func()) time.Duration {
	began := time.Now()
	do()
	return time.Since(began)
}

func TestTableTellsWhatIsOver(t *testing.T) {
	all := []measurement{
		{name: "within", value: 1.5, bound: 2, from: "3 ÷ 2"},
		{name: "whole run", value: 31, unit: "s"},
	}
	if got := table(all); exceeded(all) || strings.Contains(got, "OVER") || !strings.Contains(got, "ok") || !strings.Contains(got, "31.00 s") {
		t.Errorf("nothing is over its bound, got\n%s", got)
	}
	all = append(all, measurement{name: "beyond", value: 2.01, bound: 2})
	if got := table(all); !exceeded(all) || strings.Count(got, "OVER") != 1 {
		t.Errorf("one is over its bound, got\n%s", got)
	}
}

func TestPairsAreTakenInTurnsAndComparedByTheirMedians(t *testing.T) {
	var order strings.Builder
	next := func(name string, samples ...time.Duration) func() time.Duration {
		return func() (d time.Duration) {
			order.WriteString(name)
			d, samples = samples[0], samples[1:]
			return d
		}
	}
	var p pairs
	base, ours := next("b", 3, 1, 2), next("o", 60, 4, 5)
	for range 3 {
		p.take(base, ours)
	}
	if got := order.String(); got != "boobbo" {
		t.Errorf("taken in the order %q", got)
	}
	if median(p.base) != 2 || median(p.ours) != 5 || median(nil) != 0 {
		t.Errorf("got medians %v, %v and %v of none", median(p.base), median(p.ours), median(nil))
	}
}
