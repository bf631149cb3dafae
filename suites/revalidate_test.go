package suites_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/render"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
)

// judging is a harness whose judges go by a mark of the recording.
func judging(ids ...string) suites.Harness {
	h := harness()
	h.Tests = nil
	for _, id := range ids {
		t := spec(id, "durability")
		t.Judge = func(h history.History) judge.Ruling {
			switch said := h.Marks("said")[0].Data["it"]; said {
			case "lost":
				return judge.Ruling{Findings: []reports.Finding{{Clause: "DU-01", Summary: "a value was lost"}}}
			case "unseen":
				return judge.Ruling{Doubts: []string{"nothing was seen"}}
			case "odd":
				panic("a slip")
			}
			return judge.Ruling{}
		}
		h.Tests = append(h.Tests, t)
	}
	return h
}

// recorded writes a report and what each of its specs recorded, "" for nothing.
func recorded(t *testing.T, r reports.Report, said map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	r.Schema, r.Tool.Version, r.Contract.Version = reports.ReportSchema, "0.0.9", "0.0"
	if err := reports.Write(folder, reports.ReportFile, r); err != nil {
		t.Fatal(err)
	}
	for artifacts, it := range said {
		path := filepath.Join(folder, filepath.FromSlash(artifacts))
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		file, err := os.Create(filepath.Join(path, suites.HistoryFile))
		if err != nil {
			t.Fatal(err)
		}
		rec := history.NewRecorder(file)
		const add = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{}}}`
		rec.Record(history.Event{Kind: history.KindCall, Call: &history.Call{ID: "c1", Phase: history.Invoked, Session: "helper.1", Role: "write", Tool: "add", Arguments: []byte("{}")}})
		rec.Record(history.Event{Kind: history.KindMessage, Message: &history.Message{Session: "helper.1", Outgoing: true, Raw: add}})
		rec.Record(history.Event{Kind: history.KindRequest, Request: &history.Request{Wire: "helper", ID: 1, Method: "tools/call", Tool: "add", RPCID: "1", Action: "forwarded"}})
		rec.Record(history.Event{Kind: history.KindCall, Call: &history.Call{ID: "c1", Phase: history.Returned, Session: "helper.1", Role: "write", Tool: "add", Outcome: history.Done}})
		rec.Mark("said", map[string]any{"it": it})
		file.Close()
	}
	return folder
}

func judged(id string, v verdict.Verdict) reports.Spec {
	return reports.Spec{ID: id, Clauses: []string{id[:5]}, Verdict: v, Artifacts: "artifacts/" + id, Reason: "then"}
}

func TestARecordingIsJudgedAgain(t *testing.T) {
	stopped := judged("DU-01/a", verdict.Inconclusive)
	stopped.Stopped = true
	outside := judged("DU-01/a", verdict.Pass)
	outside.Artifacts = "../elsewhere"
	for name, c := range map[string]struct {
		then   reports.Spec
		said   string
		now    verdict.Verdict
		judged bool
		reason string
		code   int
	}{
		"it passes still":           {judged("DU-01/a", verdict.Pass), "all", verdict.Pass, true, "", 0},
		"it fails still":            {judged("DU-01/a", verdict.Fail), "lost", verdict.Fail, true, "a value was lost", 0},
		"it is in doubt still":      {judged("DU-01/a", verdict.Inconclusive), "unseen", verdict.Inconclusive, true, "nothing was seen", 0},
		"it passed and fails":       {judged("DU-01/a", verdict.Pass), "lost", verdict.Fail, true, "a value was lost", 1},
		"it failed and passes":      {judged("DU-01/a", verdict.Fail), "all", verdict.Pass, true, "", 1},
		"it passed and is in doubt": {judged("DU-01/a", verdict.Pass), "unseen", verdict.Inconclusive, true, "nothing was seen", 1},
		"it did not run":            {judged("DU-01/a", verdict.NotRun), "lost", verdict.NotRun, false, "not judged again: then", 3},
		"it broke":                  {judged("DU-01/a", verdict.Error), "lost", verdict.Error, false, "not judged again: then", 3},
		"it stopped":                {stopped, "lost", verdict.Inconclusive, false, "not judged again: it stopped before its end: then", 3},
		"it has no recording":       {judged("DU-01/a", verdict.Pass), "", verdict.Pass, false, "there is no recording", 3},
		"its judge breaks":          {judged("DU-01/a", verdict.Pass), "odd", verdict.Pass, false, "its judge broke: a slip", 3},
		"its spec is gone":          {judged("DU-01/gone", verdict.Pass), "all", verdict.Pass, false, "this version of holdfast has no such spec", 3},
		"it points elsewhere":       {outside, "all", verdict.Pass, false, "lie outside of the report", 3},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			said := map[string]string{c.then.Artifacts: c.said}
			if c.said == "" || strings.HasPrefix(c.then.Artifacts, "..") {
				said = nil
			}
			folder := recorded(t, reports.Report{Specs: []reports.Spec{c.then}}, said)
			v, err := judging("DU-01/a").Revalidate(folder)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(v.Results).To(HaveLen(1))
			r := v.Results[0]
			g.Expect(r.Then).To(Equal(c.then.Verdict))
			g.Expect(r.Now).To(Equal(c.now))
			g.Expect(r.Judged).To(Equal(c.judged))
			g.Expect(r.Reason).To(ContainSubstring(c.reason))
			g.Expect(len(r.Findings) > 0).To(Equal(c.now == verdict.Fail))
			g.Expect(v.ExitCode).To(Equal(c.code))
			g.Expect(v.Text(render.Screen{})).To(And(ContainSubstring(c.then.ID), ContainSubstring("then: holdfast 0.0.9, contract 0.0 · now: holdfast test")))
		})
	}
}

func TestADamagedRecordingIsNotJudged(t *testing.T) {
	g := NewWithT(t)
	folder := recorded(t, reports.Report{Specs: []reports.Spec{judged("DU-01/a", verdict.Pass), judged("DU-01/b", verdict.Fail)}},
		map[string]string{"artifacts/DU-01/a": "all", "artifacts/DU-01/b": "all"})
	path := filepath.Join(folder, "artifacts", "DU-01", "a", suites.HistoryFile)
	text, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	_, rest, _ := strings.Cut(string(text), "\n")
	g.Expect(os.WriteFile(path, []byte(rest), 0o644)).To(Succeed())
	v, err := judging("DU-01/a", "DU-01/b").Revalidate(filepath.Join(folder, reports.ReportFile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(v.Results[0].Reason).To(ContainSubstring("the recording has a gap"))
	g.Expect(v.Results[1].Differs()).To(BeTrue())
	g.Expect(v.ExitCode).To(Equal(1), "1 goes before 3")
	g.Expect(v.Text(render.Screen{})).To(ContainSubstring("1 recording judged again: 0 as then, 1 otherwise; 1 not judged again (exit 1)"))
}

// What was not applicable is counted and not listed: a target that claims one profile has
// hundreds of them.
func TestWhatWasNotApplicableIsOnlyCounted(t *testing.T) {
	g := NewWithT(t)
	apart := judged("DU-01/b", verdict.NotApplicable)
	apart.Artifacts = ""
	folder := recorded(t, reports.Report{Specs: []reports.Spec{judged("DU-01/a", verdict.Pass), apart}}, map[string]string{"artifacts/DU-01/a": "all"})
	v, err := judging("DU-01/a", "DU-01/b").Revalidate(folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(v.Results).To(HaveLen(2))
	g.Expect(v.Text(render.Screen{})).To(And(ContainSubstring("DU-01/a"), Not(ContainSubstring("DU-01/b")),
		ContainSubstring("0 otherwise; 1 not judged again (exit 0)\n  not in the table, because not-applicable then: 1 (--json names them)\n")))
}

// What failed on the reference as well was put down to the environment, and is again.
func TestTheControlRunIsLaidBesideItAgain(t *testing.T) {
	for _, c := range []struct {
		control string
		now     verdict.Verdict
		code    int
	}{{"lost", verdict.Error, 0}, {"all", verdict.Fail, 1}} {
		g := NewWithT(t)
		control := judged("DU-01/a", verdict.Fail)
		control.Artifacts = "artifacts/control/DU-01/a"
		folder := recorded(t, reports.Report{
			Specs:   []reports.Spec{judged("DU-01/a", verdict.Error)},
			Control: &reports.Control{Target: "reference", Specs: []reports.Spec{control}, Changed: []string{"DU-01/a"}},
		}, map[string]string{"artifacts/DU-01/a": "lost", "artifacts/control/DU-01/a": c.control})
		v, err := judging("DU-01/a").Revalidate(folder)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(v.Results[0].Now).To(Equal(c.now))
		g.Expect(v.ExitCode).To(Equal(c.code))
	}
}

func TestWhatIsNoReportIsNotJudged(t *testing.T) {
	_, err := harness().Revalidate(t.TempDir())
	NewWithT(t).Expect(suites.IsUsage(err)).To(BeTrue())
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("there is no report.json")))
}
