package reference

import (
	"os"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestWhatKeepsAClauseIsInTheCode(t *testing.T) {
	g := NewWithT(t)
	for clause, symbols := range kept {
		for _, s := range symbols {
			g.Expect(declared().at).To(HaveKey(s), "reference/kept.go says that %s is kept by %s, which is not declared: name what keeps it now", clause, s)
			g.Expect(declared().twice).NotTo(ContainElement(s), "two packages declare %s", s)
		}
	}
}

func TestAPlaceIsWhereTheDeclarationStands(t *testing.T) {
	g := NewWithT(t)
	places := Keeping("WR-16")
	g.Expect(places).To(HaveLen(2))
	for i, begins := range []string{"func (w *work) buryMissing(", "func openWork("} {
		file, line, _ := strings.Cut(strings.TrimPrefix(places[i].At, "reference/"), ":")
		text, err := os.ReadFile(file)
		g.Expect(err).NotTo(HaveOccurred())
		n, err := strconv.Atoi(line)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(strings.Split(string(text), "\n")[n-1]).To(HavePrefix(begins))
	}
}

func TestWhereTheTableIsSilentCommentsSpeak(t *testing.T) {
	g := NewWithT(t)
	named := kept["WF-02"]
	delete(kept, "WF-02") // every clause that is judged is in the table
	defer func() { kept["WF-02"] = named }()
	g.Expect(Keeping("WF-02")).NotTo(BeEmpty())
	g.Expect(Keeping("XX-99")).To(BeEmpty())
}
