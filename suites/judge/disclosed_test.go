package judge

import "testing"

func TestLookupAuthorized(t *testing.T) {
	s := newStory()
	draftIs(s, "before", 1, "JFK", "draft")
	s.call("update", mutating("i1", 1, "BOS"), as("OUTCOME_UNKNOWN"))
	draftIs(s, "struck", 2, "BOS", "draft", "i1")
	of, none := params("draft", "d1", "command_id", "i1"), params("draft", "d1", "command_id", "i9")
	asks(s, "lookup", "struck", "", and(of, "who", "nobody"), 401, "sign in")
	asks(s, "lookup", "struck", "b", and(of, "who", "stranger"), 404, `{"no": "i1"}`)
	asks(s, "lookup", "struck", "b", and(none, "who", "stranger to none"), 404, `{"no": "i9"}`)
	asks(s, "lookup", "struck", "b", and(of, "who", "stranger", "draft", "d9"), 404, `{"no": "i1"}`)
	asks(s, "lookup", "struck", "b", and(none, "who", "stranger to none", "draft", "d9"), 404, `{"no": "i9"}`)
	asks(s, "lookup", "struck", "a", and(of, "who", "owner"), 200, `{"commandId": "i1", "destination": "BOS"}`)
	s.call("recheck_update", params("draft", "d1", "command_id", "i1", "moment", "converged"), confirms("i1", 1)) // c2
	const nobody, stranger, owner = `nobody asked the server for "lookup" under command ID "i1"`, `account b asked the server for "lookup" under command ID "i1"`, `account a asked the server for "lookup" under command ID "i1"`
	const open, leaks, exists = "a receipt is looked up without a session", "another user's receipt is disclosed", "that another user's command exists is disclosed"
	const c = `the update under command ID "i1", which expects revision 1`
	rules(t, LookupAuthorized, s.told(),
		variant{"no session is needed", edits(reply("lookup", 0, "status", 200)), finds(broken("RC-13", open, nobody, "it was answered with 200: sign in", "expected a refusal")), nil},
		variant{"the refusal tells what it is about", edits(reply("lookup", 0, "body", "BOS is not for you")), finds(
			broken("RC-13", open, nobody, "it was answered with 401: BOS is not for you", "the refusal holds what the command set")), nil},
		variant{"a stranger is told", edits(reply("lookup", 1, "status", 200)), finds(
			broken("RC-13", leaks, stranger, `it was answered with 200: {"no": "i1"}`, "expected a refusal"),
			broken("RC-13", exists, stranger, `it was answered with 200: {"no": "i1"}`, `of a command that never was it was answered with 404: {"no": "i9"}`)), nil},
		variant{"a stranger is told that it exists", edits(reply("lookup", 1, "status", 403)), finds(
			broken("RC-13", exists, stranger, `it was answered with 403: {"no": "i1"}`, `of a command that never was it was answered with 404: {"no": "i9"}`)), nil},
		variant{"a stranger is told by way of its own draft", edits(reply("lookup", 3, "status", 200)), finds(
			broken("RC-13", leaks, stranger, `it was answered with 200: {"no": "i1"}`, "expected a refusal"),
			broken("RC-13", exists, stranger, `it was answered with 200: {"no": "i1"}`, `of a command that never was it was answered with 404: {"no": "i9"}`)), nil},
		variant{"a stranger is told in other words", edits(reply("lookup", 1, "body", `{"not yours": "i1"}`)), finds(
			broken("RC-13", exists, stranger, `it was answered with 404: {"not yours": "i1"}`, `of a command that never was it was answered with 404: {"no": "i9"}`)), nil},
		variant{"the server fails", edits(reply("lookup", 0, "status", 500)), finds(broken("RC-13", open, nobody, "it was answered with 500: sign in", "expected a refusal")), nil},
		variant{"the owner is not told", edits(reply("lookup", 5, "status", 404)), nil,
			[]string{owner + `, who owns it; it was answered with 404: {"commandId": "i1", "destination": "BOS"}, so that it says nothing that others see nothing`}},
		variant{"the owner did not ask", edits(neverAsked("lookup", "who", "owner")), nil, []string{"the receipt of " + c + " was not looked up as owner"}},
		variant{"nobody asked about none", edits(neverAsked("lookup", "who", "stranger to none")), nil, []string{"nobody asked about a command that never was, to compare with", "nobody asked about a command that never was, to compare with"}},
		variant{"the owner's editor does not find it", edits(field("c2", "outcome", "OUTCOME_UNKNOWN")), nil,
			[]string{"the owner's editor does not find " + c + ", so that it says nothing that others do not"}},
		variant{"it was not committed", edits(shows("receipts", "struck")), nil, []string{c + " was to be committed, and the store has 0 receipts of it"}},
	)
}
