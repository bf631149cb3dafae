package judge

import (
	"fmt"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// listing is two sessions, each told two pages of tools, the first one twice.
func listing() history.History {
	w := &spoken{story: newStory()}
	tool := func(name string) string {
		return fmt.Sprintf(`{"name":%q,"description":"up","inputSchema":{"type":"object","required":["a","b"]},"outputSchema":{"type":"object"}}`, name)
	}
	told := func(session string) {
		w.exchange(session, "tools/list", "{}", `{"tools":[`+tool("add")+`,`+tool("get")+`],"nextCursor":"2"}`)
		w.exchange(session, "tools/list", `{"cursor":"2"}`, `{"tools":[`+tool("list")+`]}`)
	}
	w.mark("agreed", "session", "helper.1", "revision", "2025-11-25")
	w.call("write", value("v"), done())
	told("helper.1")
	told("helper.1")
	told("helper.2")
	return w.told()
}

func TestSameTools(t *testing.T) {
	const page, second = `"nextCursor"`, `{"tools":[{"name":"list"`
	const summary = "after a restart tools/list does not name the same tools with the same schemas"
	differs := func(facts ...string) variant {
		return variant{finds: finds(broken("DU-09/restart", summary, append(append([]string{"first: session helper.1, then: session helper.2"}, facts...), "owed by: contract")...))}
	}
	named := func(v variant, name string, e ...edit) variant { v.name, v.edits = name, e; return v }
	rules(t, SameToolsAfterRestart, listing(),
		named(differs(`gone: "list"`, `new: "other"`), "a tool of the second page has another name", message(second, 3, `"list"`, `"other"`)),
		named(differs(`new: "more"`), "a tool is new", message(second, 3, `{"tools":[`, `{"tools":[{"name":"more","inputSchema":{}},`)),
		named(differs(`another inputSchema: "add", "get"`), "another inputSchema", message(page, 3, `["a","b"]`, `["a"]`)),
		named(differs(`another outputSchema: "list"`), "no outputSchema any more", message(second, 3, `"outputSchema"`, `"other"`)),
		variant{"the order of a set and of the tools, and a description, are no difference", edits(message(page, 3, `["a","b"]`, `["b","a"]`), message(page, 3, `"up"`, `"up since 12:03"`),
			message(page, 3, `"add"`, `"x"`), message(page, 3, `"get"`, `"add"`), message(page, 3, `"x"`, `"get"`)), nil, nil},
		variant{"what changed before the last list of the first", edits(message(page, 1, `"add"`, `"early"`)), nil, nil},
		variant{"only one session was told", edits(message(page, 3, `"result"`, `"other"`), func(events []history.Event) []history.Event { return events[:len(events)-4] }), nil,
			[]string{"tools/list was told to 1 sessions; it is needed of two"}},
		variant{"no tools", edits(message(page, 2, `"tools"`, `"none"`), message(second, 2, `"tools"`, `"none"`)), nil,
			[]string{"tools/list named no tool, so that there is nothing to compare"}},
	)
}

func TestSameToolsOnConnectionsSaysWhoseObligationItIs(t *testing.T) {
	const page = `"nextCursor"`
	summary, first := "on two connections tools/list does not name the same tools with the same schemas", "first: session helper.1, then: session helper.2"
	different := message(page, 3, `["a","b"]`, `[]`)
	rules(t, SameToolsOnConnections, listing(),
		variant{"before 2026-07-28", edits(different), finds(broken("DU-09/connections", summary, first, `another inputSchema: "add", "get"`, "owed by: contract")), nil},
		variant{"from 2026-07-28 on", edits(different, markData("agreed", "revision", "2026-07-28")),
			finds(broken("DU-09/connections", summary, first, `another inputSchema: "add", "get"`, "owed by: mcp-must, server/tools, Capabilities")), nil},
		variant{"of a server that changes its tools", edits(different, markData("agreed", "waited", "15s"), each("agreed", func(e history.Event) bool { return e.Mark != nil }, func(e *history.Event) { e.Mark.Name = "tools-awaited" })),
			finds(broken("DU-09/connections", summary, first, `another inputSchema: "add", "get"`, "the server declares tools.listChanged, and was asked again for 15s", "owed by: contract")), nil},
	)
}

func TestSameOrder(t *testing.T) {
	const page = `"nextCursor"`
	swapped := func(nth int) []edit {
		return edits(message(page, nth, `"add"`, `"x"`), message(page, nth, `"get"`, `"add"`), message(page, nth, `"x"`, `"get"`))
	}
	other := broken("DU-09/order", "1 of 2 lists name the same tools in another order than the first",
		`in session helper.2 place 1 has "get", where the first list has "add"`, "owed by: mcp-should, server/tools, Capabilities")
	rules(t, SameOrder, listing(),
		variant{"another order", swapped(3), finds(other), nil},
		variant{"another set has an order of its own", append(swapped(3), message(page, 3, `"add"`, `"new"`)), nil, nil},
		variant{"listed once", edits(message(page, 2, `"add"`, `"x"`), message(page, 3, `"add"`, `"y"`)), nil,
			[]string{"the same two tools or more have to be listed twice for their order to be seen, and were listed 1 times"}},
	)
}
