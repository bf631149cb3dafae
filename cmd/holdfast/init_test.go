package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
)

// talk makes this test binary a small MCP server on stdio: add_note and list_notes over
// a file. It is asked through the hidden environment variable that names its store. Where
// another one names a file, it makes that file when it is called, and never answers.
func init() {
	store, asked := os.LookupEnv("HOLDFAST_TEST_NOTES_FILE")
	if !asked {
		return
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Name      string
				Arguments struct{ Text string }
			}
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		if called := os.Getenv("HOLDFAST_TEST_NOTES_SILENT"); called != "" && m.Method == "tools/call" {
			if err := os.WriteFile(called, nil, 0o600); err != nil {
				panic(err)
			}
			continue
		}
		result, _ := json.Marshal(talk(store, m.Method, m.Params.Name, m.Params.Arguments.Text))
		fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n", m.ID, result)
	}
	os.Exit(0)
}

func talk(store, method, tool, text string) any {
	type object = map[string]any
	switch method {
	case "initialize":
		return object{"protocolVersion": "2025-11-25", "capabilities": object{"tools": object{}}, "serverInfo": object{"name": "notes", "version": "3"}}
	case "tools/list":
		in := object{"type": "object", "properties": object{"text": object{"type": "string"}}, "required": []string{"text"}}
		return object{"tools": []object{{"name": "add_note", "inputSchema": in}, {"name": "list_notes", "inputSchema": object{"type": "object"}, "annotations": object{"readOnlyHint": true}}}}
	}
	notes := []string{}
	kept, _ := os.ReadFile(store)
	json.Unmarshal(kept, &notes)
	if tool == "add_note" {
		kept, _ = json.Marshal(append(notes, text))
		if err := os.WriteFile(store, kept, 0o600); err != nil {
			panic(err)
		}
		return object{"content": []object{{"type": "text", "text": "added"}}}
	}
	return object{"content": []object{}, "structuredContent": object{"notes": notes}}
}

func TestInitWritesAFileThatDoctorTakes(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "notes.yaml")
	ask := []string{"init", "--out", path, "--env", "HOLDFAST_TEST_NOTES_FILE={{dir}}/notes.json"}
	server := []string{"--", os.Args[0]}
	code, out, errs := holdfast(t, append(ask, server...)...)
	g.Expect(code).To(Equal(0), errs)
	g.Expect(out).To(And(ContainSubstring("writes with add_note, reads with list_notes: 60 of 60 values shown"),
		ContainSubstring("held to DU-07 changes nothing"), ContainSubstring("next: holdfast doctor "+path)))
	f, err := target.Load(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(f.Profiles.Durability.Read.Values).To(Equal(".structured.notes[]"))
	code, out, _ = holdfast(t, "doctor", path)
	g.Expect(code).To(Equal(0), out)

	// What is there is not written over unasked, and nothing is started then.
	code, _, errs = holdfast(t, append(ask, server...)...)
	g.Expect(code).To(Equal(2))
	g.Expect(errs).To(And(ContainSubstring("is there already"), ContainSubstring("--force"), Not(ContainSubstring("starting"))))
	code, out, errs = holdfast(t, append(append(ask, "--force", "--json", "--name", "mine"), server...)...)
	g.Expect(code).To(Equal(0), errs)
	var shown initiated
	g.Expect(json.Unmarshal([]byte(out), &shown)).To(Succeed())
	g.Expect(shown.Name).To(Equal("mine"))
	g.Expect(shown.Path).To(Equal(path))
	g.Expect(shown.Chosen.WriteTool).To(Equal("add_note"))
	g.Expect(shown.Tried).NotTo(BeEmpty())
}

func TestInitSaysWhatIsWrong(t *testing.T) {
	here, err := os.Getwd()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no server":              {[]string{"init"}, "expected the command that starts it"},
		"two servers":            {[]string{"init", "--url", "http://127.0.0.1:1/mcp", "--", "x"}, "both --url and a command"},
		"no URL":                 {[]string{"init", "--url", "here"}, `--url is "here"; expected an address`},
		"nobody at the URL":      {[]string{"init", "--url", "http://127.0.0.1:1/mcp"}, "is there a streamable HTTP server"},
		"an unknown question":    {[]string{"init", "--answer", "colour=red", "--", "x"}, `the key "colour"; expected write, read`},
		"an answer without one":  {[]string{"init", "--answer", "write", "--", "x"}, "expected KEY=VALUE"},
		"an argument of no tool": {[]string{"init", "--arg", "text=x", "--", "x"}, "expected TOOL.NAME=VALUE"},
		"half a variable":        {[]string{"init", "--env", "X", "--", "x"}, "expected NAME=VALUE"},
		"a variable of no name":  {[]string{"init", "--env", "a b=secret", "--", "x"}, `--env is "a b=…"; expected NAME=VALUE`},
		"no name of a target":    {[]string{"init", "--name", "my notes", "--", "x"}, `--name is "my notes"; expected letters, digits`},
		"keeping something":      {[]string{"init", "--keeps", "all", "--", "x"}, `--keeps is "all"; expected nothing`},
		"keeping and reading":    {[]string{"init", "--keeps", "nothing", "--read", "list", "--", "x"}, "expected one: what a read shows is kept"},
		"no revision":            {[]string{"init", "--revision", "2026-01-01", "--url", "http://127.0.0.1:1/mcp"}, `revision "2026-01-01" is not known; expected`},
		"a folder as a file":     {[]string{"init", "--out", "/", "--", "x"}, "which is a folder"},
		"it ends at once":        {[]string{"init", "--", "sh", "-c", "echo the store is missing >&2; exit 3"}, "| the store is missing"},
		"it is no MCP server":    {[]string{"init", "--", "sh", "-c", "echo welcome"}, "wrote \"welcome\" to stdout"},
		"it says what it hears":  {[]string{"init", "--", "cat"}, "holdfast: "},
		"no such folder":         {[]string{"init", "--out", "no/such/x.yaml", "--", "x"}, "the folder of no/such/x.yaml is not there"},
		"no such command":        {[]string{"init", "--", "no-such-server"}, `there is no command "no-such-server"`},
		"no command, what to do": {[]string{"init", "--", "no-such-server"}, "what to do: install it, or name it by its full path; looked in PATH="},
		"no such script":         {[]string{"init", "--", "sh", "no-such-server.sh"}, "what to do: there is no no-such-server.sh in " + here + ", where a relative path of the command is looked for"},
		"nothing is started":     {[]string{"init", "--url", "http://127.0.0.1:1/mcp"}, "asking the server at http://127.0.0.1:1/mcp\n"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			code, out, errs := holdfast(t, c.args...)
			g.Expect(code).To(Equal(2))
			g.Expect(out).To(BeEmpty())
			g.Expect(errs).To(ContainSubstring(c.says))
		})
	}
}
