package holdfast_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// builds is the folder of the product where it was built.
var builds string

// binary builds the product once, and ask runs it.
var binary = sync.OnceValues(func() (string, error) {
	var err error
	if builds, err = os.MkdirTemp("", "readme-*"); err != nil {
		return "", fmt.Errorf("making a folder for holdfast: %w", err)
	}
	path := filepath.Join(builds, "holdfast")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	build := exec.Command("go", "build", "-trimpath", "-o", path, "./cmd/holdfast")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		return path, fmt.Errorf("building holdfast: %w\n%s", err, said)
	}
	return path, nil
})

func ask(t *testing.T, args ...string) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(path, args...).Output()
	if err != nil {
		t.Fatalf("holdfast %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

func TestMain(m *testing.M) {
	code := m.Run()
	if builds != "" {
		os.RemoveAll(builds)
	}
	os.Exit(code)
}

var (
	flag     = regexp.MustCompile(`--[a-z-]+`)
	listed   = regexp.MustCompile(`(?m)^  ([a-z]+) {2,}\S`)
	loneFlag = regexp.MustCompile("`(--[a-z-]+)[^`]*`")
)

func TestVerbsAndFlagsExist(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the product")
	}
	var verbs []string
	_, help, _ := strings.Cut(ask(t, "--help"), "Available Commands:")
	help, _, _ = strings.Cut(help, "Flags:")
	for _, m := range listed.FindAllStringSubmatch(help, -1) {
		verbs = append(verbs, m[1])
	}
	if len(verbs) < 5 {
		t.Fatalf("only the verbs %q were found in --help", verbs)
	}
	usages := map[string]string{}
	for _, path := range written {
		for _, line := range commands(document(t, path)) {
			verb, _, _ := strings.Cut(line, " ")
			if !slices.Contains(verbs, verb) {
				t.Errorf("%s names `holdfast %s`: there is no such verb", path, line)
				continue
			}
			if usages[verb] == "" {
				usages[verb] = ask(t, verb, "--help")
			}
			for _, f := range flag.FindAllString(line, -1) {
				if !regexp.MustCompile(regexp.QuoteMeta(f) + `\b`).MatchString(usages[verb]) {
					t.Errorf("%s names `holdfast %s`: %s has no flag %s", path, line, verb, f)
				}
			}
		}
	}
	all := strings.Join(slices.Collect(maps.Values(usages)), "\n")
	for _, path := range written {
		_, prose := fences(document(t, path))
		for _, m := range loneFlag.FindAllStringSubmatch(prose, -1) {
			if !regexp.MustCompile(regexp.QuoteMeta(m[1]) + `\b`).MatchString(all) {
				t.Errorf("%s names the flag %s, which no verb has", path, m[1])
			}
		}
	}
	for _, verb := range verbs {
		if usages[verb] == "" && verb != "help" {
			t.Errorf("no document tells of the verb %s", verb)
		}
	}
}

// The exit codes that --help shows are those of the README.
func TestHelpHasTheExitCodes(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the product")
	}
	help := ask(t, "--help")
	for _, code := range first(table(t, "README.md", "## Exit codes")) {
		if !regexp.MustCompile(`(?m)^  ` + code + ` +\S`).MatchString(help) {
			t.Errorf("README.md has the exit code %s, which --help does not show", code)
		}
	}
}
