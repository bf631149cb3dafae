// Package receipts holds the specs of profile RC: a lost response is recovered, not
// repeated. Each spec reads like its clause; what the words do is in this file,
// what they break is in package faults, and who is right is judged from the history
// alone.
package receipts

import (
	"fmt"
	"maps"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// The moments at which a scene looks, as the judges know them.
const (
	before    = "before"    // before any command
	struck    = "struck"    // behind the fault, with the outcome in doubt
	typed     = "typed"     // behind what the person has typed meanwhile
	rechecked = "rechecked" // behind a recheck that could not know
	converged = "converged" // at the end
)

// scene is the stage of one spec: a world, the person's editor, and its draft.
type scene struct {
	*world.World
	editor   *world.Caller
	draft    string
	commands int
}

// on makes a spec's drive out of a function over a scene.
func on(play func(*scene)) func(*world.World) {
	return func(w *world.World) { play(&scene{World: w}) }
}

// begin starts every process, opens an editor on the own draft, and looks. That the
// editor can read the draft is what later answers are held against.
func (s *scene) begin() {
	s.Launch()
	s.draft = s.Draft("own")
	s.editor = s.NewCaller()
	s.ready()
	s.look(before)
}

// revision is that of the draft as it is stored now. Without it no command can be
// right, so that nothing could be held against its answer.
func (s *scene) revision() string {
	revision, doubt := storedRevision(s.draft, s.Peek("draft", map[string]string{"draft": s.draft}))
	if doubt != "" {
		world.Inconclusive("%s", doubt)
	}
	return fmt.Sprint(revision)
}

// storedRevision is the revision in what the probe draft shows of a draft, or why
// there is none.
func storedRevision(draft string, rows []map[string]any) (revision int, doubt string) {
	if len(rows) != 1 {
		return 0, fmt.Sprintf("probe draft shows %d rows of draft %q, expected the one that is stored; check drafts and probes.draft of profiles.receipts", len(rows), draft)
	}
	if revision = world.Number(rows[0]["revision"]); revision < 1 {
		return 0, fmt.Sprintf("probe draft shows of draft %q the revision %v, expected a number from 1; check probes.draft of profiles.receipts", draft, rows[0]["revision"])
	}
	return revision, ""
}

// update is the act that sets the changed field to a fresh text, under a command ID
// of its own and with the revision that is stored now.
func (s *scene) update() world.Act {
	return world.Act{Role: "update", Params: map[string]string{
		"draft": s.draft, "revision": s.revision(), "command_id": s.commandID(), "text": s.Word("Lisbon"),
	}}
}

// submission is the act that submits the draft.
func (s *scene) submission() world.Act {
	return world.Act{Role: "submit", Params: map[string]string{
		"draft": s.draft, "revision": s.revision(), "command_id": s.commandID(),
	}}
}

// commandID is a command ID that occurs nowhere else.
func (s *scene) commandID() string {
	s.commands++
	return strings.ReplaceAll(s.Word(fmt.Sprintf("cmd-%d", s.commands)), " ~", "-")
}

// recheck is the act that asks what came of a mutation, at a moment.
func (s *scene) recheck(act world.Act, moment string) world.Act {
	role := map[string]string{"update": "recheck_update", "submit": "recheck_submit"}[act.Role]
	return world.Act{Role: role, Params: map[string]string{"draft": act.Params["draft"], "command_id": act.Params["command_id"]}}.At(moment)
}

// read is the act that reads the draft, at a moment.
func (s *scene) read(moment string) world.Act {
	return world.Act{Role: "read", Params: map[string]string{"draft": s.draft}}.At(moment)
}

// with is an act with other parameters beside its own; an empty value takes one away.
func with(act world.Act, more ...string) world.Act {
	params := maps.Clone(act.Params)
	for i := 0; i < len(more); i += 2 {
		params[more[i]] = more[i+1]
		if more[i+1] == "" {
			delete(params, more[i])
		}
	}
	act.Params = params
	return act
}

// types lets the person type a fresh text into a field of the editor. That the editor
// may not refuse it is for the judges to say.
func (s *scene) types(field, moment string) string {
	text := s.Word("typed by hand")
	s.typesText(field, text, moment)
	return text
}

// typesText lets the person type a text of the spec's choice.
func (s *scene) typesText(field, text, moment string) {
	mark := map[string]any{"field": field, "text": text, "moment": moment}
	if err := s.editor.PersonTries("type", map[string]string{"draft": s.draft, "field": s.Field(field), "text": text}); err != nil {
		mark["refused"] = err.Error()
	}
	s.Mark("typed", mark)
}

// look looks at all four surfaces at a moment; the answer is the fourth.
func (s *scene) look(moment string) {
	about := map[string]string{"draft": s.draft}
	s.Look("draft", moment, about)
	s.Look("receipts", moment, about)
	s.editor.LookAtEditor(moment, s.draft)
	s.LookAtServer(moment, s.draft)
}

// lookedAround gives a command, with a look before it and behind it.
func (s *scene) lookedAround(act world.Act) {
	s.look(first)
	s.editor.Do(act)
	s.settled()
	s.look(struck)
}

// lastly gives the last command of a spec, and looks at what all of it led to.
func (s *scene) lastly(act world.Act) {
	s.editor.Do(act)
	s.settled()
	s.look(converged)
}

// settled waits until the editor shows none of its operations as under way. That it
// may not is for the judges to say.
func (s *scene) settled() {
	s.Await("the editor to have nothing under way", s.atRest)
}

// free is settled although something is held: it does not wait until that lets go.
func (s *scene) free() {
	s.AwaitThough("the editor to have nothing under way", s.atRest)
}

// atRest says whether the editor shows its draft, and no operation as under way.
func (s *scene) atRest() bool {
	state := s.editor.PeekAtEditor(s.draft)["save_state"]
	return state != nil && state != "saving"
}

// outcome is the outcome that an operation was answered with.
func outcome(o history.Operation) string { return o.Text("outcome") }
