package durability

import (
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/fixtures/targets"
)

// Of a server that keeps nothing what needs no read is judged, and nothing else.
func TestWhatIsJudgedOfAServerThatKeepsNothing(t *testing.T) {
	text, _ := targets.Read("server-everything")
	f, err := target.Parse("server-everything.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	var judged []string
	for _, spec := range Tests() {
		switch why := spec.NotFor(f); {
		case why == "":
			judged = append(judged, spec.ID)
		case !strings.Contains(why, "profiles.durability.keeps") && !readless(spec.ID):
			t.Errorf("%s is not for it: %s", spec.ID, why)
		}
	}
	for _, id := range []string{"DU-08/refused", "DU-08/form", "DU-13/input-closed", "DU-14/killed", "DU-14/garbage-fed", "DU-19/told-by-structure"} {
		if !slices.Contains(judged, id) {
			t.Errorf("%s is not judged", id)
		}
	}
	for _, id := range []string{"DU-01/killed-behind-the-answer", "DU-08/no-effect", "DU-14/full-disk", "DU-21/read-back-at-once"} {
		if slices.Contains(judged, id) {
			t.Errorf("%s is judged, which reads back", id)
		}
	}
}
