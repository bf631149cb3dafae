package holdfast_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/fixtures/targets"
	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/gate"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
	"github.com/holdfast-mcp/holdfast/suites/clauses"
	"github.com/holdfast-mcp/holdfast/suites/durability"
	"github.com/holdfast-mcp/holdfast/suites/workrecords"
)

// The documents say what is true of the code, or a test of this file says which
// line is not.

// written are the documents that are written by hand.
var written = []string{"README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/findings.md", "docs/init.md", "docs/report.md", "docs/target-file.md"}

// document reads one document, and fails where it is nearly empty.
func document(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) < 500 {
		t.Fatalf("%s has only %d bytes: a document is missing", path, len(text))
	}
	return string(text)
}

// fence is one fenced block with the prose line before it.
type fence struct {
	language, before, text string
	line                   int
}

// fences are the fenced blocks of a document, and prose is the rest of it.
func fences(text string) (blocks []fence, prose string) {
	var rest []string
	var open *fence
	before := ""
	for n, line := range strings.Split(text, "\n") {
		language, fenced := strings.CutPrefix(line, "```")
		switch {
		case fenced && open == nil:
			open = &fence{language: language, before: before, line: n + 1}
		case fenced:
			blocks, open = append(blocks, *open), nil
		case open != nil:
			open.text += line + "\n"
		default:
			rest = append(rest, line)
			if strings.TrimSpace(line) != "" {
				before = line
			}
		}
	}
	return blocks, strings.Join(rest, "\n")
}

// blocks are the fenced blocks of a language.
func blocks(t *testing.T, path, language string) []fence {
	t.Helper()
	all, _ := fences(document(t, path))
	found := slices.DeleteFunc(all, func(f fence) bool { return f.language != language })
	if len(found) == 0 {
		t.Fatalf("%s has no block of %s", path, language)
	}
	return found
}

// table is the rows of the table below a heading, without its head, cell by cell.
func table(t *testing.T, path, heading string) [][]string {
	t.Helper()
	_, after, found := strings.Cut(document(t, path), "\n"+heading+"\n")
	if !found {
		t.Fatalf("%s has no heading %q", path, heading)
	}
	var rows [][]string
	for line := range strings.Lines(after) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") || (len(rows) > 0 && !strings.HasPrefix(line, "|")) {
			break
		}
		if strings.HasPrefix(line, "|") {
			cells := strings.Split(strings.Trim(line, "|"), " | ")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			rows = append(rows, cells)
		}
	}
	if len(rows) < 3 {
		t.Fatalf("%s has no table below %q", path, heading)
	}
	return rows[2:]
}

// first are the first cells of rows, without their backticks.
func first(rows [][]string) []string {
	var out []string
	for _, row := range rows {
		out = append(out, strings.Trim(row[0], "`"))
	}
	return out
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

func TestLinksLeadSomewhere(t *testing.T) {
	anchorsOf := map[string][]string{}
	for _, path := range append(slices.Clone(written), "docs/contract.md", "docs/clauses.md", "docs/outside.md", "docs/receipts.md", "docs/sidecar.md", "docs/trips.md", "docs/workflows.md", "fixtures/thirdparty/README.md") {
		_, prose := fences(document(t, path))
		for _, m := range link.FindAllStringSubmatch(prose, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			to := path
			if file != "" {
				to = filepath.Join(filepath.Dir(path), filepath.FromSlash(file))
			}
			info, err := os.Stat(to)
			if err != nil {
				t.Errorf("%s links to %s, which is not there", path, m[1])
				continue
			}
			if anchor != "" && !info.IsDir() && anchorsOf[to] == nil {
				anchorsOf[to] = anchors(document(t, to))
			}
			if anchor != "" && !slices.Contains(anchorsOf[to], anchor) {
				t.Errorf("%s links to %s, and %s has no such heading", path, m[1], to)
			}
		}
	}
}

var (
	named   = regexp.MustCompile(`<a id="([^"]+)">`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N}\- _]`)
)

// anchors are what a link into a document may name.
func anchors(text string) []string {
	var all []string
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		all = append(all, strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return all
}

var inBackticks = regexp.MustCompile("`([^`]+)`")

// A path in backticks that begins with a folder of the tree is there.
func TestNamedPathsExist(t *testing.T) {
	tops := []string{"cmd", "suites", "faults", "fixtures", "reports", "reference", "docs", "scripts"}
	for _, path := range written {
		_, prose := fences(document(t, path))
		for _, m := range inBackticks.FindAllStringSubmatch(prose, -1) {
			top, below, deep := strings.Cut(m[1], "/")
			if !deep || below == "" || !slices.Contains(tops, top) || strings.ContainsAny(m[1], "* ") {
				continue
			}
			if _, err := os.Stat(filepath.FromSlash(m[1])); err != nil {
				t.Errorf("%s names %s, which is not there", path, m[1])
			}
		}
	}
}

var quotes = regexp.MustCompile("In `([^`]+)`:$")

// A block behind "In `file`:" stands in that file as it is quoted.
func TestQuotedCodeIsTheCode(t *testing.T) {
	quoted := 0
	for _, path := range written {
		all, _ := fences(document(t, path))
		for _, f := range all {
			m := quotes.FindStringSubmatch(f.before)
			if m == nil {
				continue
			}
			quoted++
			code, err := os.ReadFile(filepath.FromSlash(m[1]))
			if err != nil {
				t.Error(err)
				continue
			}
			if !strings.Contains(string(code), f.text) {
				t.Errorf("%s:%d quotes %s, where these lines do not stand any more; quote it anew:\n%s", path, f.line, m[1], f.text)
			}
		}
	}
	if quoted < 5 {
		t.Errorf("only %d blocks quote code: this test looks at the wrong lines", quoted)
	}
}

var made = regexp.MustCompile("(?:^|`)make ([a-z]+)")

func TestMakeTargetsExist(t *testing.T) {
	makefile := document(t, "Makefile")
	seen := 0
	for _, path := range append(slices.Clone(written), "docs/target-file.md", "fixtures/thirdparty/README.md") {
		for line := range strings.Lines(document(t, path)) {
			for _, m := range made.FindAllStringSubmatch(line, -1) {
				seen++
				if !strings.Contains(makefile, "\n"+m[1]+":") {
					t.Errorf("%s names `make %s`, which the Makefile does not have", path, m[1])
				}
			}
		}
	}
	if seen < 5 {
		t.Errorf("only %d make targets were found: this test looks at the wrong lines", seen)
	}
}

func TestVerdictsAreThoseOfTheCode(t *testing.T) {
	var want []string
	for _, v := range verdict.All() { // worst first, as the table says
		want = append(want, string(v))
	}
	if got := first(table(t, "README.md", "## Verdicts")); !slices.Equal(got, want) {
		t.Errorf("README.md, Verdicts: got %q, the code has %q", got, want)
	}
}

func TestExitCodesAreThoseOfTheCode(t *testing.T) {
	codes := []int{gate.Passed, gate.Violation, gate.Usage, gate.Incomplete, gate.Stale, gate.Inconclusive, gate.Interrupted}
	slices.Sort(codes)
	var want, got []string
	for _, code := range codes {
		want = append(want, fmt.Sprintf("%d %s", code, gate.Word(code)))
	}
	for _, row := range table(t, "README.md", "## Exit codes") {
		got = append(got, row[0]+" "+row[1])
	}
	if !slices.Equal(got, want) {
		t.Errorf("README.md, Exit codes: got %q, the code has %q", got, want)
	}
	// Which one stands, tried one against the next.
	readme := document(t, "README.md")
	m := regexp.MustCompile(`the first of ([\d, ]+) stands; (\d+) stands over all`).FindStringSubmatch(readme)
	if m == nil {
		t.Fatal("README.md does not say which exit code stands where several hold")
	}
	order := strings.Split(m[1], ", ")
	for i := range order[1:] {
		if before, after := number(t, order[i]), number(t, order[i+1]); gate.Worst(after, before) != before {
			t.Errorf("README.md says that %d stands before %d, and the gate takes %d", before, after, gate.Worst(after, before))
		}
	}
	if all := append(codes[:len(codes)-1:len(codes)-1], number(t, m[2])); len(order) != len(codes)-2 || gate.Worst(all...) != number(t, m[2]) {
		t.Errorf("README.md leaves a code out, or %s does not stand over all: %q", m[2], order)
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestStagesAreThoseOfTheCode(t *testing.T) {
	var want []string
	for _, s := range history.Stages() {
		want = append(want, string(s))
	}
	readme := document(t, "README.md")
	if line := strings.Join(want, " → "); !strings.Contains(readme, "\n"+line+"\n") {
		t.Errorf("README.md does not have the line %q", line)
	}
	if got := first(table(t, "README.md", "## How a fault is proven")); !slices.Equal(got, want) {
		t.Errorf("README.md, table of stages: got %q, the code has %q", got, want)
	}
	for _, f := range blocks(t, "README.md", "json") {
		var fault reports.Fault
		decoder := json.NewDecoder(strings.NewReader(f.text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&fault); err != nil {
			t.Fatalf("README.md:%d is no entry of faults[]: %v", f.line, err)
		}
		var got []string
		for _, s := range fault.Stages {
			got = append(got, s.Stage)
		}
		if !slices.Equal(got, want) {
			t.Errorf("README.md:%d: the fault came to %q, expected %q", f.line, got, want)
		}
	}
}

func TestTheTargetFileOfTheReadmeIsOne(t *testing.T) {
	found := 0
	for _, f := range blocks(t, "README.md", "yaml") {
		if !strings.HasPrefix(f.text, "holdfast: ") {
			continue
		}
		found++
		file, err := target.Parse("README.md", []byte(f.text))
		if err != nil {
			t.Errorf("README.md:%d: %v", f.line, err)
			continue
		}
		if err := file.CheckIsolation(nil); err != nil {
			t.Errorf("README.md:%d: %v", f.line, err)
		}
		for _, s := range durability.Tests() {
			if s.Missing != nil && s.Missing(file) != "" {
				t.Errorf("README.md:%d: %s could not be judged: %s", f.line, s.ID, s.Missing(file))
			}
		}
	}
	if found == 0 {
		t.Error("README.md shows no target file")
	}
}

// What the README names of targets, helpers and their versions is what is there.
func TestBuiltInTargetsAreNamed(t *testing.T) {
	readme := document(t, "README.md")
	m := regexp.MustCompile("and in the binary: (.+)\\.\n").FindStringSubmatch(readme)
	if m == nil {
		t.Fatal("README.md does not list the built-in targets")
	}
	var got []string
	for _, b := range inBackticks.FindAllStringSubmatch(m[1], -1) {
		got = append(got, b[1])
	}
	slices.Sort(got)
	if !slices.Equal(got, targets.Names()) {
		t.Errorf("README.md lists the built-in targets %q, there are %q", got, targets.Names())
	}
}

// The servers that docs/findings.md tells of are those that are installed, in that
// version.
func TestFindingsAreOfWhatIsInstalled(t *testing.T) {
	findings := document(t, "docs/findings.md")
	installed := document(t, "fixtures/thirdparty/install.sh") + document(t, "fixtures/thirdparty/package-lock.json") + document(t, "fixtures/thirdparty/public/package-lock.json")
	told := regexp.MustCompile(`(?m)^\| `+"`"+`[a-z-]+`+"`"+` \| (?:npm )?(\S+)[@ ](v?[\d.]+) \|`).FindAllStringSubmatch(findings, -1)
	for _, h := range told {
		if !strings.Contains(installed, `"`+h[1]+`": "`+h[2]+`"`) && !strings.Contains(installed, h[1]+"@"+h[2]) {
			t.Errorf("docs/findings.md tells of %s in version %s, which is not what is installed", h[1], h[2])
		}
	}
	if len(told) != 11 {
		t.Errorf("docs/findings.md has %d rows of servers, expected 11: this test looks at the wrong lines", len(told))
	}
}

var (
	specWord = regexp.MustCompile(`\b(?:WR|RC|WF|DU)-\d\d/[a-z0-9-]+`)
	shownRow = regexp.MustCompile(`(?m)^((?:WR|RC|WF|DU)-\d\d) +\S \S+ +\d+ +(.+)$`)
)

// Every spec that is named is there, and a clause is shown under its title.
func TestSpecsAndClausesAreNamedRightly(t *testing.T) {
	specs := map[string]bool{}
	for _, s := range slices.Concat(workrecords.Tests(), durability.Tests()) {
		specs[s.ID] = true
	}
	for _, path := range written {
		text := document(t, path)
		for _, id := range specWord.FindAllString(text, -1) {
			base, part, _ := strings.Cut(id, "/")
			c, known := clauses.Current().Get(base)
			_, isPart := c.Part(part)
			if !specs[id] && !(known && isPart) {
				t.Errorf("%s names the spec %s, which is not there", path, id)
			}
		}
		for _, m := range shownRow.FindAllStringSubmatch(text, -1) {
			c, known := clauses.Current().Get(m[1])
			if !known || c.Title != m[2] {
				t.Errorf("%s shows %s as %q, its title is %q", path, m[1], m[2], c.Title)
			}
		}
	}
}

// docs/report.md names every file of a report folder and every field of report.json.
func TestTheReportIsDescribed(t *testing.T) {
	text := document(t, "docs/report.md")
	for _, name := range []string{
		reports.ReportFile, reports.PlanFile, reports.ResultsFile, reports.StartedFile, reports.JUnitFile, reports.SummaryFile, reports.HTMLFile,
		reports.TargetFile, reports.WorkersLog, reports.MutantsFile, reports.ArtifactsDir, reports.ReproDir, reports.ReproFile, reports.ReportSchema,
	} {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("docs/report.md does not name %s", name)
		}
	}
	for name := range fields(reflect.TypeFor[reports.Report](), map[string]bool{}) {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("docs/report.md does not name the field %s of report.json", name)
		}
	}
	for code := range 256 {
		if word := gate.Word(code); word != "" && !strings.Contains(text, word) {
			t.Errorf("docs/report.md does not name the gate's verdict %q", word)
		}
	}
}

// fields gathers the names of a type's fields in JSON, and of what they hold.
func fields(of reflect.Type, into map[string]bool) map[string]bool {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || of.PkgPath() != reflect.TypeFor[reports.Report]().PkgPath() {
		return into
	}
	for f := range of.NumField() {
		field := of.Field(f)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		into[name] = true
		fields(field.Type, into)
	}
	return into
}

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
	command  = regexp.MustCompile("(?m)(?:^|`)(?:bin/)?holdfast ((?:[a-z]+)\\b[^`\n]*)")
	flag     = regexp.MustCompile(`--[a-z-]+`)
	listed   = regexp.MustCompile(`(?m)^  ([a-z]+) {2,}\S`)
	loneFlag = regexp.MustCompile("`(--[a-z-]+)[^`]*`")
)

// commands are the command lines of holdfast in a document: in backticks, and
// at the beginning of a line of a block of sh.
func commands(text string) []string {
	all, prose := fences(text)
	var places []string
	for line := range strings.Lines(prose) {
		places = append(places, inBackticks.FindAllString(line, -1)...)
	}
	for _, f := range all {
		if f.language == "sh" {
			places = append(places, f.text)
		}
	}
	var found []string
	for _, place := range places {
		for _, m := range command.FindAllStringSubmatch(place, -1) {
			line, _, _ := strings.Cut(m[1], "  #")
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

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

// The checks above see what is wrong.
func TestTheReadersOfDocuments(t *testing.T) {
	text := "prose `make x` and `holdfast run --out DIR`\nIn `a.go`:\n\n```go\ncode\n```\n\n```sh\nholdfast list   # all\nbin/holdfast explain WR-06\n```\n"
	all, prose := fences(text)
	if len(all) != 2 || all[0].text != "code\n" || all[0].before != "In `a.go`:" || all[1].language != "sh" || strings.Contains(prose, "code") {
		t.Errorf("fences: got %+v and %q", all, prose)
	}
	if got, want := commands(text), []string{"run --out DIR", "list", "explain WR-06"}; !slices.Equal(got, want) {
		t.Errorf("commands: got %q, expected %q", got, want)
	}
	if got, want := anchors("# Exit codes\n<a id=\"wr-01\"></a>\n### WR-01: A start's ID\n"), []string{"wr-01", "exit-codes", "wr-01-a-starts-id"}; !slices.Equal(got, want) {
		t.Errorf("anchors: got %q, expected %q", got, want)
	}
	var none bytes.Buffer
	for name := range fields(reflect.TypeFor[reports.Gate](), map[string]bool{}) {
		none.WriteString(name + " ")
	}
	for _, want := range []string{"exit_code", "reasons", "code", "text", "without_spec"} {
		if !strings.Contains(none.String(), want) {
			t.Errorf("fields of a gate: %s is not among %s", want, none.String())
		}
	}
}
