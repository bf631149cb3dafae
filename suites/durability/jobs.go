package durability

import (
	"runtime"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// jobs are killed servers whose children had work in hand. What has happened to the
// child is the kernel's word, and whether there is a result that of a probe.
var jobs = []suites.Test{
	{
		ID: "DU-24/child-lives-on", Clauses: []string{"DU-24"}, NotFor: jobless,
		Title: "a job whose process outlives its server is told as running by the next one, and as what came of it once the process has ended",
		Drive: on(func(s *scene) {
			job := s.begun()
			s.helper.KilledWithout(job)
			s.helper = s.NewCaller()
			job.Asked(s.helper, "restarted")
			job.ComesToItsEnd()
			job.AskedUntilSettled(s.helper, "over")
		}),
		Judge: judge.JobsAreToldTruly("restarted", "over"),
	},
	{
		ID: "DU-24/child-ends-meanwhile", Clauses: []string{"DU-24"}, NotFor: jobless,
		Title: "a job whose process ended while no server ran is told as ended if its result is there, and never as unknown to the server",
		Drive: on(func(s *scene) {
			job := s.begun()
			s.helper.KilledWithout(job)
			job.ComesToItsEnd()
			s.helper = s.NewCaller()
			job.AskedUntilSettled(s.helper, "over")
		}),
		Judge: judge.JobsAreToldTruly("over"),
	},
	{
		ID: "DU-24/child-killed-too", Clauses: []string{"DU-24"}, NotFor: jobless,
		Title: "a job whose process was killed with its server is told neither as running nor as ended",
		Drive: on(func(s *scene) {
			job := s.begun()
			s.helper.KilledWithout(job)
			job.Killed()
			s.helper = s.NewCaller()
			job.AskedUntilSettled(s.helper, "over")
		}),
		Judge: judge.JobsAreToldTruly("over"),
	},
}

// jobless says that a target has no jobs.
func jobless(f *target.File) string {
	if f.Profiles.Durability != nil && f.Profiles.Durability.Jobs == nil {
		return "the target file has no profiles.durability.jobs, so that the server is not said to hand work to child processes and to give out its ID"
	}
	return ""
}

// begun is a job whose process stands still, told by its own server while that lives.
func (s *scene) begun() *world.Job {
	if runtime.GOOS != "linux" {
		panic(world.Stop{Verdict: verdict.NotRun, Reason: "only Linux tells which processes a server has started"})
	}
	s.write() // so that there is something to work on
	job := s.helper.Begins(s.writing())
	job.Asked(s.helper, "begun")
	return job
}
