package editor

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/editor/definitions"
	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
)

func TestTheConfiguration(t *testing.T) {
	good := map[string]string{"TRIPS_URL": "http://127.0.0.1:1/", "EDITOR_PORT": "7", "EDITOR_USER": "ada", "EDITOR_TOKEN_FILE": "f"}
	from := func(change map[string]string) (Config, error) {
		return FromEnv(func(name string) string {
			if v, there := change[name]; there {
				return v
			}
			return good[name]
		})
	}
	g := NewWithT(t)
	c, err := from(nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c).To(Equal(Config{TripsURL: "http://127.0.0.1:1", User: "ada", TokenFile: "f", Deadline: 5 * time.Second, LookupDeadline: 3 * time.Second, PersonAddr: "127.0.0.1:7"}))
	c, err = from(map[string]string{"EDITOR_TRANSPORT": "http", "PORT": "9", "EDITOR_DEADLINE": "1s", "EDITOR_LOOKUP_DEADLINE": "200ms"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c).To(And(HaveField("HTTPAddr", "127.0.0.1:9"), HaveField("Deadline", time.Second), HaveField("LookupDeadline", 200*time.Millisecond)))
	for want, change := range map[string]map[string]string{
		`editor: TRIPS_URL is "", expected the base URL of the trips server, such as http://127.0.0.1:8080`:   {"TRIPS_URL": ""},
		`editor: TRIPS_URL is "nowhere", expected the base URL`:                                               {"TRIPS_URL": "nowhere"},
		`editor: EDITOR_PORT is "", expected the port of the person's surface, 0 for any free one`:            {"EDITOR_PORT": ""},
		`editor: EDITOR_PORT is "http", expected the port`:                                                    {"EDITOR_PORT": "http"},
		`editor: EDITOR_USER is set, and EDITOR_TOKEN_FILE is not; set it to the file of the user's password`: {"EDITOR_TOKEN_FILE": ""},
		`editor: EDITOR_DEADLINE is "soon", expected a positive duration such as 500ms`:                       {"EDITOR_DEADLINE": "soon"},
		`editor: EDITOR_LOOKUP_DEADLINE is "-1s", expected a positive duration such as 500ms`:                 {"EDITOR_LOOKUP_DEADLINE": "-1s"},
		`editor: EDITOR_TRANSPORT is "tcp", expected stdio or http`:                                           {"EDITOR_TRANSPORT": "tcp"},
		`editor: EDITOR_TRANSPORT is http, but neither ADDR nor PORT is set; set PORT, 0 for any free one`:    {"EDITOR_TRANSPORT": "http"},
		`editor: "0.0.0.0" is no loopback address; set ADDR to one, such as 127.0.0.1:1`:                      {"EDITOR_TRANSPORT": "http", "ADDR": "0.0.0.0:1"},
		`editor: PORT is "99999", expected a port from 0 to 65535, 0 for any free one`:                        {"EDITOR_TRANSPORT": "http", "PORT": "99999"},
		`editor: ADDR is "here", expected host:port: address here: missing port in address`:                   {"EDITOR_TRANSPORT": "http", "ADDR": "here"},
	} {
		_, err := from(change)
		g.Expect(err).To(MatchError(HavePrefix(want)))
	}
}

// An editor that nobody could sign in to serves all the same; the person can.
func TestAStartWithoutASession(t *testing.T) {
	g := NewWithT(t)
	w := start(t, "stdio", func(c *Config, _ *Ports) {
		if err := os.WriteFile(c.TokenFile, []byte("wrong"), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	g.Expect(w.logs.String()).To(And(ContainSubstring("not signed in"), ContainSubstring("sign_in_refused"), Not(ContainSubstring("wrong"))))
	g.Expect(w.sees("trip-1")).To(And(HaveField("HTTP", http.StatusUnauthorized), HaveField("Code", ports.CodeSignedOut)))
	g.Expect(w.get("trip-1")).To(And(HaveField("IsError", true), HaveField("Code", ports.CodeSignedOut)))
	g.Expect(w.asks(http.MethodGet, "/healthz", nil).HTTP).To(Equal(http.StatusOK))
	w.signIn("ada")
	g.Expect(w.sees("trip-1")).To(And(HaveField("HTTP", http.StatusOK), HaveField("User", "ada")))
}

func TestAStartWithoutThePassword(t *testing.T) {
	g := NewWithT(t)
	cfg := Config{TripsURL: "http://127.0.0.1:1", User: "ada", TokenFile: "/nowhere/token", Stderr: &logs{}}
	p, err := DefaultPorts(cfg)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(Run(t.Context(), cfg, p)).To(MatchError(And(HavePrefix("editor: read the password of ada: "), HaveSuffix("; set EDITOR_TOKEN_FILE to its file"))))
}

// A mutation that lacks one of its two identities, or anything else, is refused
// before any effect (RC-01).
func TestWhatIsRefusedBeforeAnyEffect(t *testing.T) {
	whole := update("c-1", 2, args{"destination": "BOS"})
	for name, change := range map[string]func(args){
		"no revision":      func(a args) { delete(a, "expectedRevision") },
		"revision 0":       func(a args) { a["expectedRevision"] = 0 },
		"a text revision":  func(a args) { a["expectedRevision"] = "2" },
		"no command":       func(a args) { delete(a, "commandId") },
		"an empty command": func(a args) { a["commandId"] = "" },
		"a path":           func(a args) { a["commandId"] = "../c" },
		"no draft":         func(a args) { delete(a, "draftId") },
		"no patch":         func(a args) { delete(a, "patch") },
		"an empty patch":   func(a args) { a["patch"] = args{} },
		"another field":    func(a args) { a["patch"] = args{"status": "submitted"} },
		"a number":         func(a args) { a["patch"] = args{"destination": 7} },
		"something else":   func(a args) { a["force"] = true },
	} {
		t.Run(name, func(t *testing.T) {
			g, w := NewWithT(t), start(t, "stdio")
			asked := w.trips.count("GET", "") + w.trips.count("POST", "")
			a := args{}
			for k, v := range whole {
				a[k] = v
			}
			change(a)
			r := w.call(ports.UpdateDraft, a)
			g.Expect(r.Answer).To(And(HaveField("Outcome", ports.Refused), HaveField("Code", ports.CodeInvalid), HaveField("Recheck", BeNil())), r.raw)
			g.Expect(w.trips.count("GET", "")+w.trips.count("POST", "")).To(Equal(asked), "nothing was sent")
			g.Expect(w.trips.count("PATCH", "")).To(BeZero())
			g.Expect(w.sees("trip-1").State).To(Equal(ports.Saved))
		})
	}
}

// What the tools answer is what their outputSchema says, whatever they answer.
func TestAnswersMatchTheirSchemas(t *testing.T) {
	g, w := NewWithT(t), start(t, "stdio")
	tools, err := definitions.Compile()
	g.Expect(err).NotTo(HaveOccurred())
	check := func(tool string, a args) reply {
		t.Helper()
		r := w.call(tool, a)
		for _, spec := range tools.All() {
			if spec.Name == tool {
				g.Expect(spec.CheckAnswer(r.content)).To(Succeed(), r.raw)
				g.Expect(r.IsError).To(Equal(tool == ports.GetDraft && r.Revision == 0 || tool != ports.GetDraft && r.Outcome.IsError()))
			}
		}
		return r
	}
	check(ports.GetDraft, args{"draftId": "trip-1"})
	check(ports.GetDraft, args{"draftId": "trip-9"})
	check(ports.GetDraft, args{})
	for _, tool := range []string{ports.UpdateDraft, ports.SubmitTrip, ports.RecheckUpdate, ports.RecheckSubmission} {
		check(tool, args{})
		check(tool, args{"draftId": "trip-9", "commandId": "c-0", "expectedRevision": 1})
	}
	check(ports.UpdateDraft, update("c-0", 1, args{"destination": "BOS"}))
	check(ports.UpdateDraft, update("c-1", 2, args{"destination": "BOS"}))
	w.trips.falls(http.MethodPatch, "/trip-1", trouble{status: 500})
	check(ports.UpdateDraft, update("c-2", 3, args{"destination": "LAX"}))
	check(ports.UpdateDraft, update("c-3", 3, args{"destination": "LAX"}))
	check(ports.GetDraft, args{"draftId": "trip-1"})
	check(ports.RecheckUpdate, about("c-2"))
	w.types("purpose", "mine")
	g.Expect(check(ports.RecheckUpdate, args{"draftId": "trip-1", "commandId": "c-2", "giveUp": true}).Outcome).To(Equal(ports.NotApplied))
	w.trips.Server.CloseClientConnections()
	w.trips.Server.Listener.Close()
	g.Expect(check(ports.UpdateDraft, update("c-4", 3, args{"destination": "LAX"}))).To(And(HaveField("Outcome", ports.NotSent), HaveField("Code", ports.CodeUnreachable)))
	g.Expect(check(ports.GetDraft, args{"draftId": "trip-1"})).To(And(HaveField("State", ports.UnsavedChanges), HaveField("Code", ports.CodeUnreachable), HaveField("Revision", 3)), "what it holds already")
	g.Expect(check(ports.GetDraft, args{"draftId": "trip-2"})).To(And(HaveField("IsError", true), HaveField("Code", ports.CodeUnreachable)))
}

// A draft that could not be read before the dispatch leaves nothing unknown.
func TestWhereTheDraftCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct {
		x       trouble
		outcome ports.Outcome
		code    ports.Code
	}{
		"401": {trouble{status: 401}, ports.Refused, ports.CodeSignedOut}, "404": {trouble{status: 404}, ports.Refused, ports.CodeNotFound},
		"503": {trouble{status: 503}, ports.NotSent, ports.CodeUnavailable}, "a cut": {trouble{lose: true}, ports.NotSent, ports.CodeUnreachable},
		"no answer": {trouble{after: true}, ports.NotSent, ports.CodeDeadline}, "no draft": {trouble{raw: `{}`}, ports.NotSent, ports.CodeUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			g, limits := NewWithT(t), &clock{}
			w := start(t, "stdio", limits.rules)
			held, _ := w.trips.falls(http.MethodGet, "/trip-1", c.x)
			r := w.callUntil(limits, c.x, held, ports.UpdateDraft, update("c-1", 2, args{"destination": "BOS"}))
			g.Expect(r.Answer).To(And(HaveField("Outcome", c.outcome), HaveField("Code", c.code), HaveField("Recheck", BeNil())), r.raw)
			w.trips.lift()
			g.Expect(w.sees("trip-1")).To(And(HaveField("State", ports.Saved), HaveField("Unresolved", BeNil())))
			g.Expect(w.trips.count(http.MethodPatch, "/trip-1")).To(BeZero())
		})
	}
}

// The person's surface refuses what is none of its.
func TestWhatThePersonsSurfaceRefuses(t *testing.T) {
	g, w := NewWithT(t), start(t, "stdio")
	g.Expect(w.types("colour", "red")).To(And(HaveField("HTTP", http.StatusBadRequest), HaveField("Code", ports.CodeInvalid)))
	g.Expect(w.asks(http.MethodPost, "/editor/trip-1/type", args{"field": "purpose"}).HTTP).To(Equal(http.StatusBadRequest))
	g.Expect(w.asks(http.MethodPost, "/editor/trip-1/type", "purpose").HTTP).To(Equal(http.StatusBadRequest))
	g.Expect(w.asks(http.MethodPost, "/editor/trip-9/type", args{"field": "purpose", "text": "x"}).HTTP).To(Equal(http.StatusNotFound))
	g.Expect(w.sees("trip-9")).To(And(HaveField("HTTP", http.StatusNotFound), HaveField("Code", ports.CodeNotFound)))
	g.Expect(w.asks(http.MethodPost, "/editor/trip-1/type", json.RawMessage(`{"field": "purpose", "text": "`+"\xff"+`"}`)).HTTP).To(Equal(http.StatusBadRequest))
	g.Expect(w.asks(http.MethodPut, "/editor/trip-1", nil)).To(And(HaveField("HTTP", http.StatusNotFound), HaveField("Code", ports.CodeNotFound)))
	for header, status := range map[string]int{"Host": http.StatusMisdirectedRequest, "Origin": http.StatusForbidden} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.person+"/editor/trip-1/reload", nil)
		g.Expect(err).NotTo(HaveOccurred())
		req.Header.Set("Origin", "http://elsewhere.example")
		if header == "Host" {
			req.Host = "elsewhere.example"
		}
		resp, err := w.client.Do(req)
		g.Expect(err).NotTo(HaveOccurred())
		resp.Body.Close()
		g.Expect(resp.StatusCode).To(Equal(status))
	}
}

// No password and no cookie is in a log or an answer.
func TestSecretsStayInside(t *testing.T) {
	g, w := NewWithT(t), lost(t)
	r := w.call(ports.RecheckUpdate, about("c-1"))
	g.Expect(r.raw + w.logs.String()).NotTo(Or(ContainSubstring("pw-ada"), ContainSubstring("trips_session")))
}

func TestEveryCodeHasAMeaning(t *testing.T) {
	g := NewWithT(t)
	for _, m := range ports.Meanings() {
		g.Expect(m.Meaning).NotTo(BeEmpty(), string(m.Code))
		g.Expect(ports.MeaningOf(m.Code)).To(Equal(m.Meaning), "a code is there once")
	}
}

// The classes are told apart by structure; a defect in one of them is a decorator.
func TestClasses(t *testing.T) {
	g := NewWithT(t)
	cut := fmt.Errorf("no answer: %w", os.ErrClosed)
	for name, c := range map[string]struct {
		dispatched bool
		err        error
		outcome    ports.Outcome
		code       ports.Code
	}{
		"unsent":                    {true, ports.ErrUnsent, ports.NotSent, ports.CodeUnreachable},
		"cancelled before":          {false, context.Canceled, ports.NotSent, ports.CodeCancelled},
		"cancelled after":           {true, context.Canceled, ports.Unknown, ports.CodeCancelled},
		"cancelled as it connected": {true, fmt.Errorf("%w: %w", ports.ErrUnsent, context.Canceled), ports.NotSent, ports.CodeCancelled},
		"deadline before":           {false, context.DeadlineExceeded, ports.NotSent, ports.CodeDeadline},
		"deadline after":            {true, context.DeadlineExceeded, ports.Unknown, ports.CodeDeadline},
		"cut":                       {true, cut, ports.Unknown, ports.CodeAnswerLost},
		"500":                       {true, &ports.AnswerError{Status: 500}, ports.Unknown, ports.CodeUnavailable},
		"499":                       {true, &ports.AnswerError{Status: 499}, ports.Refused, ports.CodeRefused},
	} {
		e := Classes{}.Mutation(c.dispatched, c.err)
		g.Expect(e).To(And(HaveField("Outcome", c.outcome), HaveField("Code", c.code)), name)
	}
	for _, err := range []error{cut, context.Canceled, &ports.AnswerError{Status: 404}, &ports.AnswerError{Status: 401}, &ports.AnswerError{Status: 500}, ports.ErrUnsent} {
		g.Expect(Classes{}.Lookup(err).Outcome).To(Equal(ports.Unknown), strings.ToLower(err.Error()))
	}
}
