// Package verdict holds the six verdict words that people script against, and
// their order. The words are lower case and frozen (contract, "Verdicts").
package verdict

// Verdict is what is said of one spec or one clause.
type Verdict string

// The verdicts, from the contract. Nothing else is ever written to a report.
const (
	// Pass: the clause held, and every fault that it needs is proven to have hit.
	Pass Verdict = "pass"
	// Fail: the target broke the clause; the finding names the contradicting facts.
	Fail Verdict = "fail"
	// Inconclusive: no judgement was possible. Never a pass.
	Inconclusive Verdict = "inconclusive"
	// Error: the harness or the machine failed, not the target.
	Error Verdict = "error"
	// NotApplicable: the target does not claim it, or cannot have it.
	NotApplicable Verdict = "not-applicable"
	// NotRun: planned, but no result came.
	NotRun Verdict = "not-run"
)

// order is worst first: a clause's verdict is the worst of its specs.
var order = []Verdict{Fail, Error, Inconclusive, NotRun, Pass, NotApplicable}

// All lists every verdict, worst first.
func All() []Verdict { return append([]Verdict(nil), order...) }

// Valid says whether v is one of the six words.
func Valid(v Verdict) bool { return rank(v) < len(order) }

// Worst returns the worst of vs in the contract's order; of none it is NotRun,
// because a clause without a result was not judged. A word that is none of the
// six is Error: the harness wrote it, and it must not hide behind a pass.
func Worst(vs ...Verdict) Verdict {
	if len(vs) == 0 {
		return NotRun
	}
	worst := NotApplicable
	for _, v := range vs {
		if !Valid(v) {
			v = Error
		}
		if rank(v) < rank(worst) {
			worst = v
		}
	}
	return worst
}

// Worse says whether a is worse than b.
func Worse(a, b Verdict) bool { return rank(a) < rank(b) }

func rank(v Verdict) int {
	for i, o := range order {
		if o == v {
			return i
		}
	}
	return len(order)
}
