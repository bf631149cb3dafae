package judge

import (
	"fmt"
	"maps"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// anchorRanks are the states of an anchor in the only order in which they come.
var anchorRanks = map[string]int{"provisional": 1, "live": 2, "dead": 3}

// OnlyForward (WR-40): over the whole history the states of each anchor, in the
// store and in answers, are a part of provisional, live, dead in this order; none
// vanishes, and no task key has two usable anchors. All three states must have
// been seen, and a second anchor under one task key.
func OnlyForward(h history.History) Ruling {
	var r Ruling
	seen, under := r.followAnchors(h)
	for _, state := range []string{"provisional", "live", "dead"} {
		if !seen[state] {
			r.doubted("no anchor was seen in the store that is %s", state)
		}
	}
	if !slices.ContainsFunc(slices.Sorted(maps.Keys(under)), func(task string) bool { return len(under[task]) > 1 }) {
		r.doubted("no task key was seen to have a second anchor")
	}
	return r
}

// followAnchors follows every anchor through a history. It returns the states that
// were seen in the store, and the anchors that were seen there by task key.
func (r *Ruling) followAnchors(h history.History) (seen map[string]bool, under map[string]map[string]bool) {
	ranks := newAnchorPath(h)
	seen, under = map[string]bool{}, map[string]map[string]bool{}
	for _, e := range h.Events {
		switch {
		case e.Kind == history.KindLook && (e.Look.Probe == "anchor" || e.Look.Probe == "anchors"):
			if !r.anchorsOf(*e.Look, ranks, seen) {
				continue
			}
			if task := e.Look.Params["task_key"]; task != "" {
				if under[task] == nil {
					under[task] = map[string]bool{}
				}
				r.oneUsable(h, task, *e.Look)
				for _, row := range e.Look.Rows {
					under[task][text(row, "item_id")] = true
				}
			}
		case e.Kind == history.KindCall && e.Call.Phase == history.Returned:
			r.anchorAnswered(e, ranks)
		}
	}
	return seen, under
}

// anchorPath is how far each anchor was seen to have come, with where that was seen.
type anchorPath struct {
	rank   map[string]int
	where  map[string]string
	told   map[string]bool
	stored map[string]bool // it was seen in the store
	// before is the rank that an anchor had when a call was invoked.
	before map[string]map[string]int
}

// newAnchorPath knows which calls there are, so that each can be held to what had
// been seen when it was invoked: while it is out its answer may grow old.
func newAnchorPath(h history.History) *anchorPath {
	return &anchorPath{rank: map[string]int{}, where: map[string]string{}, told: map[string]bool{}, stored: map[string]bool{}, before: ranksAtInvocation(h)}
}

func ranksAtInvocation(h history.History) map[string]map[string]int {
	at, now := map[string]map[string]int{}, map[string]int{}
	raise := func(id, state string) { now[id] = max(now[id], anchorRanks[state]) }
	for _, e := range h.Events {
		switch {
		case e.Kind == history.KindLook && (e.Look.Probe == "anchor" || e.Look.Probe == "anchors"):
			for _, row := range e.Look.Rows {
				raise(idOf(*e.Look, row), text(row, "state"))
			}
		case e.Kind == history.KindCall && e.Call.Phase == history.Invoked:
			at[e.Call.ID] = maps.Clone(now)
		case e.Kind == history.KindCall:
			raise(text(e.Call.Fields, "item_id"), text(e.Call.Fields, "anchor"))
		}
	}
	return at
}

// idOf is the item that a row of a look is about.
func idOf(look history.Look, row map[string]any) string {
	if id := text(row, "item_id"); id != "" {
		return id
	}
	return look.Params["item_id"]
}

// anchorsOf follows the anchors of one look; false if it says nothing.
func (r *Ruling) anchorsOf(look history.Look, p *anchorPath, seen map[string]bool) bool {
	if look.Error != "" {
		r.doubted("a look at the %s failed: %s", look.Probe, look.Error)
		return false
	}
	if !r.hasColumns(look, "state") {
		return false
	}
	there := map[string]bool{}
	for _, row := range look.Rows {
		id, state := idOf(look, row), text(row, "state")
		there[id] = true
		if anchorRanks[state] == 0 {
			r.doubted("anchor %s is %q, which is no state of an anchor", id, state)
			continue
		}
		seen[state], p.stored[id] = true, true
		r.movesOn(p, id, state, fmt.Sprintf("look %q at the %s", look.When, look.Probe))
	}
	// A look at one item, or at all of them, shows every anchor that it is about.
	if one := look.Params["item_id"]; one != "" && !there[one] && p.stored[one] {
		r.vanished(p, one)
	}
	if look.Probe == "anchors" && len(look.Params) == 0 {
		for _, id := range slices.Sorted(maps.Keys(p.stored)) {
			if !there[id] {
				r.vanished(p, id)
			}
		}
	}
	return true
}

func (r *Ruling) vanished(p *anchorPath, id string) {
	if !p.told[id] {
		p.told[id] = true
		r.broke("WR-40", "an anchor is gone from the store", "anchor "+id, "before: "+p.where[id])
	}
}

// movesOn takes one more observation of an anchor.
func (r *Ruling) movesOn(p *anchorPath, id, state, where string) {
	rank, is := anchorRanks[state], state+" ("+where+")"
	if rank < p.rank[id] && !p.told[id] {
		p.told[id] = true
		r.broke("WR-40", "an anchor stepped back", "anchor "+id, "before: "+p.where[id], "then: "+is)
	}
	if rank > p.rank[id] {
		p.rank[id], p.where[id] = rank, is
	}
}

// anchorAnswered holds an answer to what had been seen when its call was made.
func (r *Ruling) anchorAnswered(e history.Event, p *anchorPath) {
	id, state := text(e.Call.Fields, "item_id"), text(e.Call.Fields, "anchor")
	if id == "" || state == "" {
		return
	}
	rank := anchorRanks[state]
	is := fmt.Sprintf("%s (answer of call %s)", state, e.Call.ID)
	switch {
	case rank == 0:
		r.doubted("call %s answers that anchor %s is %q, which is no state of an anchor", e.Call.ID, id, state)
	case rank < p.before[e.Call.ID][id] && !p.told[id]:
		p.told[id] = true
		r.broke("WR-40", "an anchor stepped back", "anchor "+id, "before: "+p.where[id], "then: "+is)
	case rank > p.rank[id]:
		p.rank[id], p.where[id] = rank, is
	}
}

// oneUsable rules over one look at a task key. A provisional anchor whose start
// failed for good is none, nor one of whose start nothing is known.
func (r *Ruling) oneUsable(h history.History, task string, look history.Look) {
	var usable []string
	for _, row := range look.Rows {
		if id := text(row, "item_id"); text(row, "state") == "live" || text(row, "state") == "provisional" && startStands(h, id) {
			usable = append(usable, fmt.Sprintf("%s is %s", id, text(row, "state")))
		}
	}
	if len(usable) > 1 && !slices.ContainsFunc(r.Findings, func(f reports.Finding) bool { return slices.Contains(f.Facts, taskFact(task)) }) {
		r.broke("WR-40", "one task key has several usable anchors", append([]string{taskFact(task)}, usable...)...)
	}
}

func taskFact(task string) string { return fmt.Sprintf("task key %q", task) }

// startStands says that an item's start was seen, and never failed.
func startStands(h history.History, id string) bool {
	seen := false
	for _, look := range h.Looks("intents", "") {
		for _, row := range look.Rows {
			if id == "" || idOf(look, row) != id || text(row, "kind") != "start" {
				continue
			}
			seen = true
			if text(row, "state") == "failed" {
				return false
			}
		}
	}
	return seen
}
