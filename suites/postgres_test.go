package suites_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/fixtures/postgres"
	"github.com/holdfast-mcp/holdfast/reports/gate"
	"github.com/holdfast-mcp/holdfast/reports/render"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
	"github.com/holdfast-mcp/holdfast/suites"
)

// Specs on a target with a PostgreSQL are not-run where there is none, the gate does
// not pass, and run, list and doctor say what to install.
func TestATargetWithAPostgreSQLNeedsOne(t *testing.T) {
	g := NewWithT(t)
	bare(t)
	bin := t.TempDir()
	t.Setenv(postgres.FolderVariable, bin)
	path := filepath.Join(t.TempDir(), "stored.yaml")
	text := strings.Replace(builtin["other"], "name: other", "name: stored", 1)
	text = strings.Replace(text, "processes: {", "processes: {postgres: {fixture: postgres}, ", 1)
	g.Expect(text).To(ContainSubstring("fixture: postgres"))
	g.Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
	const lacks = "process postgres needs PostgreSQL: HOLDFAST_POSTGRES is "
	told := func(target string) (settled, doctor string, err error) {
		l, err := harness().List(target)
		g.Expect(err).NotTo(HaveOccurred())
		for _, s := range l.Specs {
			if s.ID == "DU-01/passes" {
				settled = s.Settled + ": " + s.Reason
			}
		}
		d, err := harness().Diagnose(t.Context(), "", nil, watch{})
		g.Expect(err).NotTo(HaveOccurred())
		_, err = harness().Diagnose(t.Context(), target, nil, watch{})
		return settled, d.Text(render.Screen{}), err
	}

	settled, doctor, err := told(path)
	g.Expect(settled).To(HavePrefix("not-run: " + lacks + bin))
	g.Expect(doctor).To(ContainSubstring("– PostgreSQL: not in " + bin + " (HOLDFAST_POSTGRES)\n      only targets with the fixture postgres need it; install postgresql, such as with apt-get install postgresql\n"))
	g.Expect(err).To(MatchError(ContainSubstring("cannot be tried: " + lacks)))
	r, _ := run(t, func(o *suites.RunOptions) { o.Targets = []string{path} }, "DU-01/*")
	g.Expect(verdicts(r)).To(Equal(map[string]verdict.Verdict{"DU-01/passes": verdict.NotRun, "DU-01/passes-too": verdict.NotRun}))
	g.Expect(r.Gate.ExitCode).To(Equal(gate.Incomplete))

	// Other targets have no use for one.
	settled, _, _ = told("other")
	g.Expect(settled).To(Equal(": "))

	for name, says := range map[string]string{"initdb": "", "postgres": "postgres (PostgreSQL) 15.18 (Debian)"} {
		g.Expect(os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\necho '"+says+"'\n"), 0o755)).To(Succeed())
	}
	settled, doctor, _ = told(path)
	g.Expect(settled).To(Equal(": "))
	g.Expect(doctor).To(ContainSubstring("✓ PostgreSQL: 15.18 in " + bin + "\n"))
}
