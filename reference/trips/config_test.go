package trips

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/trips/api"
	"github.com/holdfast-mcp/holdfast/reference/trips/ports"
)

// settings are those of a server, with some of them changed.
func settings(changes map[string]string) func(string) string {
	all := map[string]string{"PORT": "0", "TRIPS_STORE": "trips.db", "TRIPS_ACCOUNTS": "accounts.json"}
	maps.Copy(all, changes)
	return func(name string) string { return all[name] }
}

func TestFromEnv(t *testing.T) {
	g := NewWithT(t)
	c, err := FromEnv(settings(nil))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c).To(Equal(Config{Store: "trips.db", Accounts: "accounts.json", Deadlines: api.Deadlines{Mutation: 5 * time.Second, Lookup: 3 * time.Second}}))

	c, err = FromEnv(settings(map[string]string{
		"PORT": "8080", "EDITOR_DEADLINE": "500ms", "EDITOR_LOOKUP_DEADLINE": "1s",
		"TRIPS_DRAFTS": `[{"draft": "d", "owner": "ann", "destination": "JFK", "purpose": "p", "starts": "s", "ends": "e"}]`,
	}))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c).To(Equal(Config{
		Port: 8080, Store: "trips.db", Accounts: "accounts.json", Deadlines: api.Deadlines{Mutation: 500 * time.Millisecond, Lookup: time.Second},
		Drafts: []ports.Draft{{Draft: "d", Owner: "ann", Revision: 1, Status: ports.Open, Destination: "JFK", Purpose: "p", Starts: "s", Ends: "e"}},
	}))
}

func TestWhatFromEnvRefuses(t *testing.T) {
	for _, c := range []struct{ variable, value, says string }{
		{"TRIPS_STORE", "", "TRIPS_STORE is not set; set it to"},
		{"TRIPS_STORE", "mysql://u:secret@127.0.0.1/trips", `TRIPS_STORE is an address that begins with "mysql://", expected the path`},
		{"TRIPS_STORE", "POSTGRES://u:secret@127.0.0.1/trips", `TRIPS_STORE is an address that begins with "POSTGRES://", expected the path`},
		{"TRIPS_ACCOUNTS", "", "TRIPS_ACCOUNTS is not set; set it to"},
		{"PORT", "", `PORT is "", expected a number from 0 to 65535`},
		{"TRIPS_DRAFTS", `[{"draft": "d", "owner": "a", "purpose": "` + "\xff" + `"}]`, "it is not UTF-8"},
		{"PORT", "70000", `PORT is "70000", expected a number`},
		{"EDITOR_DEADLINE", "5", `EDITOR_DEADLINE: it is "5", expected a duration`},
		{"EDITOR_LOOKUP_DEADLINE", "0s", `EDITOR_LOOKUP_DEADLINE: it is "0s", expected a duration`},
		{"TRIPS_DRAFTS", "{}", "TRIPS_DRAFTS: expected [{"},
		{"TRIPS_DRAFTS", `[{"draft": "d", "owner": "ann"}] [{"draft": "e", "owner": "ann"}]`, "behind the list there is something else"},
		{"TRIPS_DRAFTS", `[{"draft": "d", "owner": "ann", "revision": 2}]`, "unknown field"},
		{"TRIPS_DRAFTS", `[{"draft": "d", "owner": "ann"}, {"draft": "e"}]`, "number 2 lacks an owner"},
		{"TRIPS_DRAFTS", `[{"draft": "a/b", "owner": "ann"}]`, "number 1 lacks an owner, or its draft is no name"},
		{"TRIPS_DRAFTS", `[{"draft": "d", "owner": "ann"}, {"draft": "d", "owner": "bob"}]`, "or is there twice"},
		{"TRIPS_DRAFTS", `[{"draft": "d", "owner": "ann", "purpose": "a\u0000b"}]`, "number 1 has a text with U+0000"},
	} {
		_, err := FromEnv(settings(map[string]string{c.variable: c.value}))
		NewWithT(t).Expect(err).To(MatchError(And(HavePrefix("trips: "), ContainSubstring(c.says))), "%s=%s", c.variable, c.value)
		NewWithT(t).Expect(err).NotTo(MatchError(ContainSubstring("secret")))
	}
}

func TestAServerDoesNotStartWithoutAccounts(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, says string }{
		"none.json":  {"", "no such file"},
		"empty.json": {`{"accounts": []}`, "with at least one account"},
		"half.json":  {`{"accounts": [{"name": "ann", "token": "tok_of`, `must be {"accounts"`},
		"name.json":  {`{"accounts": [{"token": "tok_of_ann"}]}`, "number 1"},
		"twice.json": {`{"accounts": [{"name": "ann", "token": "tok_of_ann"}, {"name": "ann", "token": "tok_of_ann"}]}`, "number 2"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			path := filepath.Join(dir, name)
			if c.text != "" {
				g.Expect(os.WriteFile(path, []byte(c.text), 0o600)).To(Succeed())
			}
			_, _, err := DefaultPorts(t.Context(), Config{Store: filepath.Join(dir, "trips.db"), Accounts: path})
			g.Expect(err).To(MatchError(And(ContainSubstring("trips: read the accounts"), ContainSubstring(c.says), Not(ContainSubstring("tok_of")))))
			g.Expect(filepath.Join(dir, "trips.db")).NotTo(BeAnExistingFile())
		})
	}
}

func TestATakenPortSaysSo(t *testing.T) {
	g, w, s := begins(t)
	port := s.url[strings.LastIndex(s.url, ":")+1:]
	c, err := FromEnv(settings(map[string]string{"PORT": port, "TRIPS_STORE": w.path("other.db"), "TRIPS_ACCOUNTS": w.path("accounts.json")}))
	g.Expect(err).NotTo(HaveOccurred())
	p, closeAll, err := DefaultPorts(t.Context(), c)
	g.Expect(err).NotTo(HaveOccurred())
	defer closeAll()
	g.Expect(Run(context.Background(), c, p)).To(MatchError(And(ContainSubstring("trips: listening on port "+port), ContainSubstring("choose a free PORT"))))
}
