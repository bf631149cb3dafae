package judge

import (
	"fmt"
	"maps"
	"slices"

	"github.com/holdfast-mcp/holdfast/fixtures/mcp"
	"github.com/holdfast-mcp/holdfast/fixtures/schemas"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// SameToolsAfterRestart (DU-09/restart): tools/list names the same tools with the same
// schemas after a restart. What counts is the list that was told last on either side: a
// server may change its tools while it runs.
func SameToolsAfterRestart(h history.History) Ruling {
	return sameTools(h, "DU-09/restart", "after a restart", "owed by: contract")
}

// SameToolsOnConnections (DU-09/connections): two connections at once are told the same
// tools with the same schemas; of each the list that it was told last counts. From
// 2026-07-28 on MCP asks for that itself, with a MUST NOT; before it is the contract alone.
func SameToolsOnConnections(h history.History) Ruling {
	owed := "owed by: contract"
	for _, m := range h.Marks("agreed") {
		if text(m.Data, "revision") >= mcp.Revision20260728 {
			owed = "owed by: mcp-must, server/tools, Capabilities"
		}
	}
	return sameTools(h, "DU-09/connections", "on two connections", owed)
}

// sameTools compares what each session was told last with what the first one was.
func sameTools(h history.History, clause, where, owed string) Ruling {
	var r Ruling
	lists := lastLists(h)
	switch {
	case len(lists) < 2:
		return doubt("tools/list was told to %d sessions; it is needed of two", len(lists))
	case len(lists[0].tools) == 0:
		return doubt("tools/list named no tool, so that there is nothing to compare")
	}
	for _, l := range lists[1:] {
		facts := lists[0].differences(l)
		if len(facts) == 0 {
			continue
		}
		facts = append([]string{fmt.Sprintf("first: session %s, then: session %s", lists[0].session, l.session)}, facts...)
		for _, m := range h.Marks("tools-awaited") {
			facts = append(facts, "the server declares tools.listChanged, and was asked again for "+text(m.Data, "waited"))
		}
		r.broke(clause, where+" tools/list does not name the same tools with the same schemas", append(facts, owed)...)
	}
	r.Tried = append(r.Tried, fmt.Sprintf("tools named: %d", len(lists[0].tools)))
	return r
}

// lastLists are what each session was told last by tools/list, in the order of their first
// lists.
func lastLists(h history.History) []toolList {
	var all []toolList
	for _, l := range toolLists(h) {
		if i := slices.IndexFunc(all, func(o toolList) bool { return o.session == l.session }); i >= 0 {
			all[i] = l
			continue
		}
		all = append(all, l)
	}
	return all
}

// differences are the facts of what another list names otherwise: tools and their
// schemas, in whatever order.
func (l toolList) differences(other toolList) []string {
	var facts []string
	say := func(what string, names []string) {
		if len(names) > 0 {
			facts = append(facts, what+": "+quoted(names))
		}
	}
	was, now := l.names(), other.names()
	say("gone", missing(was, now))
	say("new", missing(now, was))
	var input, output []string
	for _, name := range slices.Sorted(maps.Keys(l.entries)) {
		if other.entries[name] == nil {
			continue
		}
		if !schemas.SameValue(l.inputs[name], other.inputs[name]) {
			input = append(input, name)
		}
		if !schemas.SameValue(l.outputs[name], other.outputs[name]) {
			output = append(output, name)
		}
	}
	say("another inputSchema", input)
	say("another outputSchema", output)
	return facts
}

// names are those of the tools, in the order of the list.
func (l toolList) names() []string {
	var all []string
	for _, tool := range l.tools {
		entry, _ := tool.(map[string]any)
		all = append(all, text(entry, "name"))
	}
	return all
}

// SameOrder (DU-09/order): of the lists that name the same tools, each names them in the
// same order.
func SameOrder(h history.History) Ruling {
	var r Ruling
	var first []string
	same, other := 0, 0
	var example string
	for _, l := range toolLists(h) {
		names := l.names()
		switch {
		case first == nil:
			first, same = names, 1
		case !maps.Equal(count(first), count(names)):
			// Another set of tools has an order of its own.
		case slices.Equal(first, names):
			same++
		default:
			other++
			i := 0
			for names[i] == first[i] {
				i++
			}
			example = fmt.Sprintf("in session %s place %d has %q, where the first list has %q", l.session, i+1, names[i], first[i])
		}
	}
	if other > 0 {
		r.broke("DU-09/order", fmt.Sprintf("%d of %d lists name the same tools in another order than the first", other, same+other-1),
			example, "owed by: mcp-should, server/tools, Capabilities")
	}
	if same+other < 2 || len(first) < 2 {
		r.doubted("the same two tools or more have to be listed twice for their order to be seen, and were listed %d times", same+other)
	}
	return r
}
