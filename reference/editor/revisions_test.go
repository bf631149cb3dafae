package editor

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
)

// callOf calls over HTTP.
func (w *world) callOf(session *mcp.ClientSession, tool string, a args) reply {
	w.t.Helper()
	r, err := session.CallTool(w.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: a})
	if err != nil {
		w.t.Fatal(err)
	}
	raw, err := json.Marshal(r.StructuredContent)
	if err != nil {
		w.t.Fatal(err)
	}
	out := reply{IsError: r.IsError, raw: string(raw), content: raw}
	if err := json.Unmarshal(raw, &out); err != nil {
		w.t.Fatal(err)
	}
	return out
}

// A lost answer is recovered over HTTP as over stdio, with sessions and without;
// the editor is the same for all who call.
func TestALostAnswerIsRecoveredOverHTTP(t *testing.T) {
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			g, w := NewWithT(t), start(t, "http")
			first, leave := w.connected(revision)
			g.Expect(w.callOf(first, ports.GetDraft, args{"draftId": "trip-1"})).To(And(HaveField("Revision", 2), HaveField("State", ports.Saved)))
			w.trips.falls(http.MethodPatch, "/trip-1", trouble{lose: true})
			r := w.callOf(first, ports.UpdateDraft, update("c-1", 2, args{"destination": "BOS"}))
			g.Expect(r).To(And(HaveField("Outcome", ports.Unknown), HaveField("IsError", true), HaveField("Recheck.Tool", ports.RecheckUpdate)), r.raw)
			leave()
			second, leave := w.connected(revision)
			defer leave()
			w.types("purpose", "mine")
			g.Expect(w.callOf(second, ports.SubmitTrip, submit("c-2", 3)).Code).To(Equal(ports.CodeUnresolved))
			r = w.callOf(second, ports.RecheckUpdate, about("c-1"))
			g.Expect(r).To(And(HaveField("Outcome", ports.Confirmed), HaveField("ToRevision", 3), HaveField("IsError", false)), r.raw)
			g.Expect(w.sees("trip-1")).To(And(HaveField("Fields.Destination", "BOS"), HaveField("Fields.Purpose", "mine"), HaveField("State", ports.UnsavedChanges)))
			g.Expect(w.trips.count(http.MethodPatch, "/trip-1")).To(Equal(1))
		})
	}
}

func TestTheToolsAreToldAlike(t *testing.T) {
	g := NewWithT(t)
	var told []string
	for range 2 {
		w := start(t, "http")
		session, leave := w.connected("2025-11-25")
		list, err := session.ListTools(t.Context(), nil)
		g.Expect(err).NotTo(HaveOccurred())
		for _, tool := range list.Tools {
			g.Expect(tool.OutputSchema).NotTo(BeNil())
			g.Expect(tool.Annotations).NotTo(BeNil())
		}
		raw, err := json.Marshal(list.Tools)
		g.Expect(err).NotTo(HaveOccurred())
		told = append(told, string(raw))
		leave()
	}
	g.Expect(told[0]).To(Equal(told[1]), "at every start")
}
