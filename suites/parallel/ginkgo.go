package parallel

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/ginkgo/command"
	"github.com/onsi/ginkgo/v2/ginkgo/run"
)

// coordinate is Ginkgo's command line, pointed at a link to this executable that
// has the name of a compiled test.
func coordinate(h handoff) (code int) {
	defer func() {
		switch end := recover().(type) {
		case nil:
		case command.AbortDetails: // how this command line returns
			if end.Error != nil {
				fmt.Fprintln(os.Stderr, "holdfast coordinator:", end.Error)
			}
			code = end.ExitCode
		default:
			panic(end)
		}
	}()
	h.Role = roleWorker
	text, err := json.Marshal(h)
	if err != nil {
		fmt.Fprintln(os.Stderr, "holdfast coordinator:", err)
		return 1
	}
	os.Setenv(handoffVariable, string(text))
	// It asks `go list` for the version of a suite's sources, which there are none
	// of here. Without a PATH it finds no go; the workers get theirs back.
	os.Setenv("PATH", "")
	run.BuildRunCommand().Run([]string{
		"--procs=" + strconv.Itoa(h.Procs),
		"--timeout=0", // its own would end a long run after an hour
		"--no-color",
		"--output-interceptor-mode=none", // a target's process that inherits stdout would hang it
		"--seed=1",                       // specs start in the order of the plan
		h.Link,
	}, nil)
	return 0
}

// outcome receives Ginkgo's own verdict, which only its log needs.
type outcome struct{ failed bool }

func (o *outcome) Fail() { o.failed = true }

// serve is a worker: it runs the specs that Ginkgo deals out to it.
func serve(h handoff, work Work) int {
	if err := takeOutput(h.Log); err != nil {
		fmt.Fprintln(os.Stderr, "holdfast worker: opening the log:", err)
	}
	os.Setenv("PATH", h.Path)
	if err := os.Chdir(h.Dir); err != nil {
		fmt.Fprintln(os.Stderr, "holdfast worker:", err)
		return 1
	}
	ctx, parent, err := hold(h)
	if err != nil {
		fmt.Fprintln(os.Stderr, "holdfast worker:", err)
		return 1
	}
	specs, done, err := work(h.Job)
	if err != nil {
		fmt.Fprintln(os.Stderr, "holdfast worker:", err)
		return 1
	}
	testing.Init()
	if err := flag.CommandLine.Parse(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "holdfast worker: reading Ginkgo's flags:", err)
		return 1
	}
	ginkgo.Describe("holdfast", func() {
		for i, spec := range specs {
			// Ginkgo sorts specs of one place in the code by their text; the number
			// in front keeps them in the order of the plan.
			ginkgo.It(fmt.Sprintf("%05d %s", i+1, spec.Text), ginkgo.Label(labels(spec.Labels)...), func() {
				if ctx.Err() != nil {
					ginkgo.Skip("the run was stopped")
				}
				if err := spec.Run(ctx, parent.tell); err != nil {
					ginkgo.Fail(err.Error())
				}
			})
		}
	})
	var o outcome
	ginkgo.RunSpecs(&o, "holdfast")
	if done != nil {
		done()
	}
	if o.failed {
		return 1
	}
	return 0
}

// labels are Ginkgo's labels for clauses. It takes no slash, which a part of a clause
// has in its name (DU-07/bytes).
func labels(clauses []string) []string {
	out := make([]string, len(clauses))
	for i, c := range clauses {
		out[i] = strings.ReplaceAll(c, "/", " ")
	}
	return out
}
