package judge

import (
	"fmt"
	"maps"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// writeKill is one kill in the middle of a write, as the history tells it.
type writeKill struct {
	run          string
	place, round int
	hit          bool
	made         []string // what the write had made and stood there when the kill had hit
	where        string
}

// writeKills reads the kills of a history. One that did not hit at first was tried once
// more: the last try counts.
func writeKills(h history.History) []writeKill {
	var all []writeKill
	for _, m := range h.Marks("killed-in-a-write") {
		made, _ := texts(m.Data, "made")
		k := writeKill{
			run: text(m.Data, "run"), place: number(m.Data, "place"), round: number(m.Data, "round"),
			hit: truth(m.Data, "hit"), made: made,
			where: fmt.Sprintf("killed %s %s of %s", text(m.Data, "side"), text(m.Data, "call"), text(m.Data, "path")),
		}
		if n := len(all); n > 0 && all[n-1].run == k.run {
			all[n-1] = k
		} else {
			all = append(all, k)
		}
	}
	return all
}

func hits(kills []writeKill) []writeKill {
	return slices.DeleteFunc(slices.Clone(kills), func(k writeKill) bool { return !k.hit })
}

// standing says what stood there when a kill had hit.
func (k writeKill) standing() string {
	if len(k.made) == 0 {
		return k.where
	}
	return fmt.Sprintf("%s (there then: %s)", k.where, quoted(k.made))
}

// KillsDoNotBlock (DU-23): behind a kill in the middle of a write the next server
// starts, and accepts a write within the time that a caller waits for one answer. A
// server that refuses because the store itself was torn is DU-02's and DU-03's matter;
// half of the kills at least have to have left a whole one.
func KillsDoNotBlock(h history.History) Ruling {
	var r Ruling
	all := writeKills(h)
	hit := hits(all)
	if len(hit) == 0 || 2*len(hit) < len(all) {
		r.doubted("of %s in the middle of a write %d hit where they should have", reports.Plural(len(all), "kill"), len(hit))
		return r
	}
	var blocked, torn []string
	for _, k := range hit {
		switch why, is := r.behindKill(h, k); is {
		case blocks:
			blocked = append(blocked, k.standing()+": "+why)
		case tears:
			torn = append(torn, why)
		}
	}
	switch {
	case 2*len(torn) > len(hit):
		r.Doubts = append(r.Doubts, torn...)
	case len(torn) > 0:
		r.Tried = append(r.Tried, torn...)
	}
	if len(blocked) > 0 {
		r.broke("DU-23", fmt.Sprintf("behind %d of %s in the middle of a write the next server accepts no write", len(blocked), reports.Plural(len(hit), "kill")), most(blocked)...)
	}
	return r
}

// What a kill did to the server behind it.
type effect int

const (
	spares effect = iota
	blocks
	tears // the store, so that nothing is said
)

// behindKill says what became of the server behind a kill, and why.
func (r *Ruling) behindKill(h history.History, k writeKill) (string, effect) {
	for _, m := range h.Marks("restart-failed") {
		if text(m.Data, "run") != k.run {
			continue
		}
		if len(k.made) == 0 {
			return fmt.Sprintf("behind a kill (%s) the server does not start again, which is DU-03's matter: %s", k.where, text(m.Data, "error")), tears
		}
		return "it does not start: " + text(m.Data, "error"), blocks
	}
	var refused []history.Operation
	for _, w := range h.Operations("write") {
		if w.Param("run") != k.run || w.Param("moment") != "behind" {
			continue
		}
		if w.Outcome() == history.Done {
			return "", spares
		}
		refused = append(refused, w)
	}
	if len(refused) == 0 {
		r.doubted("behind a kill (%s) no write was tried", k.where)
		return "", spares
	}
	for _, read := range h.Operations("read") {
		if read.Param("run") == k.run && read.Outcome() == history.Refused {
			return fmt.Sprintf("behind a kill (%s) the store cannot be read, which is DU-02's and DU-03's matter: %s", k.where, answerOf(read)), tears
		}
	}
	last := refused[len(refused)-1]
	return fmt.Sprintf("%s, the last one %s: %s: %s", reports.Plural(len(refused), "write"), last.Invoked.ID, last.Outcome(), answerOf(last)), blocks
}

// A log, a journal or a page of a database may well grow by a little with each start
// behind a kill, which no file does that is left in the place of a store.
const bytesOfAKill = 16 << 10

// LeftoversDoNotPileUp (DU-23): what lies below {{dir}} after all kills at a place is
// no more than what lay there after half of them, beside what as many rounds without a
// kill, and the writes that were killed and are there, take. What was
// left has been made old, because what is taken away in time does not pile up. The control is that something that the write had made stood
// there when each kill had hit.
func LeftoversDoNotPileUp(rounds int) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		places := map[int][]writeKill{}
		for _, k := range writeKills(h) {
			places[k.place] = append(places[k.place], k)
		}
		if len(places) == 0 {
			r.doubted("nobody was killed in the middle of a write")
		}
		for _, place := range slices.Sorted(maps.Keys(places)) {
			r.pilesUp(h, place, rounds, places[place])
		}
		return r
	}
}

func (r *Ruling) pilesUp(h history.History, place, rounds int, kills []writeKill) {
	hit := slices.DeleteFunc(hits(kills), func(k writeKill) bool { return len(k.made) == 0 })
	unharmed := h.Marks("rounds-unharmed")
	half, okH := layBelow(h, place, rounds/2)
	full, okF := layBelow(h, place, rounds)
	switch {
	case len(hit) < rounds:
		r.doubted("of %s within a write, %d hit while something stood there that the write had made; %d were needed", reports.Plural(len(kills), "kill"), len(hit), rounds)
		return
	case len(unharmed) == 0 || !okH || !okF:
		r.doubted("what lies below {{dir}} was not seen after half of the kills, after all, and without any")
		return
	}
	there := 0
	var late []string
	for _, k := range hit {
		if k.round <= rounds/2 {
			continue
		}
		late = append(late, k.run)
		there += thereBehind(h, k)
	}
	// A killed write that is there takes what one without a kill takes.
	own := func(column string) int {
		n := number(unharmed[0].Data, column)
		return n + there*((n+rounds/2-1)/max(rounds/2, 1))
	}
	grown := number(full, "entries") - number(half, "entries")
	stays := staysOf(full, late)
	facts := []string{
		hit[0].standing(),
		fmt.Sprintf("%s after %s, %d after %d; as many rounds without a kill add %d", reports.Plural(number(half, "entries"), "file"), reports.Plural(rounds/2, "kill"), number(full, "entries"), rounds, number(unharmed[0].Data, "entries")),
	}
	if least, over := min(2, len(late)), grown-own("entries"); over >= least && len(stays) >= least {
		r.broke("DU-23", fmt.Sprintf("what kills leave piles up: %d of the last %s left something that stays", len(stays), reports.Plural(len(late), "kill")),
			append(facts, "left and still there: "+quoted(stays))...)
		return
	}
	if over := number(full, "bytes") - number(half, "bytes") - own("bytes"); over > len(late)*bytesOfAKill {
		r.broke("DU-23", fmt.Sprintf("what kills leave piles up: %d bytes with the last %s", over, reports.Plural(len(late), "kill")), facts...)
	}
}

// layBelow is what was seen below {{dir}} behind a round at a place.
func layBelow(h history.History, place, round int) (map[string]any, bool) {
	for _, m := range h.Marks("settled-behind-a-kill") {
		if number(m.Data, "place") == place && number(m.Data, "round") == round {
			return m.Data, true
		}
	}
	return nil, false
}

// staysOf is what kills have left and was still there, one name a kill.
func staysOf(settled map[string]any, runs []string) (all []string) {
	stays, _ := settled["stays"].(map[string]any)
	for _, run := range runs {
		if names, _ := texts(stays, run); len(names) > 0 {
			all = append(all, names[0])
		}
	}
	return all
}

// thereBehind is how many of the writes that were to be killed are there behind the
// kill; whether the reads work is other rules' matter.
func thereBehind(h history.History, k writeKill) (n int) {
	var said Ruling
	for _, x := range said.reads(h, whenRestarted) {
		if x.op.Param("run") != k.run {
			continue
		}
		for _, w := range h.Operations("write") {
			if w.Param("run") == k.run && w.Param("moment") == "killed" && slices.Contains(x.values, w.Param("value")) {
				n++
			}
		}
	}
	return n
}
