package workrecords

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
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
		Title: "a key that comes again with other content is refused by name, and nothing of it is stored",
		Drive: on(func(s *scene) {
			s.beginWithoutApp()
			first, second := s.newTask(), s.newTask()
			item, other := s.start(first), s.start(second)
			note := s.noting(item, s.Word("the note"))
			s.helper.Do(note)
			s.lookAtStoreAtRest(keysKnown)

			start := s.starting(first)
			s.helper.Do(start.With("title", s.Word("another title")).With("reused", "another title"))
			s.helper.Do(start.With("task_key", s.Word("another task")).With("reused", "another task"))
			s.helper.Do(start.With("text", s.Word("a first note")).With("reused", "a first note"))
			s.helper.Do(note.With("text", s.Word("another text")).With("reused", "another text"))
			s.helper.Do(note.With("item_id", other).With("reused", "another item"))
			s.helper.Do(s.noting(item, s.Word("a note")).With("key", first.idempotency).With("reused", "another kind of command"))
			s.EndCallers()
			s.lookAtStoreAtRest(keysReused)

			s.helper = s.NewCaller()
			s.note(item, s.Word("a note under its own key"))
			s.lookAtStoreAtRest(freshKey)
		}),
		Judge: judge.KeyReuseRefused,
	},
}

// lookAtStoreAtRest looks at all anchors and intents while nobody writes.
func (s *scene) lookAtStoreAtRest(moment string) {
	s.LookAtRest("anchors", moment, nil)
	s.LookAtRest("intents", moment, nil)
}
