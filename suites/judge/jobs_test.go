package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// toldJob is DU-24: a job whose process runs behind the kill of its server, and has
// ended with a result later.
func toldJob() history.History {
	s := newStory()
	asked := func(moment, state string, alive int, result ...map[string]any) {
		id := s.call("ask", params("job", "j1", "moment", moment), done("job_state", state)) // c2, c3, c4
		s.look("result", moment, params("job", "j1"), result...)
		s.mark("job-asked", "call", id, "moment", moment, "alive before", alive, "alive after", alive, "others", 0)
	}
	s.call("begin", value("v"), done("job", "j1")) // c1
	s.mark("job-begun", "job", "j1", "processes", 1)
	asked("begun", "running", 1)
	asked("restarted", "running", 1)
	asked("over", "ended", 0, row("notes", 1))
	return s.told()
}

// toldAs is what the server says of the job.
func toldAs(id, state string) edit { return field(id, "job_state", state) }

// askedWhile changes what was true as a question was asked.
func askedWhile(moment, key string, value int) edit {
	return each("the question "+moment, func(e history.Event) bool {
		return e.Kind == history.KindMark && e.Mark.Name == "job-asked" && e.Mark.Data["moment"] == moment
	}, func(e *history.Event) { e.Mark.Data[key] = float64(value) })
}

// lookedFor changes what the probe showed, at a moment.
func lookedFor(moment string, change func(*history.Look)) edit {
	return each("the look "+moment, func(e history.Event) bool {
		return e.Kind == history.KindLook && e.Look.When == moment
	}, func(e *history.Event) { change(e.Look) })
}

func noResult(l *history.Look) { l.Rows = nil }

func TestJobsAreToldTruly(t *testing.T) {
	const (
		clause = "DU-24"
		runs   = "its process ran before the question and behind it, and there is no result"
		over   = "its process had ended before, and there is no result"
		there  = "its process had ended before, and its result is there"
	)
	noControl := func(told string) []string {
		return []string{"the server that began the job did not tell it as running while its process ran (" + told + "), so that what is told later says nothing; see to jobs.ask and vocabulary.job_state in the target file"}
	}
	rules(t, JobsAreToldTruly("restarted", "over"), toldJob(),
		variant{"no such job", edits(ends("c3", refused("", "not_found"))),
			finds(broken(clause, "behind a kill of the server its job cannot be asked about any more", `call c3: {"isError":true}`, runs)), nil},
		variant{"no answer", edits(ends("c4", unknown())),
			finds(broken(clause, "behind a kill of the server its job cannot be asked about any more", "call c4: no answer within 15s", there)), nil},
		variant{"unknown while it runs", edits(toldAs("c3", "unknown")), finds(broken(clause, "a job whose process runs is told as unknown", "call c3: ", runs)), nil},
		variant{"failed while it runs", edits(toldAs("c3", "failed")), finds(broken(clause, "a job whose process runs is told as failed", "call c3: ", runs)), nil},
		variant{"ended while it runs", edits(toldAs("c3", "ended")), finds(broken(clause, "a job without a result is told as ended", "call c3: ", runs)), nil},
		variant{"ended while it runs, with its result", edits(toldAs("c3", "ended"), lookedFor("restarted", func(l *history.Look) { l.Rows = []map[string]any{{}} })), nil, nil},
		variant{"running for ever", edits(toldAs("c4", "running")), finds(broken(clause, "a job whose process is gone is told as running, 1 of 1 times", "call c4: ", there)), nil},
		variant{"running, and begun anew", edits(toldAs("c4", "running"), askedWhile("over", "others", 1)), nil,
			[]string{"the job is told as running, its process is gone, and the server runs 1 process of its own: it may have begun the work anew"}},
		variant{"ended without a result", edits(lookedFor("over", noResult)), finds(broken(clause, "a job without a result is told as ended", "call c4: ", over)), nil},
		variant{"unknown without a result", edits(toldAs("c4", "unknown"), lookedFor("over", noResult)), nil, nil},
		variant{"failed without a result", edits(toldAs("c4", "failed"), lookedFor("over", noResult)), nil, nil},
		variant{"failed with a result", edits(toldAs("c4", "failed")), finds(broken(clause, "a job whose result is there is told as failed", "call c4: ", there)), nil},
		variant{"unknown with a result", edits(toldAs("c4", "unknown")), nil, nil},
		variant{"it ends meanwhile", edits(toldAs("c3", "unknown"), askedWhile("restarted", "alive after", 0)), nil, nil},
		variant{"no probe", edits(removed("looks", func(e history.Event) bool { return e.Kind == history.KindLook })), nil,
			[]string{"the job is told as ended, and the target file has no probe result in profiles.durability.probes that shows whether its result is there"}},
		variant{"a look that failed", edits(lookedFor("over", func(l *history.Look) { l.Error = "locked" })), nil,
			[]string{"the job is told as ended, and the target file has no probe result in profiles.durability.probes that shows whether its result is there"}},
		variant{"another word", edits(toldAs("c3", "busy")), nil,
			[]string{`what is told of the job, "busy", is none of running, ended, failed and unknown; map it in vocabulary.job_state`}},
		variant{"not told as running at first", edits(toldAs("c2", "unknown")), nil, noControl(`it said "unknown": `)},
		variant{"never asked at first", edits(noCall("c2")), nil, noControl("it was not asked")},
		variant{"not asked behind the kill", edits(noCall("c3")), nil, []string{"nobody asked about the job at the moment restarted"}},
	)
}
