package suites

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/fixtures/launch"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/render"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

func fileWith(name string, concurrent, rounds, alternations int) *target.File {
	return &target.File{Name: name, Processes: map[string]target.Process{"helper": {MCP: target.MCP{Stdio: true}, Run: []string{"/bin/true"}}}, Profiles: target.Profiles{
		Durability: &target.Durability{Concurrent: concurrent, Rounds: rounds, Alternations: alternations},
	}}
}

func TestTheTargetFileSetsTheNumbersThatASpecHas(t *testing.T) {
	expect := NewWithT(t).Expect
	race := Test{ID: "DU-04/x", Profile: target.ProfileDurability, Numbers: reports.Numbers{Concurrent: 50, Rounds: 1}}
	kill := Test{ID: "DU-01/x", Profile: target.ProfileDurability, Numbers: reports.Numbers{Rounds: 5}}
	none := Test{ID: "DU-13/x", Profile: target.ProfileDurability}
	f, own := fileWith("acme", 7, 3, 2), fileWith("reference", 9, 0, 0)
	plan := planTarget([]Test{race, kill, none}, f, own, 1)
	numbers := map[string]reports.Numbers{}
	for _, p := range plan {
		numbers[p.Key] = p.Numbers
	}
	expect(numbers).To(Equal(map[string]reports.Numbers{
		"DU-04/x": {Concurrent: 7, Rounds: 3}, "DU-01/x": {Rounds: 3}, "DU-13/x": {},
		// The control does what the target was held to, whatever its own file says.
		"control/DU-04/x": {Concurrent: 7, Rounds: 3}, "control/DU-01/x": {Rounds: 3}, "control/DU-13/x": {},
	}))
	expect(numbersOf(race, fileWith("plain", 0, 0, 0))).To(Equal(race.Numbers))
	expect(numbersOf(race, &target.File{})).To(Equal(race.Numbers))
}

func TestARepetitionDoesAsOftenAsWasPlanned(t *testing.T) {
	expect := NewWithT(t).Expect
	report := t.TempDir()
	schedule := filepath.Join(report, reports.ArtifactsDir, "DU-04/x", "schedule.yaml")
	expect(os.MkdirAll(filepath.Dir(schedule), 0o755)).To(Succeed())
	expect(os.WriteFile(schedule, nil, 0o644)).To(Succeed())
	test := Test{ID: "DU-04/x", Numbers: reports.Numbers{Concurrent: 50, Rounds: 1}}
	plan := reports.Plan{Specs: []reports.PlannedSpec{{Key: test.ID, ID: test.ID, Numbers: reports.Numbers{Concurrent: 7, Rounds: 3}}}}
	specs, err := Harness{Tests: []Test{test}}.planRepro(ReproOptions{Report: report, Times: 2}, plan, Loaded{Name: "acme"}, []string{test.ID})
	expect(err).NotTo(HaveOccurred())
	expect(specs).To(HaveLen(2))
	for _, p := range specs {
		expect(p.Numbers).To(Equal(reports.Numbers{Concurrent: 7, Rounds: 3}))
	}
}

func TestASpecIsToldHowOftenAndTheHistoryAndTheResultSayIt(t *testing.T) {
	expect := NewWithT(t).Expect
	var driven, judged reports.Numbers
	test := Test{
		ID: "DU-01/x", Clauses: []string{"DU-01"}, Profile: target.ProfileDurability, Numbers: reports.Numbers{Rounds: 5},
		Drive: func(w *world.World) { driven = w.Numbers() },
		Judge: judge.Numbered(func(n reports.Numbers) judge.Rule { judged = n; return judge.All() }),
	}
	f := fileWith("acme", 0, 3, 0)
	t.Setenv("TMPDIR", t.TempDir())
	run, err := launch.NewRun("")
	expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { run.Close() })
	for _, c := range []struct {
		planned, want reports.Numbers
	}{{reports.Numbers{}, reports.Numbers{Rounds: 3}}, {reports.Numbers{Rounds: 8}, reports.Numbers{Rounds: 8}}} {
		result := Perform(t.Context(), test, Setup{Target: f, Folder: t.TempDir(), Scratch: run.Folder(), Numbers: c.planned})
		expect(result.Reason).To(BeEmpty())
		expect([]reports.Numbers{driven, judged, result.Numbers}).To(HaveEach(c.want))
		expect(result.Tried).To(Equal(c.want.Words()))
	}
}

func TestListAndExplainSayHowOften(t *testing.T) {
	expect := NewWithT(t).Expect
	test := Test{ID: "DU-04/x", Title: "a race", Profile: target.ProfileDurability, Numbers: reports.Numbers{Concurrent: 50, Rounds: 1}}
	listing := Listing{Specs: []ListedSpec{listedSpec(test)}}
	expect(listing.Text(render.Screen{})).To(ContainSubstring("a race (50 writes at once, 1 round)"))
	text := Explanation{Spec: test.ID, Specs: []ExplainedSpec{explained(test)}}.Text(render.Screen{})
	expect(strings.Join(strings.Fields(text), " ")).To(ContainSubstring("unless the target file says otherwise 50 writes at once, 1 round"))
}
