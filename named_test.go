package holdfast_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/gate"
	"github.com/holdfast-mcp/holdfast/suites/clauses"
	"github.com/holdfast-mcp/holdfast/suites/durability"
	"github.com/holdfast-mcp/holdfast/suites/workrecords"
)

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
