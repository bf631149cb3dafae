package judge

import (
	"encoding/json"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// unnumbered are the numbers of a recording that does not say its own: those that
// every spec had before they could be set.
var unnumbered = reports.Numbers{Concurrent: 50, Rounds: 1, Alternations: 10}

// Numbered is a rule that goes by how often the spec did what shows only sometimes,
// as its history says. What it tells as tried begins with that.
func Numbered(rule func(reports.Numbers) Rule) Rule {
	return func(h history.History) Ruling {
		numbers, said := numbersOf(h)
		r := rule(numbers)(h)
		if said {
			r.Tried = append([]string{strings.Join(numbers.Words(), ", ")}, r.Tried...)
		}
		return r
	}
}

// numbersOf are the numbers of a history, and whether it says them.
func numbersOf(h history.History) (numbers reports.Numbers, said bool) {
	for _, m := range h.Marks("numbers") {
		raw, err := json.Marshal(m.Data["numbers"])
		said = err == nil && json.Unmarshal(raw, &numbers) == nil && numbers != reports.Numbers{}
	}
	if !said {
		return unnumbered, false
	}
	return numbers, true
}

// byRound splits a list by the rounds of its entries, in order. What was done in no
// round of its own is of the round "".
func byRound(ops []history.Operation) (rounds []string, of map[string][]history.Operation) {
	of = map[string][]history.Operation{}
	for _, o := range ops {
		round := o.Param("round")
		if len(of[round]) == 0 {
			rounds = append(rounds, round)
		}
		of[round] = append(of[round], o)
	}
	return rounds, of
}
