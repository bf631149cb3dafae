package workrecords

import (
	"path/filepath"

	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

var staging = []suites.Test{
	{
		ID: "WR-28/paths-that-lead-outside", Clauses: []string{"WR-28"},
		Title:   "an attachment that leads out of the staging root is refused or fails for good, and nothing outside is read",
		Missing: noStaging,
		Drive: on(func(s *scene) {
			s.beginWithoutApp()
			id := s.start(s.newTask())
			outside := s.OutsideFile()
			read := s.WatchReads("outside", outside)

			good := s.attaching(id).With("leads", "inside")
			control := s.WatchReads("staged", s.Staged(good.Params["attachment"]))
			s.helper.Do(good)

			up := s.FromStaging(outside)
			s.helper.Do(s.leading(id, "by ..", up))
			s.helper.Do(s.leading(id, "by .. behind a folder", "folder/../"+up))
			s.helper.Do(s.leading(id, "absolutely", outside))
			s.helper.Do(s.leading(id, "by a link", s.StageLink("link.txt", outside)))
			s.helper.Do(s.leading(id, "by a link of a folder", s.StageLink("linked", filepath.Dir(outside))+"/"+filepath.Base(outside)))
			swapped := s.StageFile("swapped.txt")
			s.helper.Do(s.leading(id, "by a link that came later", swapped))
			s.StageLink(swapped, outside)

			s.Launch(world.Only("app"))
			s.settle()
			s.lookAtEnd()
			read.Look()
			control.Look()
		}),
		Judge: judge.StaysInside,
	},
}

// leading is the act of a note whose attachment leads out of the staging root.
func (s *scene) leading(id, how, path string) world.Act {
	return s.noting(id, s.Word("a note that leads out "+how)).With("attachment", path).With("leads", how)
}
