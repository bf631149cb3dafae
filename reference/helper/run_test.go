package helper

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/holdfast-mcp/holdfast/reference/toolspec"
)

// childEnv makes the test binary a helper process.
const childEnv = "HELPER_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		if err := helperProcess(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func helperProcess() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	cfg, err := FromEnv(os.Getenv)
	if err != nil {
		return err
	}
	ports, done, err := DefaultPorts(ctx, cfg)
	if err != nil {
		return err
	}
	if err := Run(ctx, cfg, ports); err != nil {
		return err
	}
	return done()
}

// process is a helper process on stdio, spoken to in raw lines.
type process struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func launch(t *testing.T, sidecar string) *process {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), childEnv+"=1", "SIDECAR="+sidecar)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return &process{Cmd: c, in: in, out: bufio.NewScanner(out)}
}

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

func callLine(id int, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", id, tool, arguments)
}

// answer reads lines until the answer to id.
func (p *process) answer(t *testing.T, id int) Answer {
	t.Helper()
	for p.out.Scan() {
		var m struct {
			ID     *int `json:"id"`
			Result struct {
				StructuredContent Answer `json:"structuredContent"`
			} `json:"result"`
		}
		if err := json.Unmarshal(p.out.Bytes(), &m); err != nil {
			t.Fatalf("stdout holds %q: %v", p.out.Text(), err)
		}
		if m.ID != nil && *m.ID == id {
			return m.Result.StructuredContent
		}
	}
	t.Fatalf("the helper ended before it answered %d", id)
	return Answer{}
}

const startTask = `{"task_key":"t","title":"T","note":"first","idempotency_key":"k"}`

func TestAHelperKilledAsItsAnswerLeavesHasStoredIt(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "sidecar.db")
	p := launch(t, path)
	_, err := io.WriteString(p.in, hello+callLine(1, toolspec.WorkStart, startTask))
	g.Expect(err).NotTo(HaveOccurred())
	first := p.answer(t, 1)
	g.Expect(p.Process.Kill()).To(Succeed())
	g.Expect(p.Wait()).To(MatchError("signal: killed"))

	p = launch(t, path)
	_, err = io.WriteString(p.in, hello+callLine(1, toolspec.WorkStart, startTask)+callLine(2, toolspec.WorkGet, `{"item_id":"`+first.ItemID+`"}`))
	g.Expect(err).NotTo(HaveOccurred())
	again := p.answer(t, 1)
	g.Expect(again.ItemID).To(Equal(first.ItemID))
	g.Expect(again.Replayed).To(BeTrue())
	g.Expect(p.in.Close()).To(Succeed())
	g.Expect(p.Wait()).To(Succeed(), "it ends with its input")
}

func TestAHelperLeavesOnTERMWithItsInputOpen(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "sidecar.db")
	p := launch(t, path)
	_, err := io.WriteString(p.in, hello+callLine(1, toolspec.WorkStart, startTask))
	g.Expect(err).NotTo(HaveOccurred())
	p.answer(t, 1)
	g.Expect(p.Process.Signal(syscall.SIGTERM)).To(Succeed())
	g.Expect(p.Wait()).To(Succeed())
	left, err := filepath.Glob(path + "-*")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left).To(BeEmpty(), "the sidecar is closed in order")
}

func TestWhatWasAskedBeforeTheInputEndedIsAnswered(t *testing.T) {
	g := NewWithT(t)
	p := launch(t, filepath.Join(t.TempDir(), "sidecar.db"))
	lines := hello
	for n := 1; n <= 20; n++ {
		lines += callLine(n, toolspec.WorkStart, fmt.Sprintf(`{"task_key":"t%d","title":"T","idempotency_key":"k%d"}`, n, n))
	}
	_, err := io.WriteString(p.in, lines)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.in.Close()).To(Succeed())
	answers := 0
	for p.out.Scan() {
		if strings.Contains(p.out.Text(), `"queued"`) {
			answers++
		}
	}
	g.Expect(p.Wait()).To(Succeed())
	g.Expect(answers).To(Equal(20))
}

// served runs a helper over HTTP here, and ends it with the test.
func served(t *testing.T, path string) (url string, end func()) {
	t.Helper()
	cfg := Config{Sidecar: path, HTTPAddr: "127.0.0.1:0", Access: []toolspec.Access{toolspec.Read, toolspec.Write}, BusyTimeout: 20 * time.Second, Stderr: io.Discard}
	urls := make(chan string, 1)
	cfg.Serving = func(u string) { urls <- u }
	ctx, cancel := context.WithCancel(t.Context())
	ports, done, err := DefaultPorts(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, cfg, ports) }()
	return <-urls, func() {
		t.Helper()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := done(); err != nil {
			t.Error(err)
		}
	}
}

func TestHTTPInEveryRevisionOnOneEndpoint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sidecar.db")
	url, end := served(t, path)
	defer end()
	ids := map[string]bool{}
	for _, revision := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			g := NewWithT(t)
			web := &http.Client{Transport: &http.Transport{}}
			defer web.CloseIdleConnections()
			client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
			session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: web}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
			g.Expect(err).NotTo(HaveOccurred())
			defer func() { g.Expect(session.Close()).To(Succeed()) }()
			g.Expect(session.InitializeResult().ProtocolVersion).To(Equal(revision))
			list, err := session.ListTools(t.Context(), nil)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(list.Tools).To(HaveLen(6))
			for _, tool := range list.Tools {
				g.Expect(tool.OutputSchema).NotTo(BeNil())
				g.Expect(tool.Meta["holdfast/access"]).To(BeElementOf("read", "write"))
			}
			var arguments map[string]any
			g.Expect(json.Unmarshal([]byte(startTask), &arguments)).To(Succeed())
			res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: toolspec.WorkStart, Arguments: arguments})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(res.IsError).To(BeFalse())
			ids[res.StructuredContent.(map[string]any)["item_id"].(string)] = true
			res, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: toolspec.WorkStart, Arguments: map[string]any{"title": "T"}})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(res.IsError).To(BeTrue())
			g.Expect(res.StructuredContent.(map[string]any)["failure"]).To(HaveKeyWithValue("code", toolspec.CodeInvalidArguments))
		})
	}
	NewWithT(t).Expect(ids).To(HaveLen(1), "one key, one ID, over every revision")
}

func TestASessionOfAnEarlierProcessIsAnswered404(t *testing.T) {
	g := NewWithT(t)
	url, end := served(t, filepath.Join(t.TempDir(), "sidecar.db"))
	defer end()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	g.Expect(err).NotTo(HaveOccurred())
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	req.Header.Set("Mcp-Session-Id", "of-an-earlier-process")
	web := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := web.Do(req)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(res.Body.Close()).To(Succeed())
	g.Expect(res.StatusCode).To(Equal(http.StatusNotFound))
}

func TestStdioEndsWithItsContextWithoutLeaks(t *testing.T) {
	g := NewWithT(t)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	cfg := Config{Sidecar: filepath.Join(t.TempDir(), "sidecar.db"), Stdin: inR, Stdout: outW, Stderr: io.Discard, Access: []toolspec.Access{toolspec.Read, toolspec.Write}, BusyTimeout: 20 * time.Second}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ports, done, err := DefaultPorts(ctx, cfg)
	g.Expect(err).NotTo(HaveOccurred())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, cfg, ports) }()
	_, err = io.WriteString(inW, hello)
	g.Expect(err).NotTo(HaveOccurred())
	line, err := bufio.NewReader(outR).ReadString('\n')
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(line).To(ContainSubstring(`"protocolVersion":"2025-11-25"`))
	cancel()
	g.Expect(<-ended).To(Succeed())
	g.Expect(done()).To(Succeed())
}
