package workflows

import (
	"net/url"
	"strings"

	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

var forged = []suites.Test{
	{
		ID: "WF-24/forged-references", Clauses: []string{"WF-24"},
		Title:   "status, resume and cancel refuse every forged reference, and no file outside the store is opened or made",
		Missing: noOperationFiles,
		Drive: on(func(s *scene) {
			s.begin()
			id := s.start(s.step("write"))
			s.settle(id)
			s.forge(id)
		}),
		Judge: judge.ForgedRefused,
	},
}

// forge asks with every forged reference about an operation that is stored, and with
// its own reference in the end.
func (s *scene) forge(id string) {
	decoys := s.Decoys(id)
	s.LookAtNames(before)
	opened := decoys.Watch()
	defer opened.Close()
	for _, f := range forgeries(id, decoys.Relative, decoys.Absolute) {
		for _, role := range []string{"status", "resume", "cancel"} {
			s.server.Do(world.Act{Role: role, Params: s.bound(own, "operation_id", f.reference, "forged", f.what)})
		}
	}
	opened.Look("forged")
	s.LookAtNames(after)
	s.ask("status", id, converged)
	opened.Look("legal")
	decoys.Open()
	opened.Look("control")
}

// forgery is a reference that was never issued.
type forgery struct{ what, reference string }

// forgeries are references that were never issued and lead somewhere else, or nearly
// to an operation. id is one that was issued; relative and absolute lead to a copy of
// it outside the store.
func forgeries(id, relative, absolute string) []forgery {
	up := strings.Repeat("../", 12) + strings.TrimPrefix(absolute, "/")
	like := func(old, new string) string { return strings.ReplaceAll(relative, old, new) }
	encoded := url.PathEscape(strings.ReplaceAll(relative, ".", "%2e"))
	all := []forgery{
		{"a relative path", relative},
		{"one folder up", "../" + id},
		{"one folder up, with an ending", "../" + id + ".json"},
		{"a relative path with an ending", relative + ".json"},
		{"up to the root and down", up},
		{"down and up", "x/../../" + id},
		{"here", "./" + id},
		{"through itself", id + "/../" + id},
		{"an absolute path", absolute},
		{"an absolute path with an ending", absolute + ".json"},
		{"an absolute path with two slashes", "/" + absolute},
		{"a slash in front", "/" + id},
		{"a slash behind", id + "/"},
		{"a slash and a dot behind", id + "/."},
		{"a file URL", "file://" + absolute},
		{"backslashes", like("/", `\`)},
		{"backslashes and slashes", like("/", `\/`)},
		{"doubled dots and slashes", like("../", "....//")},
		{"percent-encoded slashes", like("/", "%2f")},
		{"percent-encoded dots", like("..", "%2E%2e")},
		{"percent-encoded", strings.ReplaceAll(like("/", "%2F"), ".", "%2E")},
		{"percent-encoded twice", encoded},
		{"an over-long encoding of dots", like("..", "%c0%ae%c0%ae")},
		{"an encoding of 16 bits", like("..", "%u002e%u002e")},
		{"an encoded NUL", relative + "%00"},
		{"a NUL behind", id + "\x00"},
		{"a NUL behind a path", relative + "\x00"},
		{"a NUL and an ending", relative + "\x00.json"},
		{"a NUL in front", "\x00" + id},
		{"full-width dots and slashes", strings.ReplaceAll(like(".", "．"), "/", "／")},
		{"division slashes", like("/", "∕")},
		{"fraction slashes", like("/", "⁄")},
		{"leader dots", like(".", "․")},
		{"a full-width letter", "ｗ" + id[1:]},
		{"a Cyrillic letter", id[:len(id)-1] + "а"},
		{"a zero-width space inside", id[:len(id)/2] + "\u200b" + id[len(id)/2:]},
		{"a byte order mark in front", "\ufeff" + id},
		{"a right-to-left override in front", "\u202e" + id},
		{"a combining accent behind", id + "\u0301"},
		{"upper case", strings.ToUpper(id)},
		{"a line end behind", id + "\n"},
		{"a carriage return and a line end behind", id + "\r\n"},
		{"a line end in front", "\n" + id},
		{"a space behind", id + " "},
		{"a space in front", " " + id},
		{"a tabulator behind", id + "\t"},
		{"a dot behind", id + "."},
		{"the name of a checkpoint", id + ".json"},
		{"the name of a lock", id + ".lock"},
		{"one character less", id[:len(id)-1]},
		{"one character more", id + "a"},
		{"the prefix alone", "wf_"},
		{"twice", id + id},
		{"a hundred times", strings.Repeat(id, 100)},
		{"as long as a name may be", "wf_" + strings.Repeat("a", 252)},
		{"longer than a name may be", "wf_" + strings.Repeat("a", 253)},
		{"longer than a path may be", strings.Repeat("a/", 2040) + "x"},
		{"nothing", ""},
		{"this folder", "."},
		{"the folder above", ".."},
		{"the root", "/"},
		{"a pattern for all", "*"},
		{"a pattern for its own", id[:4] + "*"},
		{"a home", "~/" + id},
		{"a variable", "$HOME/" + id},
		{"a command", "$(cat " + absolute + ")"},
		{"a device", "/dev/null"},
		{"a device of Windows", "NUL"},
		{"a device of Windows with an ending", "CON.json"},
		{"a stream of Windows", id + "::$DATA"},
		{"a share", `\\127.0.0.1\c$\` + id},
		{"a process's memory of its caller", "/proc/self/environ"},
		{"JSON", `{"operation":"` + id + `"}`},
		{"a query", "' OR '1'='1"},
	}
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].reference == id { // an ID without letters has no upper case
			all = append(all[:i], all[i+1:]...)
		}
	}
	return all
}
