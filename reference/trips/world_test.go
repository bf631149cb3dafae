package trips

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/holdfast-mcp/holdfast/reference/trips/ports"
)

// childEnv makes the test binary a server process.
const childEnv = "TRIPS_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		if err := serverProcess(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func serverProcess() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	c, err := FromEnv(os.Getenv)
	if err != nil {
		return err
	}
	c.Listening = func(url string) { fmt.Println(url) }
	p, closeAll, err := DefaultPorts(ctx, c)
	if err != nil {
		return err
	}
	defer closeAll()
	dieAt(&p, os.Getenv(dieEnv))
	return Run(ctx, c, p)
}

// Passwords of this test's users.
var passwords = map[string]string{"ann": "tok_of_ann_4711", "bob": "tok_of_bob_4712"}

const plantedDrafts = `[
	{"draft": "trip-1", "owner": "ann", "destination": "JFK", "purpose": "Customer workshop", "starts": "2031-03-01", "ends": "2031-03-04"},
	{"draft": "trip-2", "owner": "ann", "destination": "LIS", "purpose": "Fair", "starts": "", "ends": ""},
	{"draft": "trip-9", "owner": "bob", "destination": "OSL", "purpose": "Bob's own", "starts": "", "ends": ""}]`

// world is a folder for servers, one after another.
type world struct {
	t   *testing.T
	dir string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t, t.TempDir()}
	accounts := fmt.Sprintf(`{"accounts": [{"name": "ann", "token": %q, "key": "AAAA"}, {"name": "bob", "token": %q}]}`, passwords["ann"], passwords["bob"])
	if err := os.WriteFile(w.path("accounts.json"), []byte(accounts), 0o600); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) env(name string) string {
	return map[string]string{
		"PORT": "0", "TRIPS_STORE": w.path("trips.db"), "TRIPS_ACCOUNTS": w.path("accounts.json"), "TRIPS_DRAFTS": plantedDrafts,
	}[name]
}

// server is a running server and what it has logged.
type server struct {
	t    *testing.T
	url  string
	log  *logged
	stop func()
}

type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// serve starts a server in this process; decorate, if any, changes its ports.
func (w *world) serve(decorate ...func(*Ports)) *server {
	w.t.Helper()
	c, err := FromEnv(w.env)
	if err != nil {
		w.t.Fatal(err)
	}
	s := &server{t: w.t, log: &logged{}}
	c.Stderr = s.log
	listening := make(chan string, 1)
	c.Listening = func(url string) { listening <- url }
	ctx, cancel := context.WithCancel(context.Background())
	p, closeAll, err := DefaultPorts(ctx, c)
	if err != nil {
		cancel()
		w.t.Fatal(err)
	}
	for _, d := range decorate {
		d(&p)
	}
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, c, p) }()
	select {
	case s.url = <-listening:
	case err := <-ended:
		cancel()
		w.t.Fatal(err)
	}
	s.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Errorf("the server did not leave in order: %v", err)
		}
		if err := closeAll(); err != nil {
			w.t.Errorf("the store did not close: %v", err)
		}
	})
	w.t.Cleanup(s.stop)
	return s
}

// caller is somebody with a cookie jar of their own.
type caller struct {
	t      *testing.T
	url    string
	client *http.Client
}

func (s *server) caller() *caller {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	transport := &http.Transport{}
	s.t.Cleanup(transport.CloseIdleConnections)
	return &caller{s.t, s.url, &http.Client{Jar: jar, Transport: transport}}
}

// as is a caller who is signed in.
func (s *server) as(user string) *caller {
	s.t.Helper()
	c := s.caller()
	if a := c.signIn(user, passwords[user]); a.status != http.StatusOK {
		s.t.Fatalf("%s was not signed in: %v", user, a)
	}
	return c
}

// answer is what came back.
type answer struct {
	status int
	body   string
}

func (a answer) code() string {
	var said struct{ Code string }
	if json.Unmarshal([]byte(a.body), &said) != nil {
		return "no JSON: " + a.body
	}
	return said.Code
}

// is is how a refusal is compared: its status and its code.
func (a answer) is() string { return fmt.Sprintf("%d %s", a.status, a.code()) }

func (c *caller) do(method, path, body string) answer {
	c.t.Helper()
	a, err := c.try(method, path, body)
	if err != nil {
		c.t.Fatal(err)
	}
	return a
}

func (c *caller) try(method, path, body string) (answer, error) {
	req, err := http.NewRequest(method, c.url+path, bytes.NewBufferString(body))
	if err != nil {
		return answer{}, err
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, string(raw)}, err
}

func readAll(t *testing.T, resp *http.Response) string {
	t.Helper()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func (c *caller) signIn(user, password string) answer {
	c.t.Helper()
	return c.do("POST", "/api/session", fmt.Sprintf(`{"user": %q, "password": %q}`, user, password))
}

func update(command string, expected int, patch string) string {
	return fmt.Sprintf(`{"expectedRevision": %d, "commandId": %q, "patch": %s}`, expected, command, patch)
}

func submit(command string, expected int) string {
	return fmt.Sprintf(`{"expectedRevision": %d, "commandId": %q}`, expected, command)
}

func (c *caller) patch(draft, body string) answer {
	c.t.Helper()
	return c.do("PATCH", "/api/trips/"+draft, body)
}

func (c *caller) submit(draft, body string) answer {
	c.t.Helper()
	return c.do("POST", "/api/trips/"+draft+"/submit", body)
}

func (c *caller) lookup(draft, command string) answer {
	c.t.Helper()
	return c.do("GET", "/api/trips/"+draft+"/commands/"+command, "")
}

func (c *caller) fence(draft, command string) answer {
	c.t.Helper()
	return c.do("POST", "/api/trips/"+draft+"/commands/"+command+"/fence", "")
}

func (c *caller) draft(name string) ports.Draft {
	c.t.Helper()
	a := c.do("GET", "/api/trips/"+name, "")
	var d ports.Draft
	if err := json.Unmarshal([]byte(a.body), &d); err != nil || a.status != http.StatusOK {
		c.t.Fatalf("reading draft %s: %v, %v", name, a, err)
	}
	return d
}

// result reads a confirmed command.
func result(t *testing.T, a answer) ports.Result {
	t.Helper()
	var r ports.Result
	if err := json.Unmarshal([]byte(a.body), &r); err != nil || a.status != http.StatusOK {
		t.Fatalf("the command was not confirmed: %v, %v", a, err)
	}
	return r
}

// rows looks past the server, over a connection of its own: one text a row, columns
// parted by |.
func (w *world) rows(query string) []string {
	w.t.Helper()
	db, err := sql.Open("sqlite", "file:"+w.path("trips.db")+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	found, err := db.Query(query)
	if err != nil {
		w.t.Fatal(err)
	}
	defer found.Close()
	columns, err := found.Columns()
	if err != nil {
		w.t.Fatal(err)
	}
	all := []string{}
	for found.Next() {
		cells := make([]any, len(columns))
		for i := range cells {
			cells[i] = new(string)
		}
		if err := found.Scan(cells...); err != nil {
			w.t.Fatal(err)
		}
		row := ""
		for i, cell := range cells {
			if i > 0 {
				row += "|"
			}
			row += *cell.(*string)
		}
		all = append(all, row)
	}
	if err := found.Err(); err != nil {
		w.t.Fatal(err)
	}
	return all
}

// stored is everything that a command could change.
func (w *world) stored() []string {
	w.t.Helper()
	all := w.rows(`SELECT 'draft', draft, owner, revision, status, destination, purpose, starts, ends FROM drafts ORDER BY draft`)
	all = append(all, w.rows(`SELECT 'receipt', command_id, draft, owner, kind, digest, from_revision, to_revision, result FROM receipts ORDER BY owner, command_id`)...)
	return append(all, w.rows(`SELECT 'fence', command_id, draft, owner FROM fences ORDER BY owner, command_id`)...)
}

// begins is a server in a world of its own.
func begins(t *testing.T, decorate ...func(*Ports)) (*WithT, *world, *server) {
	t.Helper()
	w := newWorld(t)
	return NewWithT(t), w, w.serve(decorate...)
}
