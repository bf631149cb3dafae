package reports_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reports"
)

// replaced takes a folder and clears it, as a run does.
func replaced(folder string) error {
	h, err := reports.Take(folder)
	if err != nil {
		return err
	}
	defer h.Close()
	return h.Clear()
}

func TestOnlyWhatIsOursIsReplaced(t *testing.T) {
	g := NewWithT(t)
	folder := filepath.Join(t.TempDir(), "a", "report")
	g.Expect(replaced(folder)).To(Succeed(), "a folder that is not there is made")
	g.Expect(os.MkdirAll(folder, 0o755)).To(Succeed())
	g.Expect(replaced(folder)).To(Succeed(), "an empty one is used")
	g.Expect(folder).To(BeADirectory(), "and is not taken away")

	foreign := filepath.Join(folder, "notes.txt")
	g.Expect(os.WriteFile(foreign, []byte("mine"), 0o644)).To(Succeed())
	g.Expect(replaced(folder)).To(MatchError(ContainSubstring("name another folder with --out")))

	g.Expect(os.WriteFile(filepath.Join(folder, "plan.json"), []byte(`{"format_version": "1.2"}`), 0o644)).To(Succeed())
	g.Expect(replaced(folder)).To(HaveOccurred(), "another program's plan.json does not make it ours")

	g.Expect(reports.Write(folder, reports.PlanFile, reports.Plan{Schema: reports.PlanSchema})).To(Succeed())
	g.Expect(os.MkdirAll(filepath.Join(folder, "artifacts", "WR-01"), 0o755)).To(Succeed())
	g.Expect(replaced(folder)).To(Succeed())
	left, err := os.ReadDir(folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left).To(HaveLen(1), "the earlier report is gone, the foreign file is left")
	g.Expect(left[0].Name()).To(Equal("notes.txt"))
}

func TestTakeSaysWhatToDoWhereItCannotWrite(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "file")
	g.Expect(os.WriteFile(file, nil, 0o644)).To(Succeed())
	g.Expect(replaced(file)).To(MatchError(ContainSubstring("it is a file; name a folder with --out")))
	g.Expect(replaced(filepath.Join(file, "below"))).To(MatchError(ContainSubstring("name a folder that you may write with --out")))
}

func TestAFolderIsOneRunsAtATime(t *testing.T) {
	g := NewWithT(t)
	folder := filepath.Join(t.TempDir(), "report")
	first, err := reports.Take(folder)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = reports.Take(folder)
	g.Expect(err).To(MatchError(And(
		ContainSubstring("another run, pid "+strconv.Itoa(os.Getpid())+", is writing this folder"),
		ContainSubstring(folder), ContainSubstring("name another --out"))))
	_, err = reports.Share(folder)
	g.Expect(err).To(MatchError(ContainSubstring("is writing the report")))

	g.Expect(first.Clear()).To(Succeed())
	_, err = reports.Take(folder)
	g.Expect(err).To(HaveOccurred(), "clearing it keeps the hold")
	g.Expect(reports.Write(folder, reports.PlanFile, reports.Plan{Schema: reports.PlanSchema})).To(Succeed())
	g.Expect(first.Close()).To(Succeed())
	g.Expect(first.Close()).To(Succeed(), "closing again does nothing")
	g.Expect(filepath.Join(folder, reports.LockFile)).NotTo(BeAnExistingFile())

	second, err := reports.Take(folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(second.Close()).To(Succeed())
}

// A holder that was killed left its file and no lock.
func TestTheFileOfAKilledHolderHoldsNothing(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(folder, reports.LockFile), []byte("1\n"), 0o644)).To(Succeed())
	h, err := reports.Take(folder)
	g.Expect(err).NotTo(HaveOccurred(), "a folder with nothing but that file is an empty one")
	g.Expect(h.Close()).To(Succeed())
}

func TestAReportThatIsReadIsNotReplaced(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	one, err := reports.Share(folder)
	g.Expect(err).NotTo(HaveOccurred())
	other, err := reports.Share(folder)
	g.Expect(err).NotTo(HaveOccurred(), "any number may read it")
	g.Expect(one.Close()).To(Succeed())
	_, err = reports.Take(folder)
	g.Expect(err).To(HaveOccurred())
	g.Expect(other.Close()).To(Succeed())
	g.Expect(os.ReadDir(folder)).To(BeEmpty())

	none, err := reports.Share(filepath.Join(folder, "none"))
	g.Expect(err).NotTo(HaveOccurred(), "that there is no report is told by who reads it")
	g.Expect(none.Close()).To(Succeed())
}

func TestARunThatDidNotBeginLeavesAsMuchAsThereWas(t *testing.T) {
	g := NewWithT(t)
	fresh, used := filepath.Join(t.TempDir(), "report"), t.TempDir()
	for _, folder := range []string{fresh, used} {
		h, err := reports.Take(folder)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(reports.Write(folder, reports.PlanFile, reports.Plan{Schema: reports.PlanSchema})).To(Succeed())
		g.Expect(h.Withdraw()).To(Succeed())
		g.Expect(h.Close()).To(Succeed())
	}
	g.Expect(fresh).NotTo(BeAnExistingFile())
	g.Expect(filepath.Join(used, reports.PlanFile)).To(BeARegularFile(), "else the next run would not know it for ours")
}
