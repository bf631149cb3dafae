package suites_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/render"
	"github.com/holdfast-mcp/holdfast/suites"
)

// A mutant that does not name such a spec is shown by the others of its clause.
func TestABrowserIsStartedForTheMutantsThatNameItsSpec(t *testing.T) {
	g := NewWithT(t)
	bare(t)
	h := harness()
	page := spec("DU-01/on-a-page", "durability")
	page.Browser = true
	h.Tests = append(h.Tests, page)
	g.Expect(outcomes(selfTest(t, suites.MutantOptions{Names: []string{"loses"}}, h))["loses"]).To(Equal("caught"))

	h.Mutants = []suites.Mutant{{Name: "folds", Breaks: "what only a page shows", Primary: "DU-01", Specs: []string{page.ID}}}
	r := selfTest(t, suites.MutantOptions{Names: []string{"folds"}}, h)
	g.Expect(outcomes(r)["folds"]).To(Equal("unclear"))
	g.Expect(r.Reasons).To(ContainElement(And(ContainSubstring(page.ID+" not-run"), ContainSubstring("apt-get install chromium"))))
}

// Specs that open a page run on the reference that has pages: of a mutant, and as the
// control of another target.
func TestSpecsThatOpenAPageRunOnTheReferenceWithPages(t *testing.T) {
	g := NewWithT(t)
	bare(t)
	h := harness()
	page := spec("DU-01/on-a-page", "durability")
	page.Browser = true
	h.Tests = append(h.Tests, page)
	plain := h.Builtin
	h.Builtin = func(name string) ([]byte, bool) {
		if name != suites.BrowserTarget {
			return plain(name)
		}
		text, ok := plain("reference")
		return []byte(strings.Replace(string(text), "name: reference", "name: "+suites.BrowserTarget, 1)), ok
	}
	targets := func(specs []reports.Spec) map[string]string {
		all := map[string]string{}
		for _, s := range specs {
			all[s.Key] = s.Target
		}
		return all
	}
	h.Mutants = []suites.Mutant{{Name: "folds", Breaks: "what only a page shows", Primary: "DU-01", Specs: []string{page.ID, "DU-01/passes"}}}
	r := selfTest(t, suites.MutantOptions{Names: []string{"folds"}}, h)
	g.Expect(targets(r.Specs)).To(Equal(map[string]string{
		"folds/DU-01/on-a-page": "reference-browser", "unmutated/reference-browser/DU-01/on-a-page": "reference-browser",
		"folds/DU-01/passes": "reference", "unmutated/reference/DU-01/passes": "reference",
	}))

	for want, selected := range map[string][]string{"reference-browser": {page.ID, "DU-01/passes"}, "reference": {"DU-01/passes"}} {
		t.Setenv("PATH", t.TempDir())
		g.Expect(os.WriteFile(filepath.Join(os.Getenv("PATH"), "chromium"), []byte("#!/bin/sh\n"), 0o755)).To(Succeed())
		all, err := h.Run(suites.RunOptions{Targets: []string{"other"}, Selection: reports.Selection{Select: selected, Level: "must"}, Out: t.TempDir(), Procs: 1})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(all[0].Control.Target).To(Equal(want))
		for _, s := range all[0].Control.Specs {
			g.Expect(s.Target).To(Equal(want))
		}
	}
}

// A spec that opens a page is not-run where there is no browser, and list and
// doctor say what to install; with one in PATH it runs.
func TestASpecThatOpensAPageNeedsABrowser(t *testing.T) {
	g := NewWithT(t)
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	t.Setenv("TMPDIR", t.TempDir())
	h := harness()
	h.Doctor = func(context.Context, suites.Setup) []suites.Step { return []suites.Step{{Name: "it starts", OK: true}} }
	page := spec("DU-01/on-a-page", "durability")
	page.Browser = true
	h.Tests = append(h.Tests, page)
	told := func() (settled, doctor string) {
		l, err := h.List("other")
		g.Expect(err).NotTo(HaveOccurred())
		for _, s := range l.Specs {
			if s.ID == page.ID {
				settled = s.Settled + ": " + s.Reason
			}
		}
		d, err := h.Diagnose(t.Context(), "other", nil, watch{})
		g.Expect(err).NotTo(HaveOccurred())
		return settled, d.Text(render.Screen{})
	}

	settled, doctor := told()
	g.Expect(settled).To(Equal("not-run: needs Chromium: there is no Chromium on this machine to open the page with: none of chromium, chromium-browser, google-chrome is in PATH; install it, such as with apt-get install chromium"))
	g.Expect(doctor).To(ContainSubstring("✗ Chromium: not found\n      only specs that open a page need it; install chromium, such as with apt-get install chromium\n"))

	g.Expect(os.WriteFile(filepath.Join(bin, "chromium-browser"), []byte("#!/bin/sh\n"), 0o755)).To(Succeed())
	settled, doctor = told()
	g.Expect(settled).To(Equal(": "))
	g.Expect(doctor).To(ContainSubstring("✓ Chromium: " + filepath.Join(bin, "chromium-browser") + "\n"))

	// A target without a page has no use for one.
	g.Expect(os.Remove(filepath.Join(bin, "chromium-browser"))).To(Succeed())
	h.Tests[len(h.Tests)-1].NotFor = func(*target.File) string { return "it has no page" }
	settled, doctor = told()
	g.Expect(settled).To(Equal("not-applicable: it has no page"))
	g.Expect(doctor).To(ContainSubstring("– Chromium: not found; not needed by this target\n"))
}
