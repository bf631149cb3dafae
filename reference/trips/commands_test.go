package trips

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/trips/ports"
)

func TestAnUpdateMovesTheRevisionByOneAndLeavesAReceipt(t *testing.T) {
	g, w, s := begins(t)
	ann := s.as("ann")
	told := ann.patch("trip-1", update("c1", 1, `{"destination": "BOS", "ends": ""}`))
	saved := ports.Draft{Draft: "trip-1", Revision: 2, Status: ports.Open, Destination: "BOS", Purpose: "Customer workshop", Starts: "2031-03-01"}
	g.Expect(result(t, told)).To(Equal(ports.Result{CommandID: "c1", Kind: ports.Update, FromRevision: 1, ToRevision: 2, Draft: saved}))
	g.Expect(ann.draft("trip-1")).To(Equal(saved))
	g.Expect(ann.lookup("trip-1", "c1")).To(Equal(told), "the lookup is the answer, byte for byte")
	g.Expect(w.rows(`SELECT draft, owner, revision, status, destination, purpose, starts, ends FROM drafts WHERE draft = 'trip-1'`)).
		To(Equal([]string{"trip-1|ann|2|draft|BOS|Customer workshop|2031-03-01|"}))
	g.Expect(w.rows(`SELECT command_id, draft, owner, kind, from_revision, to_revision, result FROM receipts`)).
		To(Equal([]string{"c1|trip-1|ann|update|1|2|" + strings.TrimSpace(told.body)}))
	g.Expect(ann.draft("trip-2").Revision).To(BeEquivalentTo(1), "and nothing else")
}

func TestASubmissionMovesTheRevisionByOneAndLeavesAReceipt(t *testing.T) {
	g, w, s := begins(t)
	ann := s.as("ann")
	told := ann.submit("trip-1", submit("c1", 1))
	r := result(t, told)
	g.Expect([]any{r.CommandID, r.Kind, r.FromRevision, r.ToRevision, r.Draft.Status}).To(Equal([]any{"c1", ports.Submit, int64(1), int64(2), ports.Submitted}))
	g.Expect(r.Draft.Destination).To(Equal("JFK"))
	g.Expect(ann.draft("trip-1")).To(Equal(r.Draft))
	g.Expect(ann.lookup("trip-1", "c1")).To(Equal(told))
	g.Expect(w.rows(`SELECT command_id, kind, from_revision, to_revision FROM receipts`)).To(Equal([]string{"c1|submit|1|2"}))
}

func TestAReplayGetsItsStoredResult(t *testing.T) {
	g, w, s := begins(t)
	ann := s.as("ann")
	first := ann.patch("trip-1", update("c1", 1, `{"destination": "BOS", "purpose": "x"}`))
	g.Expect(first.status).To(Equal(200))
	g.Expect(ann.patch("trip-1", update("c2", 2, `{"destination": "LAX"}`)).status).To(Equal(200))
	sent := ann.submit("trip-1", submit("c3", 3))
	g.Expect(sent.status).To(Equal(200))
	before := w.stored()

	g.Expect(ann.patch("trip-1", update("c1", 1, `{"destination": "BOS", "purpose": "x"}`))).To(Equal(first), "although its revision is stale and the draft submitted")
	g.Expect(ann.patch("trip-1", ` {"patch": {"purpose": "\u0078", "destination": "BOS"}, "commandId": "c1", "expectedRevision": 1} `)).To(Equal(first), "content, not bytes")
	g.Expect(ann.submit("trip-1", submit("c3", 3))).To(Equal(sent))
	g.Expect(s.as("ann").patch("trip-1", update("c1", 1, `{"destination": "BOS", "purpose": "x"}`))).To(Equal(first), "over another session")
	g.Expect(w.stored()).To(Equal(before))
}

func TestAReusedIDIsRefused(t *testing.T) {
	g, w, s := begins(t)
	ann := s.as("ann")
	g.Expect(ann.patch("trip-1", update("c1", 1, `{"destination": "BOS"}`)).status).To(Equal(200))
	before := w.stored()
	for name, told := range map[string]answer{
		"other text":     ann.patch("trip-1", update("c1", 1, `{"destination": "LAX"}`)),
		"other field":    ann.patch("trip-1", update("c1", 1, `{"purpose": "BOS"}`)),
		"one field more": ann.patch("trip-1", update("c1", 1, `{"destination": "BOS", "purpose": "Customer workshop"}`)),
		"other revision": ann.patch("trip-1", update("c1", 2, `{"destination": "BOS"}`)),
		"other draft":    ann.patch("trip-2", update("c1", 1, `{"destination": "BOS"}`)),
		"other kind":     ann.submit("trip-1", submit("c1", 1)),
	} {
		g.Expect(told.is()).To(Equal("422 command_reused"), name)
	}
	g.Expect(w.stored()).To(Equal(before))
	g.Expect(s.as("bob").patch("trip-9", update("c1", 1, `{"destination": "BOS"}`)).status).To(Equal(200), "another user's IDs are their own")
}

func TestAStaleRevisionIsAConflict(t *testing.T) {
	g, w, s := begins(t)
	ann := s.as("ann")
	g.Expect(ann.patch("trip-1", update("c1", 1, `{"destination": "BOS"}`)).status).To(Equal(200))
	before := w.stored()
	for _, expected := range []int{1, 3, 0, -1} {
		for _, told := range []answer{
			ann.patch("trip-1", update("c2", expected, `{"destination": "LAX"}`)),
			ann.submit("trip-1", submit("c2", expected)),
		} {
			g.Expect(told.is()).To(Equal("409 revision_conflict"))
			var said struct{ Revision int64 }
			g.Expect(json.Unmarshal([]byte(told.body), &said)).To(Succeed())
			g.Expect(said.Revision).To(BeEquivalentTo(2), "the answer names the current one")
		}
	}
	g.Expect(w.stored()).To(Equal(before))
	g.Expect(ann.patch("trip-1", update("c2", 2, `{"destination": "LAX"}`)).status).To(Equal(200), "a refusal does not use an ID up")
}

func TestASubmittedDraftTakesNothing(t *testing.T) {
	g, w, s := begins(t)
	ann := s.as("ann")
	g.Expect(ann.submit("trip-1", submit("c1", 1)).status).To(Equal(200))
	before := w.stored()
	g.Expect(ann.patch("trip-1", update("c2", 2, `{"destination": "LAX"}`)).is()).To(Equal("409 submitted"))
	g.Expect(ann.submit("trip-1", submit("c3", 2)).is()).To(Equal("409 submitted"))
	g.Expect(ann.patch("trip-1", update("c2", 1, `{"destination": "LAX"}`)).is()).To(Equal("409 revision_conflict"), "who looks at an old revision learns that first")
	g.Expect(w.stored()).To(Equal(before))
}

func TestAnInvalidRequestStoresNothing(t *testing.T) {
	g, w, s := begins(t)
	ann := s.as("ann")
	before := w.stored()
	for _, c := range []struct{ body, says string }{
		{`{"commandId": "c", "patch": {"destination": "X"}}`, "expectedRevision is missing"},
		{`{"expectedRevision": 1, "patch": {"destination": "X"}}`, "commandId is missing"},
		{`{"expectedRevision": 1, "commandId": "c"}`, "patch is missing"},
		{`{"expectedRevision": null, "commandId": "c", "patch": {"destination": "X"}}`, "expectedRevision must be an integer"},
		{`{"expectedRevision": "1", "commandId": "c", "patch": {"destination": "X"}}`, "expectedRevision must be an integer"},
		{`{"expectedRevision": 1.5, "commandId": "c", "patch": {"destination": "X"}}`, "expectedRevision must be an integer"},
		{`{"expectedRevision": true, "commandId": "c", "patch": {"destination": "X"}}`, "expectedRevision must be an integer"},
		{`{"expectedRevision": 1, "commandId": null, "patch": {"destination": "X"}}`, "commandId must be a string"},
		{`{"expectedRevision": 1, "commandId": "", "patch": {"destination": "X"}}`, "commandId must be a string"},
		{`{"expectedRevision": 1, "commandId": 7, "patch": {"destination": "X"}}`, "commandId must be a string"},
		{`{"expectedRevision": 1, "commandId": "../c", "patch": {"destination": "X"}}`, "commandId must be a string"},
		{`{"expectedRevision": 1, "commandId": "` + strings.Repeat("c", 129) + `", "patch": {"destination": "X"}}`, "commandId must be a string"},
		{`{"expectedRevision": 1, "commandId": "c", "patch": null}`, "patch must be an object"},
		{`{"expectedRevision": 1, "commandId": "c", "patch": []}`, "patch must be an object"},
		{`{"expectedRevision": 1, "commandId": "c", "patch": {}}`, "patch changes no field"},
		{`{"expectedRevision": 1, "commandId": "c", "patch": {"status": "submitted"}}`, `unknown field "status"`},
		{`{"expectedRevision": 1, "commandId": "c", "patch": {"revision": "9"}}`, `unknown field "revision"`},
		{`{"expectedRevision": 1, "commandId": "c", "patch": {"Destination": "X"}}`, `unknown field "Destination"`},
		{`{"expectedRevision": 1, "commandId": "c", "patch": {"destination": null}}`, "patch.destination must be a string"},
		{`{"expectedRevision": 1, "commandId": "c", "patch": {"destination": 1}}`, "patch.destination must be a string"},
		{`{"expectedRevision": 1, "commandId": "c", "patch": {"destination": "a\u0000b"}}`, "patch.destination must be a string"},
		{`{"expectedRevision": 1, "commandId": "c", "patch": {"destination": "` + strings.Repeat("x", 4097) + `"}}`, "patch.destination must be a string"},
		{`{"expectedRevision": 1, "commandId": "c", "patch": {"destination": "X", "destination": "Y"}}`, "each field once"},
		{`{"expectedRevision": 1, "commandId": "c", "commandId": "d", "patch": {"destination": "X"}}`, "each member once"},
		{`{"expectedRevision": 1, "commandId": "c", "patch": {"destination": "X"}, "force": true}`, "unknown member"},
		{`{"ExpectedRevision": 1, "commandId": "c", "patch": {"destination": "X"}}`, "unknown member"},
		{`{"expectedRevision": 1, "commandId": "c", "patch": {"destination": "X"}} {}`, "one JSON object"},
		{`{"expectedRevision": 1, "commandId": "c", "patch": {"destination": "X"}`, "one JSON object"},
		{`{"expectedRevision": 1, "commandId": "c", "patch": {"destination": "Malm` + "\xf6" + `"}}`, "must be UTF-8"},
		{`{"expectedRevision": 1, "commandId": "c", "patch": {"destination": "\ud83d"}}`, "each escape in it a character"},
		{`{"expectedRevision": 1, "commandId": "c", "patch": {"destination": "\udE00 \uD83D"}}`, "each escape in it a character"},
		{`{"expectedRevision": 1, "commandId": "c", "patch": {"destination": "\ud83d\\\ude00"}}`, "each escape in it a character"},
		{`[]`, "one JSON object"}, {`null`, "one JSON object"}, {``, "one JSON object"},
		{`{"expectedRevision": 1, "commandId": "c", "patch": {"destination": "` + strings.Repeat("x", 70_000) + `"}}`, "has more than 65536 bytes"},
	} {
		told := ann.patch("trip-1", c.body)
		g.Expect(told.is()).To(Equal("400 invalid"), c.body)
		g.Expect(told.body).To(ContainSubstring(strings.ReplaceAll(c.says, `"`, `\"`)), c.body)
	}
	g.Expect(ann.submit("trip-1", `{"commandId": "c"}`).is()).To(Equal("400 invalid"))
	g.Expect(ann.submit("trip-1", `{"expectedRevision": 1}`).is()).To(Equal("400 invalid"))
	g.Expect(ann.submit("trip-1", update("c", 1, `{"destination": "X"}`)).is()).To(Equal("400 invalid"), "a submission takes no patch")
	g.Expect(w.stored()).To(Equal(before))
	const whole = `\ud83d\uDE00 \\ud83d \ufffd ` + "\U0001F600 \uFFFD"
	g.Expect(ann.patch("trip-1", update("c", 1, `{"destination": "`+whole+`"}`)).status).To(Equal(200), "one that is right goes through")
	g.Expect(ann.draft("trip-1").Destination).To(Equal("\U0001F600 \\ud83d \uFFFD \U0001F600 \uFFFD"))
}

func TestAFencedCommandIsRefusedFromThenOn(t *testing.T) {
	g, w, s := begins(t)
	ann := s.as("ann")
	late := update("late", 1, `{"destination": "BOS"}`)
	g.Expect(ann.fence("trip-1", "late")).To(Equal(answer{200, `{"outcome":"not_applied"}` + "\n"}))
	g.Expect(ann.fence("trip-1", "late")).To(Equal(answer{200, `{"outcome":"not_applied"}` + "\n"}), "and again")
	fenced := w.stored()
	g.Expect(ann.patch("trip-1", late).is()).To(Equal("409 fenced"))
	g.Expect(ann.submit("trip-1", submit("late", 1)).is()).To(Equal("409 fenced"))
	g.Expect(ann.patch("trip-2", late).is()).To(Equal("409 fenced"), "the ID is shut out, whatever it is used for")
	g.Expect(ann.lookup("trip-1", "late").is()).To(Equal("404 no_receipt"))
	g.Expect(w.stored()).To(Equal(fenced))
	g.Expect(s.as("bob").patch("trip-9", late).status).To(Equal(200), "another user's command of that ID is another one")
	g.Expect(ann.patch("trip-1", update("next", 1, `{"destination": "LAX"}`)).status).To(Equal(200), "and the draft goes on")
}

func TestAFenceBehindTheCommandConfirmsIt(t *testing.T) {
	g, w, s := begins(t)
	ann := s.as("ann")
	told := ann.patch("trip-1", update("c1", 1, `{"destination": "BOS"}`))
	before := w.stored()
	g.Expect(ann.fence("trip-1", "c1")).To(Equal(answer{200, `{"outcome":"confirmed","receipt":` + strings.TrimSpace(told.body) + "}\n"}))
	g.Expect(ann.fence("trip-2", "c1").is()).To(Equal("422 command_reused"), "it was another draft's")
	g.Expect(ann.fence("trip-3", "c1").is()).To(Equal("404 not_found"))
	g.Expect(ann.fence("trip-1", "%20").is()).To(Equal("400 invalid"))
	g.Expect(w.stored()).To(Equal(before))
	g.Expect(ann.patch("trip-1", update("c1", 1, `{"destination": "BOS"}`))).To(Equal(told), "a replay is no new command")
}

// atOnce sends requests together and returns their answers.
func atOnce(t *testing.T, sends ...func() (answer, error)) []answer {
	t.Helper()
	answers, failures := make([]answer, len(sends)), make([]error, len(sends))
	ready := make(chan struct{})
	var all sync.WaitGroup
	for i, send := range sends {
		all.Go(func() {
			<-ready
			answers[i], failures[i] = send()
		})
	}
	close(ready)
	all.Wait()
	for _, err := range failures {
		if err != nil {
			t.Fatal(err)
		}
	}
	return answers
}

func TestOfTwoUpdatesOfOneRevisionOneIsAConflict(t *testing.T) {
	g, w, s := begins(t)
	one, two := s.as("ann"), s.as("ann")
	for n := 1; n <= 10; n++ {
		patch := func(c *caller, who string) func() (answer, error) {
			return func() (answer, error) {
				return c.try("PATCH", "/api/trips/trip-1", update(fmt.Sprintf("%s-%d", who, n), n, fmt.Sprintf(`{"destination": "%s %d"}`, who, n)))
			}
		}
		told := atOnce(t, patch(one, "one"), patch(two, "two"))
		winner := 0
		if told[1].status == 200 {
			winner = 1
		}
		g.Expect(told[1-winner].is()).To(Equal("409 revision_conflict"))
		r := result(t, told[winner])
		g.Expect(r.ToRevision).To(BeEquivalentTo(n + 1))
		g.Expect(one.draft("trip-1")).To(Equal(r.Draft))
	}
	g.Expect(w.rows(`SELECT count(*) FROM receipts`)).To(Equal([]string{"10"}))
}

func TestTheSameCommandTwiceAtOnceHasOneEffect(t *testing.T) {
	g, w, s := begins(t)
	one, two := s.as("ann"), s.as("ann")
	for n := 1; n <= 10; n++ {
		patch := func(c *caller) func() (answer, error) {
			return func() (answer, error) {
				return c.try("PATCH", "/api/trips/trip-1", update(fmt.Sprintf("c-%d", n), n, fmt.Sprintf(`{"destination": "%d"}`, n)))
			}
		}
		told := atOnce(t, patch(one), patch(two), patch(one))
		g.Expect(told[1]).To(Equal(told[0]))
		g.Expect(told[2]).To(Equal(told[0]))
		g.Expect(result(t, told[0]).Draft).To(Equal(one.draft("trip-1")))
		g.Expect(one.draft("trip-1").Revision).To(BeEquivalentTo(n + 1))
	}
	g.Expect(w.rows(`SELECT count(*) FROM receipts`)).To(Equal([]string{"10"}))
}

func TestAFenceAndItsCommandAtOnceAgree(t *testing.T) {
	g, _, s := begins(t)
	one, two := s.as("ann"), s.as("ann")
	revision := 1
	for n := range 20 {
		command := fmt.Sprintf("c-%d", n)
		told := atOnce(t,
			func() (answer, error) {
				return one.try("PATCH", "/api/trips/trip-1", update(command, revision, fmt.Sprintf(`{"destination": "%d"}`, n)))
			},
			func() (answer, error) {
				return two.try("POST", "/api/trips/trip-1/commands/"+command+"/fence", "")
			})
		if told[0].status == 200 {
			revision++
			g.Expect(told[1].body).To(ContainSubstring(`"outcome":"confirmed"`))
			g.Expect(told[1].body).To(ContainSubstring(strings.TrimSpace(told[0].body)))
		} else {
			g.Expect(told[0].is()).To(Equal("409 fenced"))
			g.Expect(told[1].body).To(Equal(`{"outcome":"not_applied"}` + "\n"))
		}
		g.Expect(one.draft("trip-1").Revision).To(BeEquivalentTo(revision))
	}
}
