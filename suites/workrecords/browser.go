package workrecords

import (
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
)

// inTheBrowser are the specs that open the target's page in Chromium: what a
// person sees there, and what a person's click does.
var inTheBrowser = []suites.Test{
	{
		ID: "WR-13/deleted-by-a-click", Clauses: []string{"WR-13"}, Browser: true,
		Title:   "an item that the person deletes with a click on its card is gone from the page, its anchor is dead, and what was queued ends failed",
		NotFor:  suites.First(noCardOnPage, noClick("delete_on_page")),
		Missing: suites.NoAction("lock", "unblock"),
		Drive: on(func(s *scene) {
			s.begin()
			t := s.newTask()
			id, other := s.start(t), s.start(s.newTask())
			s.awaitItem(id)
			s.awaitItem(other)
			s.settle()
			s.deleteWithQueueBy(id, t, func() {
				s.LookInBrowser("card", early, map[string]string{"item_id": id})
				s.Shoot("before")
				s.Act("delete_on_page", map[string]string{"item_id": id})
			})
			s.lookAtEnd()
			s.LookInBrowser("card", converged, map[string]string{"item_id": other})
			s.LookInBrowser("card", converged, map[string]string{"item_id": id})
			s.Shoot("after")
		}),
		Judge: judge.All(judge.DeletedIsDead, judge.DeletedByClick),
	},
	{
		ID: "WR-36/in-the-browser", Clauses: []string{"WR-36"}, Browser: true,
		Title:  "what was sent before the login is to be seen on the page after it, the same on answer, sidecar, library and card",
		Faults: []string{"login-held"},
		NotFor: suites.First(noTool("status"), noCardOnPage, noClick("delete_on_page")),
		Drive: on(func(s *scene) {
			login := s.beginWithLoginHeld()
			id := s.start(s.newTask())
			item := map[string]string{"item_id": id}
			s.note(id, s.Word("the first note, sent before the login"))
			s.note(id, s.Word("the second note, sent before the login"))
			s.helper.Do(s.following("status", id, "doing"))
			s.awaitAttempts(id, 1)
			s.Look("intents", held, item)
			s.LookInBrowser("card", held, item)
			s.Shoot("before")
			login.Release()
			s.settle()
			s.lookAtEnd()
			s.Await("the card in the browser", func() bool { return len(s.PeekInBrowser("card", item)) > 0 })
			s.LookInBrowser("card", converged, item)
			s.Shoot("after")
		}),
		Judge: judge.All(judge.Placed("login-held", 1), judge.KeptWhileTransient("WR-36", 1),
			judge.NotesOnRecord("WR-36", 2), judge.SurfacesAgreeInBrowser),
	},
}

// noCardOnPage says that the target's records are no cards on a page.
func noCardOnPage(f *target.File) string {
	if w := f.Profiles.WorkRecords; w != nil && w.Probes["card"].Page == "" {
		return "the target file names no page with the cards (profiles.work-records.probes.card.page), so there is none to open in a browser"
	}
	return ""
}

// noClick says that the person does not do this with a click. A target whose person
// only ever acts past the page has no use for a browser.
func noClick(name string) func(*target.File) string {
	return func(f *target.File) string {
		if f.Actions[name].Page == "" {
			return "the target file names no click for it (actions." + name + ".page), so the person does nothing on a page, and none is opened in a browser; reference-browser is the built-in target that has it"
		}
		return ""
	}
}
