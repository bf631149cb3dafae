package workrecords

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// The moments around the calls that reuse a key, as the judges know them.
const (
	keysKnown  = "keys-known"
	keysReused = "keys-reused"
	freshKey   = "fresh-key"
)

var reuse = []suites.Test{
	{
		ID: "WR-08/other-content", Clauses: []string{"WR-08"},
		Title: "a key of any command that comes again with other content, or for another command, is refused by name, and nothing of it is stored",
		Drive: on(func(s *scene) {
			s.beginWithoutApp()
			task := s.newTask()
			item, other := s.start(task), s.start(s.newTask())
			known := []world.Act{s.starting(task)}
			for _, act := range s.followUps(item) {
				s.helper.Do(act)
				known = append(known, act)
			}
			s.lookAtStoreAtRest(keysKnown)

			for i, act := range known {
				for _, change := range s.otherContents(act, other) {
					s.helper.Do(change)
				}
				next := known[(i+1)%len(known)]
				s.helper.Do(next.With("key", act.Params["key"]).With("reused", "another kind of command than the "+act.Role))
			}
			s.EndCallers()
			s.lookAtStoreAtRest(keysReused)

			s.helper = s.NewCaller()
			s.note(item, s.Word("a note under its own key"))
			s.EndCallers()
			s.lookAtStoreAtRest(freshKey)
		}),
		Judge: judge.KeyReuseRefused,
	},
}

// followUps are an act of each kind of follow-up that the target has.
func (s *scene) followUps(item string) []world.Act {
	acts := []world.Act{s.noting(item, s.Word("the note"))}
	for _, role := range []string{"status", "complete", "cancel"} {
		if noTool(role)(s.Target) == "" {
			status := map[string]string{"status": "doing"}[role]
			acts = append(acts, s.following(role, item, status))
		}
	}
	return acts
}

// otherContents are an act with each part of its content changed in turn, and its
// key as it was.
func (s *scene) otherContents(act world.Act, other string) []world.Act {
	changed := func(name, value string) world.Act {
		return act.With(name, value).With("reused", "another "+name)
	}
	var acts []world.Act
	switch act.Role {
	case "start":
		return []world.Act{changed("title", s.Word("another title")), changed("task_key", s.Word("another task")), changed("text", s.Word("a first note"))}
	case "note":
		acts = append(acts, changed("text", s.Word("another text")))
	case "status":
		acts = append(acts, changed("status", "waiting"))
	}
	return append(acts, changed("item_id", other))
}

// lookAtStoreAtRest looks at all anchors and intents while nobody writes.
func (s *scene) lookAtStoreAtRest(moment string) {
	s.LookAtRest("anchors", moment, nil)
	s.LookAtRest("intents", moment, nil)
}
