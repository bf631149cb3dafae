package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"github.com/holdfast-mcp/holdfast/fixtures/proposal"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/gate"
	"github.com/holdfast-mcp/holdfast/reports/render"
	"github.com/holdfast-mcp/holdfast/suites"
)

// initFlags are what init was told.
type initFlags struct {
	url, out, name     string
	revision, keeps    string
	write, read        string
	args, env, answers []string
	force, asJSON      bool
}

// initiated is what init shows.
type initiated struct {
	proposal.Proposal
	// Path is where the file was written; "" where nothing worked.
	Path  string `json:"path,omitempty"`
	Error string `json:"error,omitempty"`
}

func (p *program) initVerb() *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init [--url URL] [-- COMMAND…]",
		Short: "Writes a target file by asking the helper for its tools and trying them",
		Long: `Starts an MCP server on stdio in a private folder, reads its tools, tries which of them write a
value and which show it again, and writes a commented target file of what worked. What it could not
decide stands there as a question.

{{dir}} in the command stands for the run's own folder, where the server must keep its store:
  holdfast init -- node server.js --store '{{dir}}/notes.db'
With --url it asks a streamable HTTP server that runs already, and writes values into its store.`,
		Args: takes(0, -1, "the command that starts the server, behind --"),
	}
	flags := cmd.Flags()
	flags.Var(text(&f.url, "the address of a streamable HTTP server, such as http://127.0.0.1:8080/mcp"), "url", "ask a streamable HTTP server that runs already")
	flags.Var(text(&f.out, "a file"), "out", "where the target file is written (default NAME.yaml)")
	flags.Var(text(&f.name, "a name"), "name", "what the target is called (default what the server calls itself)")
	flags.Var(text(&f.revision, "a revision of MCP, such as 2026-07-28"), "revision", "the revision of MCP to ask for (default that of a target file that names none, and 2026-07-28 where it is refused)")
	flags.Var(text(&f.write, "the name of a tool"), "write", "the tool that writes")
	flags.Var(text(&f.read, "the name of a tool"), "read", "the tool that shows what was written")
	flags.Var(text(&f.keeps, "nothing, or is left out"), "keeps", "nothing, where no tool shows what another one wrote; a write alone is looked for then")
	flags.Var(texts(&f.args, "TOOL.NAME=VALUE"), "arg", "an argument that only you know, as TOOL.NAME=VALUE; JSON, or text (may be repeated)")
	flags.Var(texts(&f.env, "NAME=VALUE"), "env", "a variable of the server's environment, as NAME=VALUE (may be repeated)")
	flags.Var(texts(&f.answers, "KEY=VALUE"), "answer", "the answer to a question that init asked, as KEY=VALUE (may be repeated)")
	flags.BoolVar(&f.force, "force", false, "write over a file that is there")
	flags.BoolVar(&f.asJSON, "json", false, "as JSON on stdout: what was decided, and why")
	cmd.RunE = p.verb(func(args []string) (int, error) {
		stop, done := p.stop("ending in order")
		defer done()
		return p.initiate(stop.Interrupted, f, args)
	})
	return cmd
}

// initiate asks the server and writes the file.
func (p *program) initiate(ctx context.Context, f initFlags, command []string) (int, error) {
	options, err := f.options(command)
	if err != nil {
		return 0, err
	}
	options.Version = p.harness.Version
	options.Say = func(said string) { fmt.Fprintln(p.err, render.Plain(said)) }
	// What cannot be written is said before anything is tried.
	path := f.out
	options.Named = func(name string) error {
		if f.out == "" {
			path = name + ".yaml"
		}
		return mayWrite(path, f.force)
	}
	if f.out != "" {
		if err := mayWrite(path, f.force); err != nil {
			return 0, err
		}
	}
	found, err := proposal.Propose(ctx, options)
	if ctx.Err() != nil {
		fmt.Fprintln(p.err, "interrupted: the server was ended, and no file was written")
		return gate.Interrupted, nil
	}
	shown := initiated{Proposal: found}
	if err != nil {
		var nothing *proposal.NothingWorked
		if f.asJSON && errors.As(err, &nothing) {
			shown.Error = err.Error()
			if shownErr := p.show(true, shown, nil); shownErr != nil {
				return 0, shownErr
			}
		}
		return 0, suites.Usage("%w", err)
	}
	if err := mayWrite(path, f.force); err != nil {
		return 0, err
	}
	if err := renameio.WriteFile(path, []byte(found.File), 0o644); err != nil {
		return 0, fmt.Errorf("writing the target file %s: %w", path, err)
	}
	shown.Path = path
	return 0, p.show(f.asJSON, shown, shown.text)
}

// options are what the flags ask for.
func (f initFlags) options(command []string) (proposal.Options, error) {
	o := proposal.Options{Command: command, URL: f.url, Name: f.name, Revision: f.revision, Write: f.write, Read: f.read, Env: map[string]string{}, Arguments: map[string]map[string]string{}}
	switch {
	case f.url != "" && len(command) > 0:
		return o, suites.Usage("init was given both --url and a command; expected one: the command is started, the URL is asked as it is")
	case f.url == "" && len(command) == 0:
		return o, suites.Usage("init was given no server; expected the command that starts it, as in: holdfast init -- node server.js, or --url")
	}
	if f.url != "" {
		if u, err := url.Parse(f.url); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return o, suites.Usage("--url is %q; expected an address such as http://127.0.0.1:8080/mcp", f.url)
		}
	}
	for _, answer := range f.answers {
		key, value, ok := strings.Cut(answer, "=")
		switch kind, rest, _ := strings.Cut(key, "."); {
		case !ok || value == "":
			return o, suites.Usage("--answer is %q; expected KEY=VALUE", answer)
		case key == "write":
			o.Write = value
		case key == "read":
			o.Read = value
		case key == "name":
			o.Name = value
		case key == "keeps":
			f.keeps = value
		case kind == "arg" && rest != "":
			f.args = append(f.args, rest+"="+value)
		case kind == "env" && rest != "":
			f.env = append(f.env, rest+"="+value)
		default:
			return o, suites.Usage("--answer has the key %q; expected write, read, name, keeps, arg.TOOL.NAME or env.NAME", key)
		}
	}
	if o.KeepsNothing = f.keeps == target.KeepsNothing; f.keeps != "" && !o.KeepsNothing {
		return o, suites.Usage("--keeps is %q; expected %s, or to be left out", f.keeps, target.KeepsNothing)
	}
	if o.KeepsNothing && o.Read != "" {
		return o, suites.Usage("init was given both --keeps %s and --read %s; expected one: what a read shows is kept", f.keeps, o.Read)
	}
	if o.Name != "" && !targetName.MatchString(o.Name) {
		return o, suites.Usage("--name is %q; expected letters, digits, _, . and -, at most 64", o.Name)
	}
	for _, env := range f.env {
		name, value, ok := strings.Cut(env, "=")
		if !ok || !variable.MatchString(name) {
			return o, suites.Usage("--env is %q; expected NAME=VALUE, where NAME is letters, digits and _, no digit first", namedOnly(env))
		}
		o.Env[name] = value
	}
	return o, f.arguments(o.Arguments)
}

// How a target, and a variable of an environment, can be called.
var (
	targetName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)
	variable   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// namedOnly is what was written without its value, which may be a secret.
func namedOnly(env string) string {
	if name, _, ok := strings.Cut(env, "="); ok {
		return name + "=…"
	}
	return env
}

// arguments reads --arg TOOL.NAME=VALUE.
func (f initFlags) arguments(into map[string]map[string]string) error {
	for _, arg := range f.args {
		place, written, ok := strings.Cut(arg, "=")
		tool, name, dotted := strings.Cut(place, ".")
		if !ok || !dotted || tool == "" || name == "" {
			return suites.Usage("--arg is %q; expected TOOL.NAME=VALUE, such as add_note.project=demo", arg)
		}
		if into[tool] == nil {
			into[tool] = map[string]string{}
		}
		into[tool][name] = written
	}
	return nil
}

// mayWrite says why a file may not be written.
func mayWrite(path string, force bool) error {
	if info, err := os.Stat(path); err == nil && (!force || info.IsDir()) {
		if info.IsDir() {
			return suites.Usage("--out is %q, which is a folder; expected a file in it", path)
		}
		return suites.Usage("the file %s is there already; expected a new one: name another with --out, or say --force to write over it", path)
	}
	folder := filepath.Dir(path)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return suites.Usage("the folder of %s is not there; make it, or name another file with --out", path)
	}
	probe, err := os.CreateTemp(folder, ".holdfast-init-")
	if err != nil {
		return suites.Usage("nothing can be written into the folder of %s: %w; expected one that you may write into: name a file in another one with --out", path, err)
	}
	probe.Close()
	os.Remove(probe.Name())
	return nil
}

// Bounds of what is shown of the tools.
const (
	longestName = 64
	mostShown   = 60
)

// text is what was decided, for a person.
func (i initiated) text(render.Screen) string {
	var b strings.Builder
	c := i.Chosen
	line := func(format string, args ...any) { b.WriteString(render.Plain(fmt.Sprintf(format, args...)) + "\n") }
	line("%s %s (MCP %s)", i.Server.Name, i.Server.Version, i.Server.Revision)
	b.WriteString("\n")
	widest := 0
	for _, t := range i.Tools {
		widest = max(widest, min(len(t.Tool), longestName))
	}
	for n, t := range i.Tools {
		if n == mostShown {
			line("  … and %d more, which the file names", len(i.Tools)-n)
			break
		}
		said := t.Annotated()
		if said == "" {
			said = "claims nothing"
		}
		line("  %-*s  %-6s  %s", widest, t.Tool[:min(len(t.Tool), longestName)], t.Seems, said)
		if t.Spared {
			line("  %-*s          no call of it is generated; name it with --write to have it called", widest, "")
		}
		if len(t.Held) > 0 {
			line("  %-*s          held to %s", widest, "", strings.Join(t.Held, ", "))
		}
	}
	b.WriteString("\n")
	if c.ReadTool == "" {
		line("calls %s, and reads nothing: what needs a read is not judged", c.WriteTool)
	} else {
		line("writes with %s, reads with %s: %d of %d values shown", c.WriteTool, c.ReadTool, c.Shows, c.Written)
	}
	for _, why := range c.Why {
		line("  %s", why)
	}
	for _, e := range i.Env {
		line("  %s=%s: %s", e.Name, e.Value, e.Why)
	}
	if i.URL == "" && c.ReadTool != "" {
		line("shown to a second server: %s · after a restart: %s · absent from a fresh store: %s · a probe: %s",
			yesNo(c.OtherSession), yesNo(c.Survives), yesNo(c.Private), yesNo(c.Probe != nil))
	}
	if len(i.Questions) > 0 {
		b.WriteString("\nnot decided:\n")
		for _, q := range i.Questions {
			how := ""
			if q.Key != "" {
				how = " (--answer " + q.Key + "=…)"
			}
			line("  ? %s%s", q.Text, how)
		}
	}
	b.WriteString("\n")
	line("wrote %s", i.Path)
	if i.URL == "" {
		line("next: holdfast doctor %s, then holdfast run %s", i.Path, i.Path)
	} else {
		line("next: say in it how the server is started, then holdfast doctor %s", i.Path)
	}
	return b.String()
}

func yesNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}
