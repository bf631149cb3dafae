package judge

import "github.com/holdfast-mcp/holdfast/reports/history"

// ReceiptStops (WF-22): a delivery whose receipt is partial or unverified leaves
// its operation to a review before the next step, and no resume delivers again. A
// complete one, of another operation, lets it go on.
func ReceiptStops(h history.History) Ruling {
	var r Ruling
	stopped, sound := 0, 0
	for _, o := range r.operations(h) {
		effects, seen := r.effects(h, whenConverged)
		end, _ := expectedEnd(h, o)
		switch {
		case !seen:
			continue
		case end == "":
			if r.completed(h, o, effects) {
				sound++
			}
			continue
		}
		came, _, counted := r.wentOut(h, o.texts[0], whenStruck)
		if !counted || r.answeredResumes(h, o) == 0 {
			continue
		}
		if came == 0 || effects[o.texts[0]] == 0 {
			r.doubted("the delivery of operation %s was to be %s; %d requests came, and %s", o.id, end, came, inEffect(o.texts[0], effects[o.texts[0]]))
			continue
		}
		stopped++
		r.standsAt("WF-22", "a delivery that was "+end+" does not stop its operation for a review", h, o, whenStruck, "needs_review")
		r.leftToReview("WF-22", h, o)
		r.neverSentAgain("WF-22", h, o, 0)
	}
	if (stopped == 0 || sound == 0) && r.silent() {
		r.doubted("%d deliveries were incomplete and %d complete; one of each is needed", stopped, sound)
	}
	return r
}
