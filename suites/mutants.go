package suites

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/holdfast-mcp/holdfast/fixtures/launch"
	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/gate"
	"github.com/holdfast-mcp/holdfast/reports/progress"
)

// maxCollateral is how many other clauses a mutant may break: one defect that
// breaks more is no proof of any.
const maxCollateral = 3

// Mutant is one thing that is broken on purpose: a defect of the reference,
// which a clause must catch, or a saboteur, which is a defect of the harness
// that must not lead to a pass.
type Mutant struct {
	Name string `json:"name"`
	// Breaks says in a few words what is broken.
	Breaks string `json:"breaks"`
	// Primary is the clause that must fail; empty for a saboteur.
	Primary string `json:"primary,omitempty"`
	// Collateral are the other clauses that may fail, each with the reason.
	Collateral []Collateral `json:"collateral,omitempty"`
	Saboteur   bool         `json:"saboteur,omitempty"`
	// Specs are patterns of the specs to run. A saboteur must have some. Of a
	// mutant, empty means those of its clauses that open no browser.
	Specs []string `json:"specs,omitempty"`
	// Code is where it stands in the tree: fixtures/mutants/keys.go:18.
	Code string `json:"code,omitempty"`
	// Target is the built-in target that is broken; empty is the reference, and for
	// specs that open a browser the one with pages (BrowserTarget).
	Target string `json:"target,omitempty"`
}

// Collateral is a clause that a mutant may break as well.
type Collateral struct {
	Clause string `json:"clause"`
	Why    string `json:"why"`
}

func (m Mutant) target() string {
	if m.Target == "" {
		return ControlTarget
	}
	return m.Target
}

// targetFor is the target that one of its tests is run on.
func (h Harness) targetFor(m Mutant, t Test) string {
	if _, there := h.Builtin(BrowserTarget); there && t.Browser && m.Target == "" {
		return BrowserTarget
	}
	return m.target()
}

// mayBreak says whether a finding on this clause is expected of the mutant.
func (m Mutant) mayBreak(clause string) bool {
	return clause == m.Primary || slices.ContainsFunc(m.Collateral, func(c Collateral) bool { return c.Clause == clause })
}

// MutantsSchema names the form of mutants.json.
const MutantsSchema = "holdfast.mutants/1"

// MutantReport is mutants.json.
type MutantReport struct {
	Schema   string         `json:"schema"`
	Tool     reports.Tool   `json:"tool"`
	Seed     int64          `json:"seed"`
	Started  time.Time      `json:"started"`
	Ended    time.Time      `json:"ended"`
	Results  []MutantResult `json:"results"`
	Specs    []reports.Spec `json:"specs"`
	ExitCode int            `json:"exit_code"`
	// Reasons say what is wrong with the harness or its mutants.
	Reasons []string `json:"reasons"`
}

// MutantResult is what became of one mutant, or of the reference as it is.
type MutantResult struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"` // mutant, saboteur, unmutated
	Primary  string `json:"primary,omitempty"`
	Breaks   string `json:"breaks"`
	Specs    int    `json:"specs"`
	OK       bool   `json:"ok"`
	Outcome  string `json:"outcome"`   // caught, survived, unmasked …
	Detail   string `json:"detail"`    // why it is not OK, or what caught it
	ExitCode int    `json:"exit_code"` // what it adds to the whole: 0, 1 or 3
}

// MutantOptions are what a self-test is asked for.
type MutantOptions struct {
	// Names of mutants; none takes all of them, and the coverage check.
	Names []string
	// All runs every spec on every mutant instead of only those of its clauses.
	All   bool
	Out   string
	Procs int // 0 is four times the cores, capped at the number of specs
	Seed  int64
	Stop  Stop
	Watch progress.Watch
}

const unmutated = "unmutated"

// checkMutants says what is wrong with the list of mutants itself.
func (h Harness) checkMutants() []error {
	var errs []error
	seen := map[string]bool{unmutated: true}
	for _, m := range h.Mutants {
		if seen[m.Name] || m.Name == "" {
			errs = append(errs, fmt.Errorf("mutant %q: expected a name of its own", m.Name))
		}
		seen[m.Name] = true
		if m.Saboteur {
			if len(m.Specs) == 0 {
				errs = append(errs, fmt.Errorf("saboteur %s names no specs", m.Name))
			}
		} else if _, ok := h.clause(m.Primary); !ok {
			errs = append(errs, fmt.Errorf("mutant %s: its primary clause %q is not in the contract", m.Name, m.Primary))
		}
		if len(m.Collateral) > maxCollateral {
			errs = append(errs, fmt.Errorf("mutant %s has %d collateral clauses; at most %d, or it proves nothing", m.Name, len(m.Collateral), maxCollateral))
		}
		for _, c := range m.Collateral {
			if _, ok := h.clause(c.Clause); !ok || c.Why == "" || c.Clause == m.Primary {
				errs = append(errs, fmt.Errorf("mutant %s: collateral %q needs a clause of the contract other than its primary one, and a reason", m.Name, c.Clause))
			}
		}
		if _, err := h.matching("specs", m.Specs); err != nil {
			errs = append(errs, fmt.Errorf("mutant %s: %w", m.Name, err))
		}
	}
	return errs
}

// uncovered lists the clauses that have a spec and that no mutant shows red.
func (h Harness) uncovered() []string {
	var without []string
	for _, c := range h.Catalogue.All() {
		covered := slices.ContainsFunc(h.Mutants, func(m Mutant) bool { return !m.Saboteur && baseOf(m.Primary) == c.ID })
		if !covered && len(h.testsOf(c.ID)) > 0 {
			without = append(without, c.ID)
		}
	}
	return without
}

// testsFor lists the tests that are run on a mutant.
func (h Harness) testsFor(m Mutant, all bool) ([]Test, error) {
	if all && !m.Saboteur {
		return h.Tests, nil
	}
	if len(m.Specs) > 0 {
		wanted, err := h.matching("specs", m.Specs)
		if err != nil {
			return nil, err
		}
		return slices.DeleteFunc(slices.Clone(h.Tests), func(t Test) bool { return !wanted[t.ID] }), nil
	}
	var tests []Test
	refs := []string{m.Primary}
	for _, c := range m.Collateral {
		refs = append(refs, c.Clause)
	}
	first := func(ref string) bool {
		return slices.ContainsFunc(h.Tests, func(t Test) bool { return baseOf(t.Clauses[0]) == baseOf(ref) })
	}
	for _, t := range h.Tests {
		if t.Browser {
			continue // a browser is started for the mutants that nothing else shows, and name it
		}
		for _, ref := range refs {
			// The specs that a clause is the primary of; where it is that of none,
			// those that speak for it besides.
			own := baseOf(t.Clauses[0]) == baseOf(ref)
			besides := slices.ContainsFunc(t.Clauses, func(c string) bool { return baseOf(c) == baseOf(ref) })
			if own || (besides && !first(ref)) {
				tests = append(tests, t)
				break
			}
		}
	}
	return tests, nil
}

// SelfTest runs the mutants, the saboteurs and the reference as it is in one
// parallel run, and says which of them came out as they must.
func (h Harness) SelfTest(o MutantOptions) (MutantReport, error) {
	if o.Watch == nil {
		o.Watch = progress.Silent{}
	}
	if err := scaled(); err != nil {
		return MutantReport{}, err
	}
	chosen, err := h.chooseMutants(o.Names)
	if err != nil {
		return MutantReport{}, err
	}
	plan, targets, err := h.planMutants(chosen, o)
	if err != nil {
		return MutantReport{}, err
	}
	folder, err := filepath.Abs(o.Out)
	if err != nil {
		return MutantReport{}, fmt.Errorf("finding the report folder: %w", err)
	}
	held, err := takeFor(folder, plan)
	if err != nil {
		return MutantReport{}, err
	}
	scratch, err := openScratch(false, o.Watch)
	if err != nil {
		return MutantReport{}, errors.Join(err, held.Close())
	}
	report, err := h.runMutants(chosen, o, plan, targets, folder, scratch)
	return report, errors.Join(err, scratch.Close(), held.Close())
}

// takeFor takes a report folder and puts a plan in the place of what was there.
func takeFor(folder string, plan reports.Plan) (*reports.Hold, error) {
	held, err := reports.Take(folder)
	if err != nil {
		return nil, asUsage(err)
	}
	if err := held.Clear(); err != nil {
		return nil, errors.Join(asUsage(err), held.Close())
	}
	if err := reports.Write(folder, reports.PlanFile, plan); err != nil {
		return nil, errors.Join(err, held.Close())
	}
	return held, nil
}

func (h Harness) runMutants(chosen []Mutant, o MutantOptions, plan reports.Plan, targets map[string]Loaded, folder string, scratch *launch.Run) (MutantReport, error) {
	ctx, cancel := o.Stop.context()
	defer cancel()
	report := MutantReport{
		Schema: MutantsSchema, Tool: reports.Tool{Name: "holdfast", Version: h.Version}, Seed: o.Seed, Started: time.Now(),
		Reasons: []string{},
	}
	e := execution{
		id: scratch.ID(), folder: folder, scratch: scratch.Folder(), environ: scratch.Environ(), procs: procsForMutants(o.Procs),
		specs: plan.Specs, targets: targets, watch: o.Watch,
	}
	var err error
	if report.Specs, err = e.run(ctx, o.Stop.Kill); err != nil {
		return report, err
	}
	report.Ended = time.Now()
	h.judgeMutants(&report, chosen, plan, len(o.Names) == 0)
	if len(e.broken) > 0 {
		report.Reasons = append(report.Reasons, e.broken...)
		report.ExitCode = gate.Worst(report.ExitCode, gate.Incomplete)
	}
	if errors.Is(context.Cause(ctx), errInterrupted) {
		report.ExitCode = gate.Interrupted
	}
	return report, reports.Write(folder, reports.MutantsFile, report)
}

func (h Harness) chooseMutants(names []string) ([]Mutant, error) {
	if len(names) == 0 {
		return h.Mutants, nil
	}
	var chosen []Mutant
	var known []string
	for _, m := range h.Mutants {
		known = append(known, m.Name)
	}
	for _, name := range names {
		i := slices.Index(known, name)
		if i < 0 {
			return nil, Usage("there is no mutant %q%s; `holdfast mutants --list` names them", name, nearText(name, known))
		}
		if !slices.ContainsFunc(chosen, func(m Mutant) bool { return m.Name == name }) {
			chosen = append(chosen, h.Mutants[i])
		}
	}
	return chosen, nil
}

// loadOnce loads a target unless it is among those that were.
func (h Harness) loadOnce(name string, loaded map[string]Loaded) (Loaded, error) {
	if l, there := loaded[name]; there {
		return l, nil
	}
	l, err := h.Load(name)
	if err == nil {
		loaded[l.Name] = l
	}
	return l, err
}

// planMutants plans every mutant's specs, and the same specs on what is unmutated.
func (h Harness) planMutants(chosen []Mutant, o MutantOptions) (reports.Plan, map[string]Loaded, error) {
	plan := reports.Plan{
		Schema: reports.PlanSchema, Created: time.Now(), Seed: o.Seed,
		Contract: reports.Contract{Version: h.Catalogue.Version, Digest: h.Catalogue.Digest},
	}
	targets := map[string]Loaded{}
	healthy := map[string]reports.PlannedSpec{}
	var order []string
	var broken []reports.PlannedSpec
	for _, m := range chosen {
		tests, err := h.testsFor(m, o.All)
		if err != nil {
			return plan, nil, err
		}
		for _, t := range tests {
			l, err := h.loadOnce(h.targetFor(m, t), targets)
			if err != nil {
				return plan, nil, err
			}
			p := planned(t, l.File, reports.RoleMutant, m.Name+"/", o.Seed)
			if m.Saboteur {
				p.Saboteur = m.Name
			} else {
				p.Mutant = m.Name
			}
			broken = append(broken, p)
			twin := planned(t, l.File, reports.RoleMutant, unmutated+"/"+l.Name+"/", o.Seed)
			if _, there := healthy[twin.Key]; !there {
				healthy[twin.Key] = twin
				order = append(order, twin.Key)
			}
		}
	}
	for _, key := range order {
		plan.Specs = append(plan.Specs, healthy[key])
	}
	plan.Specs = append(plan.Specs, broken...)
	if len(plan.Specs) == 0 {
		return plan, nil, errors.New("there is no mutant to run, so nothing is proven")
	}
	return plan, targets, nil
}
