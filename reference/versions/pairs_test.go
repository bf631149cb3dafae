package versions

import (
	"fmt"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/sidecar"
)

const patience = 20 * time.Second

func TestEveryPairIsInTheTableOnce(t *testing.T) {
	g := NewWithT(t)
	pairs := Pairs()
	g.Expect(pairs).To(HaveLen(Current * Current))
	for h := 1; h <= Current; h++ {
		for a := 1; a <= Current; a++ {
			n := slices.IndexFunc(pairs, func(p Pair) bool { return p.Helper == h && p.App == a })
			g.Expect(n).To(BeNumerically(">=", 0), "helper %d, app %d", h, a)
			switch {
			case h == a:
				g.Expect(pairs[n].Outcome).To(Equal(Agrees))
			case h < a:
				g.Expect(pairs[n].Outcome).To(Equal(Repaired))
			default:
				g.Expect(pairs[n].Outcome).To(Equal(Refused))
			}
		}
	}
}

// Every pair as processes: the helper accepts while no app is there, and then
// the app comes.
func TestEveryPairWhereTheHelperIsFirst(t *testing.T) {
	for _, p := range Pairs() {
		t.Run(fmt.Sprintf("helper %d, app %d", p.Helper, p.App), func(t *testing.T) {
			w := newWorld(t)
			h := w.startHelper(p.Helper)
			accepted, isError := h.start("task")
			w.Expect(isError).To(BeFalse(), "%v", accepted)
			w.Expect(accepted.text("state")).To(Equal("queued"))
			w.Expect(accepted["materialized"]).To(BeFalse())
			id := accepted.text("item_id")
			if p.Helper == 1 {
				w.Expect(id).To(BeEmpty(), "version 1 has no ID to tell yet")
				refused, isError := h.note("item_of_nobody", "a note")
				w.Expect(isError).To(BeTrue(), "nothing follows a start of version 1: %v", refused)
			} else {
				w.Expect(id).NotTo(BeEmpty())
				_, isError = h.note(id, "a note")
				w.Expect(isError).To(BeFalse())
			}
			stop := w.startApp(p.App)
			switch p.Outcome {
			case Agrees:
				w.agrees(h, p, id)
			case Repaired:
				w.repaired(h, p, id)
			case Refused:
				w.refused(h, p, id)
				stop()
				stop = w.startApp(p.Helper) // an app of the helper's version: nothing was lost
				w.agrees(h, Pair{Helper: p.Helper, App: p.Helper}, id)
			}
			stop()
			h.leave()
		})
	}
}

// agrees: what was accepted is applied, once, and a replay tells so.
func (w *world) agrees(h *agent, p Pair, id string) {
	w.Helper()
	w.Eventually(func() string { again, _ := h.start("task"); return again.text("state") }).WithTimeout(patience).Should(Equal("applied"))
	again, isError := h.start("task")
	w.Expect(isError).To(BeFalse())
	if id != "" {
		w.Expect(again.text("item_id")).To(Equal(id), "the ID never changes")
	}
	noted := id != "" // a helper of version 1 could not accept a note
	id = again.text("item_id")
	status, all := w.records()
	w.Expect(status).To(Equal(200))
	w.Expect(all).To(HaveLen(1))
	w.Expect(all[0].ItemID).To(Equal(id))
	if noted {
		w.Eventually(func() []string { _, all := w.records(); return all[0].texts() }).WithTimeout(patience).Should(Equal([]string{"a note"}))
	}
	switch p.Helper {
	case 1:
		w.Expect(again).NotTo(HaveKey("anchor"))
		_, isError = h.note(id, "a note")
		w.Expect(isError).To(BeFalse(), "now there is an ID to follow")
	case 2:
		w.Expect(again.text("anchor")).To(Equal("provisional"), "an app of version 2 never touches it")
	case 3:
		w.Expect(again.text("anchor")).To(Equal("live"))
		w.Expect(again["materialized"]).To(BeTrue())
	}
}

// repaired: the app applies what the helper had accepted, the helper is refused
// from now on, and one of the app's version finds the record.
func (w *world) repaired(h *agent, p Pair, id string) {
	w.Helper()
	w.refuses(h, p)
	w.Eventually(func() int { _, all := w.records(); return len(all) }).WithTimeout(patience).Should(Equal(1))
	updated := w.startHelper(p.App)
	defer updated.leave()
	w.agrees(updated, Pair{Helper: p.App, App: p.App}, id)
	w.refuses(h, p)
}

// refused: the helper says so to whoever asks, and the app makes nothing.
func (w *world) refused(h *agent, p Pair, id string) {
	w.Helper()
	w.refuses(h, p)
	read, isError := h.call("work_get", map[string]any{"item_id": id})
	w.Expect(isError).To(BeTrue(), "what was accepted is not said to be on its way")
	w.Expect(read.reason()).To(namesBoth(p))
	status, _ := w.records()
	w.Expect(status).To(Equal(409))
}

// refuses: no call is accepted, each is answered with both versions, and nothing
// of it is stored.
func (w *world) refuses(h *agent, p Pair) {
	w.Helper()
	before := w.counted()
	for n, call := range []func() (answer, bool){
		func() (answer, bool) { return h.start("task") },
		func() (answer, bool) { return h.start("another task") },
		func() (answer, bool) { return h.note("any item", "refused") },
		func() (answer, bool) {
			return h.call("work_complete", map[string]any{"item_id": "any", "idempotency_key": "c"})
		},
	} {
		a, isError := call()
		w.Expect(isError).To(BeTrue(), "call %d: %v", n, a)
		w.Expect(a.reason()).To(namesBoth(p), "call %d", n)
		if f, ok := a["failure"].(map[string]any); ok {
			w.Expect(f["code"]).To(Equal(sidecar.CodeVersionMismatch))
		}
	}
	w.Expect(w.counted()).To(Equal(before))
}

func namesBoth(p Pair) OmegaMatcher {
	return And(ContainSubstring("version %d", p.Helper), ContainSubstring("version %d", p.App))
}

// counted is how many anchors and intents are stored. It does not open the
// sidecar as a version would, which would lift it.
func (w *world) counted() string {
	w.Helper()
	return count(w.T, w.sidecar())
}

// Every pair of different versions where the app is there first.
func TestEveryMixedPairWhereTheAppIsFirst(t *testing.T) {
	for _, p := range Pairs() {
		if p.Outcome == Agrees {
			continue
		}
		t.Run(fmt.Sprintf("helper %d, app %d", p.Helper, p.App), func(t *testing.T) {
			w := newWorld(t)
			stop := w.startApp(p.App)
			w.Eventually(func() int { status, _ := w.records(); return status }).WithTimeout(patience).Should(Equal(200))
			h := w.startHelper(p.Helper)
			w.refuses(h, p)
			h.leave()
			stop()
		})
	}
}

// A record that a helper and an app of version 2 made stays provisional until
// an app of version 3 finds its item: it becomes live, and there is no second
// item (WR-11).
func TestWhatVersionTwoLeavesProvisionalIsRepaired(t *testing.T) {
	w := newWorld(t)
	stop := w.startApp(2)
	h := w.startHelper(2)
	w.Eventually(func() string { a, _ := h.start("task"); return a.text("state") }).WithTimeout(patience).Should(Equal("applied"))
	first, _ := h.start("task")
	w.Expect(first.text("anchor")).To(Equal("provisional"))
	gone, _ := h.start("deleted under version 2")
	w.Eventually(func() int { _, all := w.records(); return len(all) }).WithTimeout(patience).Should(Equal(2))
	h.leave()
	stop()
	deleteItem(w, gone.text("item_id"))

	stop = w.startApp(3)
	h = w.startHelper(3)
	w.Eventually(func() string { a, _ := h.start("task"); return a.text("anchor") }).WithTimeout(patience).Should(Equal("live"))
	again, _ := h.start("task")
	w.Expect(again.text("item_id")).To(Equal(first.text("item_id")))
	// No task key is locked: the anchor without an item is dead, and a new key
	// gives a new record (WR-12).
	dead := func() string { a, _ := h.start("deleted under version 2"); return a.text("anchor") }
	w.Eventually(dead).WithTimeout(patience).Should(Equal("dead"))
	fresh, isError := h.call("work_start", map[string]any{"task_key": "deleted under version 2", "title": "T", "idempotency_key": "new"})
	w.Expect(isError).To(BeFalse())
	w.Expect(fresh.text("item_id")).NotTo(Equal(gone.text("item_id")))
	w.Eventually(func() int { _, all := w.records(); return len(all) }).WithTimeout(patience).Should(Equal(2))
	h.leave()
	stop()
}
