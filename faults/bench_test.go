package faults_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// BenchmarkLostAnswer measures a whole lost-answer cycle (hold, look, release,
// hold, prove, cut, heal, and a new connection) against a plain call through the
// same wire, in turns, and reports the ratio of the medians.
func BenchmarkLostAnswer(b *testing.B) {
	s := httpStage(b)
	var plain, lost []time.Duration
	for i := 0; b.Loop(); i++ {
		// The cut of the last cycle has cost the connection; a new one is no part of a plain call.
		if o := s.call(b.Context(), "write", fmt.Sprint("first-", i)); o != history.Done {
			b.Fatalf("a plain call ended %s", o)
		}
		began := time.Now()
		if o := s.call(b.Context(), "write", fmt.Sprint("plain-", i)); o != history.Done {
			b.Fatalf("a plain call ended %s", o)
		}
		between := time.Now()
		f := faults.AnswerLost{Line: s.line, Match: write, Shape: faults.Cut, Proof: s.proof(), Limits: limits()}.Arm(s.ledger)
		if _, err := faults.Around(b.Context(), f, s.act("write", fmt.Sprint("lost-", i))); err != nil {
			b.Fatal(err)
		}
		lost = append(lost, time.Since(between))
		plain = append(plain, between.Sub(began))
	}
	slices.Sort(plain)
	slices.Sort(lost)
	p, l := plain[len(plain)/2], lost[len(lost)/2]
	b.ReportMetric(float64(p.Nanoseconds()), "plain-p50-ns")
	b.ReportMetric(float64(l.Nanoseconds()), "cycle-p50-ns")
	b.ReportMetric(float64(l)/float64(p), "cycle/plain")
	b.ReportMetric(0, "ns/op")
}
