package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// jobAsked is one question about a job, with what was true of it meanwhile.
type jobAsked struct {
	op             history.Operation
	runs, gone     bool // before the question and behind it; neither where it ended meanwhile
	others         int  // processes that the server which was asked has started itself
	result, probed bool // whether the result is there, and whether that was seen
}

// JobsAreToldTruly (DU-24): what a server that was started behind a kill says about a
// job of the killed one is true, at each of these moments: running while its process
// runs, ended only where its result is there, failed only where it is over without one;
// of unknown outcome may be whatever does not run. The control is that its own server
// had told it as running.
func JobsAreToldTruly(moments ...string) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		begun := jobsAsked(h, "begun")
		if len(begun) != 1 || !begun[0].runs || begun[0].op.Text("job_state") != "running" {
			told := "it was not asked"
			if len(begun) == 1 {
				told = fmt.Sprintf("it said %q: %s", begun[0].op.Text("job_state"), answerOf(begun[0].op))
			}
			r.doubted("the server that began the job did not tell it as running while its process ran (%s), so that what is told later says nothing; see to jobs.ask and vocabulary.job_state in the target file", told)
			return r
		}
		for _, moment := range moments {
			asked := jobsAsked(h, moment)
			if len(asked) == 0 {
				r.doubted("nobody asked about the job at the moment %s", moment)
				continue
			}
			r.jobToldTruly(asked[len(asked)-1], len(asked))
		}
		return r
	}
}

// jobsAsked are the questions of a moment.
func jobsAsked(h history.History, moment string) (all []jobAsked) {
	looks := h.Looks("result", moment)
	for _, m := range h.Marks("job-asked") {
		if text(m.Data, "moment") != moment {
			continue
		}
		a := jobAsked{others: number(m.Data, "others")}
		before, after := number(m.Data, "alive before"), number(m.Data, "alive after")
		a.runs, a.gone = before > 0 && after > 0, before == 0 && after == 0
		if n := len(all); n < len(looks) && looks[n].Error == "" {
			a.probed, a.result = true, len(looks[n].Rows) > 0
		}
		i := slices.IndexFunc(h.Operations("ask"), func(o history.Operation) bool { return o.Invoked.ID == text(m.Data, "call") })
		if i >= 0 {
			a.op = h.Operations("ask")[i]
			all = append(all, a)
		}
	}
	return all
}

func (r *Ruling) jobToldTruly(a jobAsked, times int) {
	facts := []string{fmt.Sprintf("call %s: %s", a.op.Invoked.ID, answerOf(a.op)), a.truth()}
	state := a.op.Text("job_state")
	wrong := func(format string, args ...any) { r.broke("DU-24", fmt.Sprintf(format, args...), facts...) }
	switch {
	case a.op.Outcome() != history.Done:
		wrong("behind a kill of the server its job cannot be asked about any more")
	case !a.runs && !a.gone:
		return // it ended while the question was on its way
	case a.runs && state == "unknown", a.runs && state == "failed":
		wrong("a job whose process runs is told as %s", state)
	case state == "running" && a.gone && a.others > 0:
		r.doubted("the job is told as running, its process is gone, and the server runs %s of its own: it may have begun the work anew", reports.Plural(a.others, "process"))
	case state == "running" && a.gone:
		wrong("a job whose process is gone is told as running, %d of %d times", times, times)
	case state == "ended" && !a.probed:
		r.doubted("the job is told as ended, and the target file has no probe result in profiles.durability.probes that shows whether its result is there")
	case state == "ended" && !a.result:
		wrong("a job without a result is told as ended")
	case state == "failed" && a.result:
		wrong("a job whose result is there is told as failed")
	case !slices.Contains([]string{"running", "ended", "failed", "unknown"}, state):
		r.doubted("what is told of the job, %q, is none of running, ended, failed and unknown; map it in vocabulary.job_state", state)
	}
}

// truth is what was true of the job meanwhile.
func (a jobAsked) truth() string {
	words := "its process had ended before"
	if a.runs {
		words = "its process ran before the question and behind it"
	}
	switch {
	case !a.probed:
		return words
	case a.result:
		return words + ", and its result is there"
	}
	return words + ", and there is no result"
}
