package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// strikes tells of a workflow of the steps "one" and "two" that was struck three
// times: in front of its checkpoint, with its first step held back, and with its
// first step under way. how is the error, "" for kills.
func strikes(how string) history.History {
	s := newStory()
	for i, run := range []string{"r1", "r2", "r3"} {
		id, acknowledged := "wf_"+run, i > 0
		of := params("operation_id", id)
		count := func(when string, one int) {
			s.look("outside", when, and(runIf(when, run), "text", "one"), row("came", one, "passed", one))
			s.look("outside", when, and(runIf(when, run), "text", "two"), row("came", 0, "passed", 0))
		}
		count("ready", 0)
		e := ending{Outcome: history.Unknown}
		if acknowledged {
			e = done("operation_id", id, "operation", "running")
		}
		s.call("start", params("texts", `["one","two"]`, "run", run), e)
		s.mark("crash-point", "run", run, "standing", "verified", "acknowledged", acknowledged,
			"at", row("point", row("n", i+1, "call", "write", "path", "store/x"), "side", "after", "error", how))
		count("crashed", map[string]int{"r3": 1}[run])
		if !acknowledged {
			continue
		}
		first := map[string]string{"r2": "pending", "r3": "in_flight"}[run]
		s.look("checkpoint-file", "crashed", of, row("kind", "file", "size", 9, "sha256", "aa"))
		s.look("checkpoint", "crashed", and(of, "run", run), row("state", "running", "steps", list(first, "pending")))
		s.call("status", and(of, "run", run), done("operation_id", id, "operation", "interrupted"))
		s.look("checkpoint", "ended", and(of, "run", run), row("state", map[string]string{"r2": "completed", "r3": "needs_review"}[run], "steps", list("done", "done")))
	}
	return s.told()
}

func runIf(when, run string) map[string]string {
	if when == "ready" {
		return params()
	}
	return params("run", run)
}

// ofRun changes the looks of one run.
func ofRun(run, probe, when string, rows ...map[string]any) edit {
	return each("look "+probe+" of "+run, func(e history.Event) bool {
		return isLook(probe, when)(e) && (e.Look.Params["run"] == run || e.Look.Params["operation_id"] == "wf_"+run)
	}, func(e *history.Event) { e.Look.Rows = rows })
}

func TestWholeAtCrashPoints(t *testing.T) {
	atPoint := func(n, wrong, name string, e ...edit) variant {
		return variant{name, e, finds(broken("WF-10", torn+", at 1 of 3 crash points",
			"point "+n+": killed after write of store/x: "+wrong, "3 runs, 3 of them struck where they should have been")), nil}
	}
	rules(t, WholeAtCrashPoints, strikes(""),
		atPoint("2", "the checkpoint of operation wf_r2 is there and cannot be read, 9 bytes", "half a file", ofRun("r2", "checkpoint", "crashed")),
		atPoint("2", "the start was acknowledged and no checkpoint is there", "none", ofRun("r2", "checkpoint", "crashed"), ofRun("r2", "checkpoint-file", "crashed")),
		atPoint("3", `operation wf_r3: its state "odd" is none`, "an odd state", ofRun("r3", "checkpoint", "crashed", row("state", "odd", "steps", list("done", "done")))),
		atPoint("3", "operation wf_r3: it has 1 steps, expected 2", "a step is missing", ofRun("r3", "checkpoint", "crashed", row("state", "running", "steps", list("done")))),
		atPoint("3", `operation wf_r3: the state "odd" of a step is none`, "an odd step", ofRun("r3", "checkpoint", "crashed", row("state", "running", "steps", list("done", "odd")))),
		atPoint("3", `operation wf_r3: status c5 was answered {"isError":true}`, "the server does not answer", ends("c5", refused("", "", "code", "corrupt"))),
		atPoint("2", "the server does not start again: exit code 1", "it does not start", marked("restart-failed", "run", "r2", "error", "exit code 1")),
		variant{"nobody asked", edits(noCall("c5")), nil, []string{"point 3: killed after write of store/x: the status of operation wf_r3 was not asked for"}},
		variant{"nobody saw the file", edits(removed("file", func(e history.Event) bool {
			return isLook("checkpoint-file", "crashed")(e) && e.Look.Params["operation_id"] == "wf_r2"
		})), nil, []string{"point 2: killed after write of store/x: the checkpoint of operation wf_r2 was not seen"}},
	)
	rules(t, WholeAtFailingWrites, strikes("EIO"),
		variant{"none was struck", edits(markData("crash-point", "standing", "drifted")), nil, []string{"none of 3 runs at crash points was struck where it should have been"}})
}

func TestNoRoomNoStep(t *testing.T) {
	atPoint := func(n, wrong, name string, e ...edit) variant {
		return variant{name, e, finds(broken("WF-26", "without room for a checkpoint its step does not wait for it, at 1 of 3 crash points",
			"point "+n+": ENOSPC instead of write of store/x: "+wrong, "3 runs, 3 of them struck where they should have been")), nil}
	}
	cameIn := func(run, step string, came int) edit {
		return each("wire", func(e history.Event) bool {
			return isLook("outside", "crashed")(e) && e.Look.Params["run"] == run && e.Look.Params["text"] == step
		}, func(e *history.Event) { e.Look.Rows = []map[string]any{row("came", came, "passed", came)} })
	}
	rules(t, NoRoomNoStep, strikes("ENOSPC"),
		atPoint("2", `1 requests of step 1 went out, and its checkpoint says "pending"`, "it goes out all the same", cameIn("r2", "one", 1)),
		atPoint("1", `2 requests of step 2 went out, and its checkpoint says ""`, "without any checkpoint", cameIn("r1", "two", 2)),
		atPoint("2", "with room, and resumed, operation wf_r2 is stored as map[state:failed steps:[done done]], expected completed", "there is no way on",
			ofRun("r2", "checkpoint", "ended", row("state", "failed", "steps", list("done", "done")))),
		variant{"nothing goes out", edits(cameIn("r3", "one", 0)), nil, []string{"0 steps went out and 6 were kept from it; at least one of each is needed"}},
		variant{"nobody counted", edits(removed("wire", func(e history.Event) bool {
			return isLook("outside", "crashed")(e) && e.Look.Params["run"] == "r2" && e.Look.Params["text"] == "one"
		})), nil, []string{`point 2: ENOSPC instead of write of store/x: the requests of step "one" were not counted`}},
	)
}
