package api

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

// Deadlines are how long the page waits, see EDITOR_DEADLINE.
type Deadlines struct {
	Mutation time.Duration // for the answer to an update or a submission
	Lookup   time.Duration // for that of a recheck
}

// PageFile is the file of the page among its assets. It is a template.
const PageFile = "editor.html"

// face is what the template of the page is filled with.
type face struct {
	Draft                    string
	Deadline, LookupDeadline int64 // ms
}

func faceOf(files fs.FS) (*template.Template, error) {
	t, err := template.ParseFS(files, PageFile)
	if err != nil {
		return nil, fmt.Errorf("read the page: %w", err)
	}
	return t, nil
}

// page serves the same page for every draft, to anybody: what is in a draft it asks
// for itself, as whoever is signed in.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	var filled bytes.Buffer
	err := s.face.Execute(&filled, face{r.PathValue("draft"), s.Deadlines.Mutation.Milliseconds(), s.Deadlines.Lookup.Milliseconds()})
	if err != nil {
		s.refuse(w, r, fmt.Errorf("fill the page: %w", err))
		return
	}
	guarded(w)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	// A caller that is gone cannot be told so.
	_, _ = w.Write(filled.Bytes())
}

// asset serves a file beside the page. Lists of files, and templates, are none.
func (s *Server) asset(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/assets/")
	if !fs.ValidPath(name) || path.Ext(name) == ".html" {
		nothing(w, r)
		return
	}
	if about, err := fs.Stat(s.Page, name); err != nil || !about.Mode().IsRegular() {
		nothing(w, r)
		return
	}
	guarded(w)
	http.ServeFileFS(w, r, s.Page, name)
}

// guarded lets the page load and send nothing from or to elsewhere.
func guarded(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
}
