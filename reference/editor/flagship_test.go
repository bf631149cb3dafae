package editor

import (
	"net/http"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
)

func TestTheNormalPath(t *testing.T) {
	g, w := NewWithT(t), start(t, "stdio")
	r := w.get("trip-1")
	g.Expect(r).To(And(HaveField("Revision", 2), HaveField("State", ports.Saved), HaveField("HasUnsavedChanges", false), HaveField("IsError", false)), r.raw)
	r = w.call(ports.UpdateDraft, update("c-1", 2, args{"destination": "BOS"}))
	g.Expect(r.Answer).To(Equal(ports.Answer{Outcome: ports.Confirmed, CommandID: "c-1", DraftID: "trip-1", FromRevision: 2, ToRevision: 3}), r.raw)
	g.Expect(w.sees("trip-1")).To(And(HaveField("User", "ada"), HaveField("Revision", 3), HaveField("Fields.Destination", "BOS"), HaveField("State", ports.Saved)))
	r = w.call(ports.SubmitTrip, submit("c-2", 3))
	g.Expect(r.Answer).To(Equal(ports.Answer{Outcome: ports.Confirmed, CommandID: "c-2", DraftID: "trip-1", FromRevision: 3, ToRevision: 4}), r.raw)
	g.Expect(w.get("trip-1").Status).To(Equal("submitted"))
	g.Expect(w.call(ports.UpdateDraft, update("c-3", 4, args{"destination": "JFK"})).Answer).To(And(HaveField("Outcome", ports.Refused), HaveField("Code", ports.CodeSubmitted)))
}

// The flagship: the answer is lost behind the commit, the receipt is hidden for a
// while, and the person goes on typing (RC-25).
func TestALostAnswerIsRecovered(t *testing.T) {
	g, w := NewWithT(t), start(t, "stdio")
	w.get("trip-1")
	w.trips.falls(http.MethodPatch, "/trip-1", trouble{lose: true})
	r := w.call(ports.UpdateDraft, update("audit", 2, args{"destination": "BOS"}))
	g.Expect(r.Answer).To(And(HaveField("Outcome", ports.Unknown), HaveField("CommandID", "audit"), HaveField("Code", ports.CodeAnswerLost)), r.raw)
	g.Expect(r.IsError).To(BeTrue())
	g.Expect(r.Recheck).To(Equal(&ports.Pointer{Tool: ports.RecheckUpdate, Draft: "trip-1", Command: "audit"}))
	g.Expect(w.trips.draft("trip-1")).To(And(HaveField("Revision", 3), HaveField("Destination", "BOS")), "it was applied")
	sees := w.sees("trip-1")
	g.Expect(sees).To(And(HaveField("Revision", 2), HaveField("Fields.Destination", "JFK"), HaveField("State", ports.OutcomeUnknown)), "and nothing claims so")
	g.Expect(sees.Unresolved).To(Equal(&ports.Attached{CommandID: "audit", Kind: ports.Update}))

	g.Expect(w.types("purpose", "typed meanwhile")).To(And(HaveField("Fields.Purpose", "typed meanwhile"), HaveField("State", ports.OutcomeUnknown)))
	w.trips.falls(http.MethodGet, "/commands/audit", trouble{hide: true})
	r = w.call(ports.RecheckUpdate, about("audit"))
	g.Expect(r.Answer).To(And(HaveField("Outcome", ports.Unknown), HaveField("CommandID", "audit"), HaveField("Code", ports.CodeNoReceipt)), r.raw)

	w.trips.lift()
	r = w.call(ports.RecheckUpdate, about("audit"))
	g.Expect(r.Answer).To(Equal(ports.Answer{Outcome: ports.Confirmed, CommandID: "audit", DraftID: "trip-1", FromRevision: 2, ToRevision: 3}), r.raw)
	g.Expect(w.sees("trip-1")).To(And(HaveField("Revision", 3), HaveField("Fields.Destination", "BOS"), HaveField("Fields.Purpose", "typed meanwhile"), HaveField("State", ports.UnsavedChanges)))
	r = w.get("trip-1")
	g.Expect(r).To(And(HaveField("Saved.Destination", "BOS"), HaveField("Saved.Purpose", "Workshop"), HaveField("HasUnsavedChanges", true)), r.raw)
	g.Expect(w.trips.count(http.MethodPatch, "/trip-1")).To(Equal(1))
	g.Expect(w.trips.draft("trip-1").Purpose).To(Equal("Workshop"))
}
