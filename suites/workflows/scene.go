// Package workflows holds the specs of profile WF: a step in doubt is reviewed,
// never replayed. Each spec reads like its clause; what the words do is in this
// file, what they break is in package faults, and who is right is judged from the
// history alone.
package workflows

import (
	"encoding/json"

	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// The moments at which a scene looks, as the judges know them.
const (
	held      = "held"      // while an outside request of the step is held
	struck    = "struck"    // behind the fault, before anybody has acted on it
	restarted = "restarted" // with a new server, and before any resume
	resumed   = "resumed"   // behind a resume that has come to rest
	converged = "converged" // at the end
)

// The bindings of the target file.
const (
	own          = "own"
	otherProfile = "other_profile"
	otherTarget  = "other_target"
)

// scene is the stage of one spec: a world, and the caller's server.
type scene struct {
	*world.World
	server     *world.Caller
	operations []string       // every ID that was answered, in order
	steps      []step         // every step that was made, in order
	birds      []world.Canary // every canary that was planted
}

// on makes a spec's drive out of a function over a scene.
func on(play func(*scene)) func(*world.World) {
	return func(w *world.World) { play(&scene{World: w}) }
}

// begin starts every process and shakes hands with the server.
func (s *scene) begin() {
	s.Launch()
	s.server = s.NewCaller()
}

// again goes on with a new server on the same store, after the other has ended.
func (s *scene) again() { s.server = s.NewCaller() }

// step is one entry of a definition, and the text that its effect shows.
type step struct {
	kind, text string
	entry      json.RawMessage
}

// step makes a step of a kind with a text of its own. Where the kind needs a
// confirmation it carries that of its own preview.
func (s *scene) step(kind string) step {
	text := s.Word(kind)
	made := step{kind: kind, text: text, entry: s.server.Step(kind, s.bound(own, "text", text))}
	s.steps = append(s.steps, made)
	s.Mark("step", map[string]any{"text": text, "kind": kind})
	return made
}

// bound is what a binding gives, and more, by turns name and value.
func (s *scene) bound(binding string, more ...string) map[string]string {
	params := s.Binding(binding)
	for i := 0; i < len(more); i += 2 {
		params[more[i]] = more[i+1]
	}
	return params
}

// starting is the act that starts an operation of steps.
func (s *scene) starting(steps ...step) world.Act {
	entries, texts := []json.RawMessage{}, []string{}
	for _, st := range steps {
		entries, texts = append(entries, st.entry), append(texts, st.text)
	}
	return world.Act{Role: "start", Params: s.bound(own, "steps", text(entries), "texts", text(texts))}
}

// text is a value as JSON.
func text(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		world.Broken("writing a parameter: %v", err)
	}
	return string(raw)
}

// start starts an operation and returns its ID, "" where there was none.
func (s *scene) start(steps ...step) string { return s.know(s.server.Do(s.starting(steps...))) }

// showsEffects runs an operation of one write that nothing is done to: the control of
// the outside log, for judges of what never took effect.
func (s *scene) showsEffects() {
	word := s.Word("control")
	write := step{kind: "write", text: word, entry: s.server.Step("write", s.bound(own, "text", word))}
	act, tool := s.starting(write), s.Target.Profiles.Workflows.Tools["start"]
	act.Role, act.Tool = "control", &tool
	s.settle(s.server.Do(act).Text("operation_id"))
}

// know remembers the operation ID of an acknowledged start.
func (s *scene) know(o history.Operation) string {
	id := o.Text("operation_id")
	if o.Outcome() == history.Done && id != "" {
		s.operations = append(s.operations, id)
	}
	return id
}

// storedAs is the ID of a start that may not have been answered yet: what it was
// answered with, or "".
func (s *scene) storedAs(start *world.Flight) string {
	select {
	case <-start.Done():
		return start.Wait().Text("operation_id")
	default:
		return ""
	}
}

// asking is the act of status, resume or cancel, under the own binding.
func (s *scene) asking(role, id, moment string) world.Act {
	return world.Act{Role: role, Params: s.bound(own, "operation_id", id, "moment", moment)}
}

// ask asks about an operation at a moment.
func (s *scene) ask(role, id, moment string) history.Operation {
	return s.server.Do(s.asking(role, id, moment))
}

// state is where an operation stands by its checkpoint, "" where none is read.
func (s *scene) state(id string) string {
	rows := s.Peek("checkpoint", map[string]string{"operation_id": id})
	if len(rows) != 1 {
		return ""
	}
	state, _ := rows[0]["state"].(string)
	return state
}

// settle waits until an operation stands where nothing moves it but a caller. That
// it may not is for the judges to say.
func (s *scene) settle(id string) {
	if id == "" {
		return // the start gave out none, and the judges say so
	}
	s.Await("operation "+id+" to come to rest", func() bool {
		state := s.state(id)
		return state != "" && state != "running"
	})
}

// look looks at an operation, at what the outside service has applied, and at what
// went to it, at a moment.
func (s *scene) look(moment string, ids ...string) {
	for _, id := range ids {
		if id == "" {
			continue
		}
		s.Look("checkpoint", moment, map[string]string{"operation_id": id})
	}
	s.Look("effects", moment, nil)
	for _, st := range s.steps {
		s.LookAtWire(moment, st.text)
	}
}
