package world

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/fixtures/account"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// ServerWire is the wire between an editor and the server that keeps its drafts
// (profile RC).
const ServerWire = "server"

// Draft is the ID of a draft of the target file: own, other or foreign.
func (w *World) Draft(name string) string {
	id, there := w.Target.Profiles.Receipts.Drafts[name]
	if !there {
		Inconclusive("the target file has no draft %q in profiles.receipts.drafts", name)
	}
	expanded, err := w.known(nil).Expand(id)
	if err != nil {
		Broken("the draft %q of the target file: %v", name, err)
	}
	return expanded
}

// Field is the target's name of a field of a draft: changed or other.
func (w *World) Field(name string) string { return w.Target.Profiles.Receipts.Fields[name] }

// server is the wire to the server, as faults see it.
func (w *World) server() wire.Line {
	w.openWires()
	line, there := w.wires[ServerWire]
	if !there {
		Inconclusive("the target file has no wire %q from the editor to its server, so nothing can be placed on the way there", ServerWire)
	}
	return w.config.Seams.line(line)
}

// asked is the request that a call of a role leads to, as the target file names it.
func asked(role string) string {
	if strings.HasPrefix(role, "recheck") {
		return "lookup"
	}
	return role
}

// toServer matches the requests of a name. What params leave open fits any.
func (w *World) toServer(name string, params map[string]string) wire.Match {
	text, there := w.Target.Profiles.Receipts.Requests[name]
	if !there {
		Inconclusive("the target file has no request %q in profiles.receipts.requests", name)
	}
	method, path, _ := strings.Cut(text, " ")
	shape, err := pathShape(path, params)
	if err != nil {
		Broken("the request %q of the target file: %v", name, err)
	}
	return wire.Match{HTTPMethod: method, Where: func(m wire.Message) bool { return shape.MatchString(m.Path) }}
}

// template is one in the path of a request.
var template = regexp.MustCompile(`\{\{ *([a-z_]+)\?? *\}\}`)

// pathShape is the shape of a path whose templates are filled in with params; one
// that they lack stands for any one part of a path.
func pathShape(path string, params map[string]string) (*regexp.Regexp, error) {
	var shape strings.Builder
	for {
		at := template.FindStringSubmatchIndex(path)
		if at == nil {
			break
		}
		shape.WriteString(regexp.QuoteMeta(path[:at[0]]))
		if value, known := params[path[at[2]:at[3]]]; known {
			shape.WriteString(regexp.QuoteMeta(value))
		} else {
			shape.WriteString("[^/]+")
		}
		path = path[at[1]:]
	}
	return regexp.Compile("^" + shape.String() + regexp.QuoteMeta(path) + "$")
}

// receipt shows that the server has stored a command's receipt.
func (w *World) receipt(act Act) faults.Proof {
	id := act.Params["command_id"]
	return w.proof(Act{Proof: Proof{
		Probe: "receipts", Params: map[string]string{"draft": act.Params["draft"]},
		Shows: func(row map[string]any) bool { return fmt.Sprint(row["command_id"]) == id },
	}})
}

// LookAtServer records how many requests of each kind about a draft came to the
// wire, and how many of them were let through.
func (w *World) LookAtServer(when, draft string) {
	rows := []map[string]any{}
	for _, name := range target.RequestNames() {
		if _, there := w.Target.Profiles.Receipts.Requests[name]; !there {
			continue
		}
		line, match := w.server(), w.toServer(name, map[string]string{"draft": draft})
		rows = append(rows, map[string]any{"request": name, "came": line.Count(match), "passed": line.Passed(match)})
	}
	w.config.Recorder.Record(history.Event{Kind: history.KindLook, Look: &history.Look{
		Surface: history.SurfaceWire, Probe: ServerWire, When: when, Params: map[string]string{"draft": draft}, Rows: rows,
	}})
}

// LookAtEditor records what a person sees of a draft in the caller's editor.
func (c *Caller) LookAtEditor(when, draft string) history.Look {
	w, params := c.w, map[string]string{"draft": draft}
	look := history.Look{Surface: history.SurfacePerson, Probe: "editor", When: when, Params: map[string]string{"draft": draft, "editor": c.name}}
	if w.config.Seams.Skip != nil && w.config.Seams.Skip("editor", when) {
		return look
	}
	rows, err := c.visible(params)
	look.Rows = rows
	if err != nil {
		look.Error = err.Error()
	}
	w.config.Recorder.Record(history.Event{Kind: history.KindLook, Look: &look})
	return look
}

// PeekAtEditor looks without recording, for waiting; a failed look shows nothing.
func (c *Caller) PeekAtEditor(draft string) map[string]any {
	rows, err := c.visible(map[string]string{"draft": draft})
	if err != nil || len(rows) != 1 {
		return nil
	}
	return rows[0]
}

// visible is what the caller's editor shows, its label in the contract's words.
func (c *Caller) visible(params map[string]string) ([]map[string]any, error) {
	var rows []map[string]any
	var err error
	if c.page != nil {
		rows, err = c.seenOnPage()
	} else {
		rows, err = c.rows("editor", params)
	}
	for _, row := range rows {
		if label, ok := row["save_state"].(string); ok {
			row["save_state"] = c.w.Target.OurWord("save_state", label)
		}
	}
	return rows, err
}

// seenOnPage is what the caller's page shows at the selectors of the target file, as
// the one row of the editor; none where it shows nothing of a draft.
func (c *Caller) seenOnPage() ([]map[string]any, error) {
	seen, err := c.Visible()
	if err != nil || len(seen) == 0 {
		return nil, err
	}
	row := map[string]any{}
	for name, text := range seen {
		row[name] = text
	}
	return []map[string]any{row}, nil
}

// Person does what a person would do in the caller's own editor, by an action of
// the target file.
func (c *Caller) Person(name string, params map[string]string) {
	if err := c.PersonTries(name, params); err != nil {
		Inconclusive("%v", err)
	}
}

// PersonTries does what Person does, where an editor may refuse it and the judges
// have to know.
func (c *Caller) PersonTries(name string, params map[string]string) error {
	err := c.personActs(name, params)
	data := map[string]any{"action": name, "editor": c.name}
	for key, value := range params {
		if key != "password" {
			data[key] = value
		}
	}
	if err != nil {
		data["refused"] = err.Error()
	}
	c.w.Mark("person", data)
	return err
}

// SignsIn lets another person sign in to the caller's editor where that is a page and
// asks for it; the first account is signed in as it opens.
func (c *Caller) SignsIn(user string) {
	if c.page == nil {
		return
	}
	if err := c.signIn(user); err != nil {
		Inconclusive("%v", err)
	}
}

// personActs acts on the caller's own page where the action is of that kind.
func (c *Caller) personActs(name string, params map[string]string) error {
	if action, there := c.w.Target.Actions[name]; there && action.OnOwnPage() {
		return c.onOwnPage(c.w.ctx, name, action, params)
	}
	return c.w.actKnowing(c.w.ctx, name, params, c.known)
}

// Password is what an account of the account fixture signs in with.
func (w *World) Password(name string) string {
	at := slices.IndexFunc(w.config.Accounts.Accounts, func(a account.Account) bool { return a.Name == name })
	if at < 0 {
		Broken("there is no account %q", name)
	}
	return w.config.Accounts.Accounts[at].Token
}
