package world

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/holdfast-mcp/holdfast/fixtures/account"
	"github.com/holdfast-mcp/holdfast/fixtures/launch"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// Leaks counts tokens and keys of the accounts in what is about to be kept, by
// its source: they are taken out of every artefact, so that nothing else would
// tell that they had been there (WR-38). It is safe for concurrent use; nil
// counts nothing.
type Leaks struct {
	secrets *target.Redactor

	mu   sync.Mutex
	seen map[string]leaked
}

// leaked is what was looked at of one source, in texts, and how many secrets
// stood there.
type leaked struct{ texts, found int }

// NewLeaks looks for the secrets of accounts, however they are encoded.
func NewLeaks(accounts account.Accounts) *Leaks {
	var words []string
	for _, a := range accounts.Accounts {
		words = append(words, a.Token, string(a.Key), base64.StdEncoding.EncodeToString(a.Key))
	}
	return &Leaks{secrets: target.NewRedactor(words...), seen: map[string]leaked{}}
}

// in is how many secrets stand in a text.
func (l *Leaks) in(text []byte) int {
	mark := []byte(target.Redacted)
	return bytes.Count(l.secrets.Redact(text), mark) - bytes.Count(text, mark)
}

func (l *Leaks) note(source string, text []byte) {
	found := l.in(text)
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.seen[source]
	l.seen[source] = leaked{was.texts + 1, was.found + found}
}

// OfHistory counts what stands in the events of a history, by their kind, before
// redact takes it out.
func (l *Leaks) OfHistory(redact func([]byte) []byte) func([]byte) []byte {
	return l.before(redact, func(line []byte) string {
		var e struct {
			Kind history.Kind `json:"kind"`
		}
		_ = json.Unmarshal(line, &e) // the recorder writes events
		return string(e.Kind)
	})
}

// OfLog counts what stands in the output of a process before redact takes it out.
func (l *Leaks) OfLog(name string, redact func([]byte) []byte) func([]byte) []byte {
	return l.before(redact, func([]byte) string { return "log of " + name })
}

func (l *Leaks) before(redact func([]byte) []byte, source func([]byte) string) func([]byte) []byte {
	if l == nil {
		return redact
	}
	return func(text []byte) []byte {
		l.note(source(text), text)
		if redact == nil {
			return text
		}
		return redact(text)
	}
}

// secretControl is the process whose output holds a token on purpose.
const secretControl = "secret-control"

// ShowSecrets lets a token stand where its finding is expected: in a mark of the
// history, and in the output of a process. It is the control of LookAtSecrets.
func (w *World) ShowSecrets() {
	first := w.config.Accounts.Accounts[0]
	w.Mark(secretControl, map[string]any{"token": first.Token})
	env, err := launch.Private(w.dir, nil)
	if err != nil {
		Broken("showing a token on purpose: %v", err)
	}
	shows := launch.Command{
		Name: secretControl, Argv: []string{"cat", w.tokenFile(first)}, Dir: w.dir, Env: env,
		Log:    filepath.Join(w.config.Folder, secretControl+".log"),
		Redact: w.config.Leaks.OfLog(secretControl, w.config.Redact),
	}
	running, err := w.config.Run.Start(w.ctx, shows, w.config.Recorder, 1)
	if err != nil {
		Broken("showing a token on purpose: %v", err)
	}
	select {
	case <-running.Done():
	case <-w.ctx.Done():
		Broken("showing a token on purpose: the process did not end: %v", w.ctx.Err())
	}
}

func (w *World) tokenFile(a account.Account) string {
	return filepath.Join(w.dir, "account-"+a.Name+".token")
}

// LookAtSecrets records how many tokens and keys of the accounts were found by
// source: in the kinds of event of the history and in the logs before they were
// taken out, in the files of the sidecar and of the report, and where they may
// be, in the file of the token. The processes whose logs are meant have ended.
func (w *World) LookAtSecrets(when string) {
	l := w.config.Leaks
	if l == nil {
		Broken("nobody counts what is taken out of the artefacts")
	}
	look := history.Look{Surface: history.SurfaceStore, Probe: "secrets", When: when}
	add := func(source string, texts, found int) {
		look.Rows = append(look.Rows, map[string]any{"source": source, "texts": texts, "found": found})
	}
	l.mu.Lock()
	seen := maps.Clone(l.seen)
	l.mu.Unlock()
	for _, source := range slices.Sorted(maps.Keys(seen)) {
		add(source, seen[source].texts, seen[source].found)
	}
	files := map[string]string{"token file": w.tokenFile(w.config.Accounts.Accounts[0])}
	for _, file := range w.store("sidecar") {
		files["file "+filepath.Base(file)] = file
	}
	kept, err := os.ReadDir(w.config.Folder)
	for _, entry := range kept {
		if entry.Type().IsRegular() {
			files["report's "+entry.Name()] = filepath.Join(w.config.Folder, entry.Name())
		}
	}
	for _, source := range slices.Sorted(maps.Keys(files)) {
		data, failed := os.ReadFile(files[source])
		if failed != nil {
			err = failed
			continue
		}
		add(source, 1, l.in(data))
	}
	if err != nil {
		look.Error = fmt.Sprintf("searching for secrets: %v", err)
	}
	w.config.Recorder.Record(history.Event{Kind: history.KindLook, Look: &look})
}
