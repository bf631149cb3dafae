package judge

import (
	"slices"

	"fmt"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// Placed rules over the faults themselves: a spec that needs n faults of a name
// is no judgement unless that many were proven to have hit and were seen to.
func Placed(name string, n int) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		hit := 0
		for _, f := range h.Faults() {
			if f.Name != name {
				continue
			}
			why := unproven(f)
			if why == "" {
				hit++
				continue
			}
			r.doubted("the fault %s (%s) is not proven to have hit: %s", f.Name, f.Position, why)
		}
		if hit < n && len(r.Doubts) == 0 {
			r.doubted("%d faults %s were needed, %d were placed", n, name, hit)
		}
		return r
	}
}

// proofs are what the faults that hide an outcome have to prove. A cut before
// the commit is another fault than a lost answer.
var proofs = map[string]string{
	"answer-lost":    "committed",
	"caller-gone":    "committed",
	"kill-at-stored": "committed",
	"request-lost":   "absent",
}

// unproven says which stage is missing or out of order, "" when the fault hit.
func unproven(f history.FaultTrace) string {
	last := int64(0)
	for _, stage := range []history.Stage{history.Armed, history.Matched, history.Held, history.Proven, history.Fired, history.Observed} {
		e, ok := f.Reached(stage)
		switch {
		case !ok:
			return "it never came to stage " + string(stage)
		case e.Seq < last:
			return "stage " + string(stage) + " came before the one that it follows"
		case stage != history.Proven:
		case e.Fault.By == "":
			return "the proof names no second route"
		case e.Fault.Proof == "":
			return "the proof does not say what it proves"
		case proofs[f.Name] != "" && e.Fault.Proof != proofs[f.Name]:
			return fmt.Sprintf("it needs the proof %q, and proven is %q", proofs[f.Name], e.Fault.Proof)
		}
		last = e.Seq
	}
	return ""
}

// FaultsOf turns the placements of a history into what the report shows.
func FaultsOf(h history.History) []reports.Fault {
	faults := []reports.Fault{}
	for _, f := range h.Faults() {
		out := reports.Fault{ID: f.ID, Name: f.Name, Position: f.Position}
		for _, e := range f.Stages {
			out.Stages = append(out.Stages, reports.Stage{
				Stage: string(e.Fault.Stage), AtMS: float64(e.At.Microseconds()) / 1000,
				Proof: e.Fault.Proof, By: e.Fault.By, Evidence: e.Fault.Evidence,
			})
		}
		faults = append(faults, out)
	}
	return faults
}

// ProbeSees is the control of a probe that is to show that nothing is there: the
// same probe showed an acknowledged value.
func ProbeSees(probe string) Rule {
	return func(h history.History) Ruling {
		controls := h.Looks(probe, "control")
		if len(controls) == 0 {
			return doubt("the probe %s was not tried on a value that is there", probe)
		}
		for _, look := range controls {
			if look.Error != "" || !slices.Contains(columns(look.Rows, "value"), look.Params["value"]) {
				return doubt("the probe %s does not show the acknowledged value %q, so that it shows nothing when it shows none", probe, look.Params["value"])
			}
		}
		return Ruling{}
	}
}
