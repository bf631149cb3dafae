package world

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// Canary is a word that is looked for in whatever the target leaves.
type Canary struct{ Name, Word string }

// OutsideToken is the token that the server shows to the outside service. False
// where that is not the fixture chat, whose token is nobody's secret.
func (w *World) OutsideToken() (string, bool) {
	spec := w.Target.Processes[w.Target.Wires[OutsideWire].To]
	path, err := w.known(nil).Expand(spec.Env["CHAT_TOKEN_FILE"])
	if spec.Fixture != "chat" || path == "" || err != nil {
		return "", false
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		Broken("reading the token of the outside service: %v", err)
	}
	return strings.TrimSpace(string(raw)), true
}

// LookForCanaries searches every file below the world's folder and the log of every
// process, whose processes have ended, and records in how many texts each canary
// was found, by where they belong: the private store, the outside service, the
// audit log, a log, or another file.
func (w *World) LookForCanaries(when string, canaries []Canary) {
	texts := map[string][][]byte{} // by source
	var names []string
	add := func(source, path string) error {
		raw, err := os.ReadFile(path)
		if !slices.Contains(names, source) {
			names = append(names, source)
		}
		texts[source] = append(texts[source], raw)
		return err
	}
	private := w.operationFiles()
	err := w.eachFile(func(rel, path string) error { return add(w.belongs(rel, path, private), path) })
	logs, _ := filepath.Glob(filepath.Join(w.config.Folder, "*.log")) // the pattern is a good one
	for _, path := range logs {
		if err != nil {
			break
		}
		source := "log"
		if strings.TrimSuffix(filepath.Base(path), ".log") == w.Target.Wires[OutsideWire].To {
			source = sourceOutside
		}
		err = add(source, path)
	}
	look := history.Look{Surface: history.SurfaceStore, Probe: "canaries", When: when, Rows: []map[string]any{}}
	if err != nil {
		look.Error = fmt.Sprintf("searching for canaries: %v", err)
	}
	for _, canary := range canaries {
		sought := target.NewRedactor(canary.Word)
		for _, source := range names {
			found := 0
			for _, text := range texts[source] {
				if holds(sought, text) {
					found++
				}
			}
			look.Rows = append(look.Rows, map[string]any{"canary": canary.Name, "source": source, "texts": len(texts[source]), "found": found})
		}
	}
	w.config.Recorder.Record(history.Event{Kind: history.KindLook, Look: &look})
}

// sourceOutside is what belongs to the outside service.
const sourceOutside = "outside"

// belongs says to whom a file below the world's folder belongs.
func (w *World) belongs(rel, path string, private []string) string {
	if slices.Contains(private, path) {
		return "store"
	}
	scope := w.known(nil)
	for _, value := range w.Target.Processes[w.Target.Wires[OutsideWire].To].Env {
		if named, err := scope.Expand(value); err == nil && named == path {
			return sourceOutside
		}
	}
	if audit, err := scope.Expand(w.Target.Profiles.Workflows.Probes["audit"].File); err == nil && audit == path {
		return "audit"
	}
	return "file " + rel
}

// holds says whether a word is in a text, however it is encoded. Lines are looked at
// one by one, because what is one JSON value is decoded.
func holds(word *target.Redactor, text []byte) bool {
	mark := []byte(target.Redacted)
	for line := range bytes.Lines(text) {
		if bytes.Count(word.Redact(line), mark) > bytes.Count(line, mark) {
			return true
		}
	}
	return false
}
