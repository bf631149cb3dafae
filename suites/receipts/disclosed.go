package receipts

import (
	"github.com/holdfast-mcp/holdfast/fixtures/account"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
)

// disclosed are the specs of who is told of a command.
var disclosed = []suites.Test{{
	ID: "RC-13/lookup", Clauses: []string{"RC-13"},
	Title:   "a receipt is found by its owner and the owner's editor, and by nobody without a session or with another user's, not by way of that user's own draft either",
	Faults:  []string{"answer-lost"},
	Missing: suites.First(noRole("recheck_update"), noServer("sign_in", "lookup")),
	Drive: on(func(s *scene) {
		s.begin()
		update := s.update()
		s.editor.LosesServerAnswer(update)
		s.look(struck)
		of := with(update, "revision", "", "text", "")
		none := with(of, "command_id", s.commandID())
		stranger := s.Visitor(account.Second)
		s.Visitor("").Ask("lookup", struck, of.With("who", "nobody").Params)
		stranger.Ask("lookup", struck, of.With("who", "stranger").Params)
		stranger.Ask("lookup", struck, none.With("who", "stranger to none").Params)
		if _, there := s.Target.Profiles.Receipts.Drafts["foreign"]; there {
			own := s.Draft("foreign")
			stranger.Ask("lookup", struck, with(of, "draft", own, "who", "stranger").Params)
			stranger.Ask("lookup", struck, with(none, "draft", own, "who", "stranger to none").Params)
		}
		s.Visitor(account.First).Ask("lookup", struck, of.With("who", "owner").Params)
		s.converges(update)
	}),
	Judge: judge.All(judge.Placed("answer-lost", 1), judge.LookupAuthorized),
}}
