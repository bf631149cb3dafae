package page

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The modules of the page are tested where they are at home. Without a Node of
// version 20 or newer their tests are left out by name, but not with CI=true.
func TestTheModules(t *testing.T) {
	node := nodeOrSkip(t)
	files, err := filepath.Glob("tests/*.test.js") // what node makes of a folder differs between its versions
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), node, append([]string{"--test", "--test-reporter=tap"}, files...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("node --test tests/*.test.js: %v\n%s", err, out)
	}
	// A run that found no test passes too.
	passed := regexp.MustCompile(`(?m)^# pass (\d+)$`).FindSubmatch(out)
	if passed == nil {
		t.Fatalf("node --test did not say how many tests passed:\n%s", out)
	}
	if n, _ := strconv.Atoi(string(passed[1])); n < 50 {
		t.Fatalf("node --test ran %d tests, at least 50 are expected:\n%s", n, out)
	}
}

func nodeOrSkip(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err == nil {
		var version []byte
		if version, err = exec.CommandContext(t.Context(), node, "-p", "process.versions.node.split('.')[0]").Output(); err == nil {
			if major, _ := strconv.Atoi(strings.TrimSpace(string(version))); major >= 20 {
				return node
			}
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("the modules of the editor page need node of version 20 or newer; scripts/setup.sh installs one")
	}
	t.Skip("the modules of the editor page: no node of version 20 or newer")
	return ""
}

// Whatever the server says stays text, and nothing is loaded from elsewhere.
func TestTheFilesKeepToTheRules(t *testing.T) {
	forbidden := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|https?://|style="|\son[a-z]+="`)
	const namespace = `xmlns="http://www.w3.org/2000/svg"` // is a name, and loads nothing
	seen := 0
	err := fs.WalkDir(Files(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(Files(), path)
		if err != nil {
			return err
		}
		seen++
		if found := forbidden.FindString(strings.ReplaceAll(string(text), namespace, "")); found != "" {
			t.Errorf("%s has %q: the page writes text only and loads nothing from elsewhere", path, found)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 10 {
		t.Fatalf("only %d files were looked at: the walk looks at the wrong place", seen)
	}
}
