package suites

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/gate"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// HistoryFile is the recording of a spec, among its artefacts.
const HistoryFile = "history.jsonl"

// RevalidationSchema names the form of a revalidation.
const RevalidationSchema = "holdfast.revalidation/1"

// Revalidation is what the judges of this version say of the recordings of a
// report. ExitCode is 0 when every spec is judged as then, 1 when one is judged
// otherwise, 3 when a recording cannot be judged or nothing was; 1 goes first.
type Revalidation struct {
	Schema   string           `json:"schema"`
	Report   string           `json:"report"`
	Then     RevalidationSide `json:"then"`
	Now      RevalidationSide `json:"now"`
	Results  []Revalidated    `json:"results"`
	ExitCode int              `json:"exit_code"`
}

// RevalidationSide is who judged, and by which clauses.
type RevalidationSide struct {
	Version  string           `json:"version"`
	Contract reports.Contract `json:"contract"`
}

// Revalidated is one spec of a report.
type Revalidated struct {
	ID   string          `json:"id"`
	Then verdict.Verdict `json:"then"`
	// Now is Then where nothing was judged again.
	Now verdict.Verdict `json:"now"`
	// Judged: its recording was judged again. Reason says why not, or why the
	// verdict is what it is now.
	Judged   bool              `json:"judged"`
	Reason   string            `json:"reason,omitempty"`
	Findings []reports.Finding `json:"findings"`
}

// Differs says whether the spec is judged otherwise than then.
func (r Revalidated) Differs() bool { return r.Judged && r.Now != r.Then }

// Revalidate judges the recordings of a report again; path is a report folder or a
// report.json. It starts nothing and writes nothing.
func (h Harness) Revalidate(path string) (Revalidation, error) {
	report, err := reports.Read(path)
	if err != nil {
		return Revalidation{}, asUsage(err)
	}
	folder := path
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		folder = filepath.Dir(path)
	}
	v := Revalidation{
		Schema: RevalidationSchema, Report: path, Results: []Revalidated{},
		Then: RevalidationSide{report.Tool.Version, report.Contract},
		Now:  RevalidationSide{h.Version, reports.Contract{Version: h.Catalogue.Version, Digest: h.Catalogue.Digest}},
	}
	again, codes := h.judgeAgain(folder, report)
	for i, s := range again {
		v.Results = append(v.Results, Revalidated{
			ID: s.spec.ID, Then: report.Specs[i].Verdict, Now: s.spec.Verdict, Judged: s.judged, Reason: s.spec.Reason, Findings: s.spec.Findings,
		})
		if v.Results[i].Differs() {
			codes = append(codes, gate.Violation)
		}
	}
	if !slices.ContainsFunc(v.Results, func(r Revalidated) bool { return r.Judged }) {
		codes = append(codes, gate.Incomplete)
	}
	v.ExitCode = gate.Worst(codes...)
	return v, nil
}

// rejudged is a spec as it is judged now; where it is not, its reason says why.
type rejudged struct {
	spec   reports.Spec
	judged bool
}

// judgeAgain judges the report's specs and lays the control run beside them, as
// it was then. The codes are of what could not be judged.
func (h Harness) judgeAgain(folder string, report reports.Report) ([]rejudged, []int) {
	var codes []int
	judge := func(s reports.Spec, environment bool) rejudged {
		now, err := h.judgeSpec(folder, s, environment)
		if err != nil {
			codes = append(codes, gate.Incomplete)
			now.spec.Reason = "not judged again: " + err.Error()
		}
		return now
	}
	var specs []reports.Spec
	var all []rejudged
	for _, s := range report.Specs {
		now := judge(s, report.Control != nil && slices.Contains(report.Control.Changed, s.ID))
		all, specs = append(all, now), append(specs, now.spec)
	}
	if report.Control == nil {
		return all, codes
	}
	control := reports.Control{Target: report.Control.Target}
	for _, s := range report.Control.Specs {
		control.Specs = append(control.Specs, judge(s, false).spec)
	}
	weigh(specs, &control)
	for i := range all {
		all[i].spec = specs[i]
	}
	return all, codes
}

// judgeSpec judges one recording. environment: the spec had failed then, and its
// failure was put down to the environment. The error says why a spec that was
// judged then cannot be judged now.
func (h Harness) judgeSpec(folder string, s reports.Spec, environment bool) (rejudged, error) {
	left := rejudged{spec: s}
	left.spec.Findings = []reports.Finding{}
	switch {
	case s.Stopped:
		left.spec.Reason = "not judged again: it stopped before its end: " + s.Reason
		return left, nil
	case environment:
	case s.Verdict != verdict.Pass && s.Verdict != verdict.Fail && s.Verdict != verdict.Inconclusive, s.Artifacts == "":
		left.spec.Reason = "not judged again: " + s.Reason
		return left, nil
	}
	t, ok := h.test(s.ID)
	if !ok {
		return left, errors.New("this version of holdfast has no such spec; use the version that wrote the report")
	}
	recorded, err := recording(folder, s)
	if err != nil {
		return left, err
	}
	return ruledAgain(s, t, recorded)
}

// ruledAgain asks the judge. One that was never given such a recording may break.
func ruledAgain(s reports.Spec, t Test, recorded history.History) (now rejudged, err error) {
	now = rejudged{spec: s}
	defer func() {
		if raised := recover(); raised != nil {
			now = rejudged{spec: s}
			err = fmt.Errorf("its judge broke: %v", raised)
		}
	}()
	now.spec.Verdict, now.spec.Reason, now.spec.Findings = "", "", []reports.Finding{}
	decide(&now.spec, t, recorded, nil)
	now.judged = true
	return now, nil
}

// recording reads what a spec recorded.
func recording(folder string, s reports.Spec) (history.History, error) {
	if !filepath.IsLocal(filepath.FromSlash(s.Artifacts)) {
		return history.History{}, fmt.Errorf("its artifacts (%q) lie outside of the report; the report was edited", s.Artifacts)
	}
	path := filepath.Join(folder, filepath.FromSlash(s.Artifacts), HistoryFile)
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return history.History{}, fmt.Errorf("there is no recording %s; keep the artifacts with the report", path)
	}
	if err != nil {
		return history.History{}, fmt.Errorf("reading its recording: %w", err)
	}
	defer file.Close()
	h, err := history.Read(file)
	if err == nil {
		err = h.Check()
	}
	if err != nil {
		return history.History{}, fmt.Errorf("its recording %s cannot be judged: %w", path, err)
	}
	return h, nil
}
