package world

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/holdfast-mcp/holdfast/faults/process"
	"github.com/holdfast-mcp/holdfast/fixtures/launch"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// What the judges know of jobs (DU-24): how many processes of a job were found as it
// was begun, what was true of it as it was asked about, and the look for its result.
const (
	JobBegunMark = "job-begun"
	JobAskedMark = "job-asked"
	ResultProbe  = "result"
)

// Job is work that a helper has handed to a child process. Whether that lives is the
// kernel's word, not the helper's.
type Job struct {
	w        *World
	id       string
	parent   *launch.Process
	children []process.Identity
}

// Begins hands work over, and stops the processes that came to be for it where they
// are, so that they neither end nor come further until the job goes on.
func (c *Caller) Begins(act Act) *Job {
	w, tool := c.w, c.w.Target.Profiles.Durability.Jobs.Begin
	j := &Job{w: w, parent: c.theProcess()}
	before := j.living()
	act.Role, act.Tool = "begin", &tool
	op := c.Do(act)
	if j.id = op.Text("job"); op.Outcome() != history.Done || j.id == "" {
		Inconclusive("no job could be begun with %s: %s, its ID %q; correct profiles.durability.jobs.begin in the target file", tool.Name, answerOrReason(op), j.id)
	}
	known := map[int]bool{}
	for _, pid := range before {
		known[pid] = true
	}
	// A process can start another one until it is stopped: two looks in a row find no
	// new one.
	w.within(w.config.Limits.Withheld, "the processes of a job", func() bool { return len(j.stopped(known)) == 0 && len(j.children) > 0 })
	if len(j.children) == 0 {
		Inconclusive("no process of the server was seen that runs for the job that %s began; give it arguments in profiles.durability.jobs.begin with which its process runs for a second or more", tool.Name)
	}
	w.Mark(JobBegunMark, map[string]any{"job": j.id, "processes": len(j.children)})
	return j
}

func answerOrReason(op history.Operation) string {
	if op.Outcome() == history.Done {
		return "it was accepted"
	}
	return reasonOf(op)
}

func (j *Job) living() []int {
	pids, err := j.parent.Descendants()
	if err != nil {
		Broken("%v", err)
	}
	return pids
}

// stopped stops what has come since it was looked last, and returns it.
func (j *Job) stopped(known map[int]bool) (fresh []int) {
	for _, pid := range j.living() {
		if known[pid] {
			continue
		}
		known[pid] = true
		id, err := process.Identify(pid)
		if err != nil {
			continue // it ended meanwhile
		}
		fresh = append(fresh, pid)
		j.children = append(j.children, id)
		j.send("stop", pid, launch.Descendant(pid).Freeze)
	}
	return fresh
}

func (j *Job) send(what string, pid int, signal func() error) {
	if err := signal(); err != nil {
		Broken("making process %d of job %s %s: %v", pid, j.id, what, err)
	}
}

// alive are the processes of the job that live. The dead among them whom nobody else
// would reap are reaped, so that a server which asks the kernel sees what is seen here.
func (j *Job) alive() (pids []int) {
	select {
	case <-j.parent.Done():
		if _, err := j.parent.Leftovers(); err != nil {
			Broken("%v", err)
		}
	default:
	}
	for _, id := range j.children {
		state, err := id.State()
		if err != nil {
			Broken("looking at process %d of job %s: %v", id.PID, j.id, err)
		}
		if state != process.Gone {
			pids = append(pids, id.PID)
		}
	}
	return pids
}

// KilledWithout kills the helper, and everything that it has started but the processes
// of a job.
func (c *Caller) KilledWithout(j *Job) {
	w, p := c.w, c.theProcess()
	w.killed = true
	kill := func(ctx context.Context) error { return p.KillSparing(ctx, j.alive()) }
	if w.config.Seams.Kill != nil {
		kill = w.config.Seams.Kill(kill)
	}
	if _, err := process.Kill(w.ctx, victim{p, kill}, w.config.Limits); err != nil {
		Inconclusive("%v", err)
	}
}

// Killed kills the processes of the job.
func (j *Job) Killed() {
	for _, pid := range j.alive() {
		j.send("end", pid, launch.Descendant(pid).Kill)
	}
	j.over("after SIGKILL", j.w.config.Limits.Reap)
}

// ComesToItsEnd lets the job go on, and waits for the end of its processes.
func (j *Job) ComesToItsEnd() {
	for _, pid := range j.alive() {
		j.send("go on", pid, launch.Descendant(pid).Thaw)
	}
	j.over("of themselves", j.w.config.Limits.Converge)
}

func (j *Job) over(how string, limit time.Duration) {
	gone := j.w.within(limit, "the processes of the job to end", func() bool {
		return len(j.alive()) == 0 && !slices.ContainsFunc(j.children, unreaped)
	})
	if !gone {
		Inconclusive("the processes of job %s did not end %s within %v; hand over work in profiles.durability.jobs.begin that ends sooner", j.id, how, limit)
	}
}

// unreaped says that the number of a process that has ended is still in the kernel's
// table, where a server may take it for one that runs.
func unreaped(id process.Identity) bool {
	_, err := os.Stat(fmt.Sprintf("/proc/%d", id.PID))
	return err == nil
}

// Asked asks a helper about the job, and records what is true of it meanwhile.
func (j *Job) Asked(c *Caller, moment string) history.Operation {
	tool := j.w.Target.Profiles.Durability.Jobs.Ask
	before := len(j.alive())
	op := c.Do(Act{Role: "ask", Tool: &tool, Params: map[string]string{"job": j.id}}.At(moment))
	j.w.LookIfThere(ResultProbe, moment, map[string]string{"job": j.id})
	others, err := c.theProcess().Descendants()
	if err != nil {
		Broken("%v", err)
	}
	others = slices.DeleteFunc(others, func(pid int) bool {
		return slices.ContainsFunc(j.children, func(id process.Identity) bool { return id.PID == pid })
	})
	j.w.Mark(JobAskedMark, map[string]any{
		"call": op.Invoked.ID, "moment": moment, "alive before": before, "alive after": len(j.alive()), "others": len(others),
	})
	return op
}

// AskedUntilSettled asks until the job is no longer told as running, for as long as a
// caller waits for an answer.
func (j *Job) AskedUntilSettled(c *Caller, moment string) {
	j.w.within(j.w.config.Limits.Answer, "the job to be told as over", func() bool {
		op := j.Asked(c, moment)
		return op.Outcome() != history.Done || op.Text("job_state") != "running"
	})
}
