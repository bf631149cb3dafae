// Package page is the editor page of a trip: the template editor.html and what it
// loads, without a build step.
package page

import (
	"embed"
	"io/fs"
)

//go:embed assets
var embedded embed.FS

// Files are the page and its assets. /trips/{draft} serves editor.html, filled with
// the draft's name and the deadlines; /assets/… every other file.
func Files() fs.FS {
	files, err := fs.Sub(embedded, "assets")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return files
}
