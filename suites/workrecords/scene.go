// Package workrecords holds the specs of profile WR: an item ID that was issued
// is never lost again. Each spec reads like its clause; what the words do is in
// this file, what they break is in package faults, and who is right is judged
// from the history alone.
package workrecords

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// The moments at which a scene looks, as the judges know them.
const (
	early     = "early"
	held      = "held"
	restarted = "restarted"
	converged = "converged"
)

// scene is the stage of one spec: a world, and the caller's first helper.
type scene struct {
	*world.World
	helper *world.Caller
	items  []string // every item ID that was answered, in order
	n      int
}

// on makes a spec's drive out of a function over a scene.
func on(play func(*scene)) func(*world.World) {
	return func(w *world.World) { play(&scene{World: w}) }
}

// begin starts every process and shakes hands with the helper.
func (s *scene) begin() {
	s.Launch()
	s.meet()
}

// beginWithout starts everything but the app, and the helper.
func (s *scene) beginWithoutApp() {
	s.Launch(world.Without("app"))
	s.meet()
}

// meet shakes hands with the helper, and asks for its tools, so that what it answers
// can be held to what it declares.
func (s *scene) meet() {
	s.helper = s.NewCaller()
	s.helper.Tools()
}

// task is one piece of work, with the keys under which it is started.
type task struct {
	key, title, first, idempotency string
}

// newTask makes a task of its own names.
func (s *scene) newTask() task {
	s.n++
	return task{
		key:         s.Word(fmt.Sprintf("task-%d", s.n)),
		title:       s.Word(fmt.Sprintf("Title %d", s.n)),
		idempotency: s.Word(fmt.Sprintf("start-%d", s.n)),
	}
}

// withNote gives the task a first note.
func (t task) withNote(text string) task { t.first = text; return t }

// again is the same task key under a new idempotency key and title.
func (s *scene) again(t task) task {
	next := s.newTask()
	next.key = t.key
	return next
}

// starting is the act of work_start.
func (s *scene) starting(t task) world.Act {
	params := map[string]string{"task_key": t.key, "title": t.title, "key": t.idempotency}
	if t.first != "" {
		params["text"] = t.first
	}
	return world.Act{
		Role: "start", Params: params,
		Proof: world.Proof{Probe: "anchors", Params: map[string]string{"task_key": t.key}},
	}
}

// start starts a task through the first helper and returns the answered item ID, "" if there was none.
func (s *scene) start(t task) string { return s.startBy(s.helper, s.starting(t)) }

func (s *scene) startBy(c *world.Caller, act world.Act) string {
	return s.know(c.Do(act))
}

// know remembers the item ID of an answered start.
func (s *scene) know(o history.Operation) string {
	id := o.Text("item_id")
	if o.Outcome() == history.Done && id != "" {
		s.items = append(s.items, id)
	}
	return id
}

// noting is the act of work_note, under a key of its own.
func (s *scene) noting(id, text string) world.Act {
	return world.Act{
		Role: "note", Params: map[string]string{"item_id": id, "text": text, "key": "note " + text},
		Proof: world.Proof{
			Probe: "intents", Params: map[string]string{"item_id": id},
			Shows: func(row map[string]any) bool { return row["text"] == text },
		},
	}
}

// note sends one note through the first helper.
func (s *scene) note(id, text string) history.Operation { return s.helper.Do(s.noting(id, text)) }

// notes sends n numbered notes, one after the other.
func (s *scene) notes(id, name string, n int) {
	for i := range n {
		s.note(id, s.Word(fmt.Sprintf("%s %02d", name, i+1)))
	}
}

// following is the act of work_status, work_complete or work_cancel.
func (s *scene) following(role, id, status string) world.Act {
	s.n++
	params := map[string]string{"item_id": id, "key": s.Word(fmt.Sprintf("%s-%d", role, s.n))}
	if status != "" {
		params["status"] = status
	}
	return world.Act{Role: role, Params: params}
}

// get reads one record at a moment.
func (s *scene) get(id, moment string) history.Operation {
	return s.helper.Do(world.Act{Role: "get", Params: map[string]string{"item_id": id, "moment": moment}})
}

// settle waits until every intent of every known item has come to its end. That
// it may not is for the judges to say.
func (s *scene) settle() {
	s.Await("every intent to be applied or failed", func() bool {
		for _, id := range s.items {
			rows := s.Peek("intents", map[string]string{"item_id": id})
			if len(rows) == 0 {
				return false
			}
			for _, row := range rows {
				if row["state"] != "applied" && row["state"] != "failed" {
					return false
				}
			}
		}
		return true
	})
}

// lookAtEnd looks at every surface once everything has come to rest, and asks
// the helper about every item.
func (s *scene) lookAtEnd() {
	seen := map[string]bool{}
	for _, id := range s.items {
		if seen[id] {
			continue
		}
		seen[id] = true
		item := map[string]string{"item_id": id}
		s.Look("anchor", converged, item)
		s.Look("intents", converged, item)
		s.Look("item", converged, item)
		s.LookIfThere("card", converged, item)
		s.get(id, converged)
	}
	s.Look("items", converged, nil)
}

// lookAtTasks looks at the anchors of tasks at the end.
func (s *scene) lookAtTasks(tasks ...task) {
	for _, t := range tasks {
		s.Look("anchors", converged, map[string]string{"task_key": t.key})
	}
}

// attempts counts the attempts that the executor has made at an item's intents
// that are still to be applied.
func (s *scene) attempts(id string) int {
	n := 0
	for _, row := range s.Peek("intents", map[string]string{"item_id": id}) {
		if row["state"] == "pending" || row["state"] == "retrying" {
			n = max(n, world.Number(row["attempts"]))
		}
	}
	return n
}

// awaitAttempts waits until the executor has been turned away n times.
func (s *scene) awaitAttempts(id string, n int) {
	s.Await(fmt.Sprintf("%d attempts at the intents of item %s", n, id), func() bool { return s.attempts(id) >= n })
}

// awaitClass waits until an intent of an item was turned away with a class.
func (s *scene) awaitClass(id, class string) {
	s.Await("an intent of item "+id+" turned away as "+class, func() bool {
		return slices.ContainsFunc(s.Peek("intents", map[string]string{"item_id": id}), func(row map[string]any) bool { return row["class"] == class })
	})
}

// awaitItem waits until the library holds the item.
func (s *scene) awaitItem(id string) {
	s.Await("item "+id+" in the library", func() bool { return len(s.Peek("item", map[string]string{"item_id": id})) > 0 })
}
