package judge

import "testing"

func TestNoSecrets(t *testing.T) {
	s := newStory()
	s.look("secrets", "converged", nil,
		row("source", "call", "texts", 10, "found", 0), row("source", "message", "texts", 20, "found", 0), row("source", "look", "texts", 5, "found", 0),
		row("source", "log of app", "texts", 7, "found", 0), row("source", "mark", "texts", 3, "found", 1), row("source", "log of secret-control", "texts", 1, "found", 1),
		row("source", "file sidecar.db", "texts", 1, "found", 0), row("source", "report's history.jsonl", "texts", 1, "found", 0), row("source", "token file", "texts", 1, "found", 1),
		row("source", "report's secret-control.log", "texts", 1, "found", 0))
	leaks := func(name, fact string, n int, found int) variant {
		return variant{name, edits(cell("secrets", "converged", n, "found", found)),
			finds(broken("WR-38", "a token or key of an account stands where nobody may read it", fact)), nil}
	}
	blind := func(name string, n int, control string) variant {
		return variant{name, edits(cell("secrets", "converged", n, "found", 0)), nil, []string{"a token was not found where it was put on purpose: " + control}}
	}
	rules(t, NoSecrets, s.told(),
		leaks("an answer holds a token", "call: 2 times", 0, 2),
		leaks("a message holds a token", "message: 1 time", 1, 1),
		leaks("a look shows a token", "look: 1 time", 2, 1),
		leaks("a log holds a token", "log of app: 3 times", 3, 3),
		leaks("the sidecar holds a key", "file sidecar.db: 1 time", 6, 1),
		blind("the search in the history is blind", 4, "mark"),
		blind("the search in logs is blind", 5, "log of secret-control"),
		blind("the search in files is blind", 8, "token file"),
		variant{"holdfast keeps one itself", edits(cell("secrets", "converged", 7, "found", 1)), nil, []string{"holdfast itself kept 1 secret in the report's history.jsonl"}},
		variant{"holdfast keeps it in a log", edits(cell("secrets", "converged", 9, "found", 1)), nil, []string{"holdfast itself kept 1 secret in the report's secret-control.log"}},
		variant{"the report's history was not searched", edits(noRow("secrets", "converged", 7)), nil,
			[]string{"the report's history.jsonl was not searched, from which a token had to be taken out"}},
		variant{"the report's logs were not searched", edits(noRow("secrets", "converged", 9)), nil,
			[]string{"the report's secret-control.log was not searched, from which a token had to be taken out"}},
		variant{"no log was written", edits(noRow("secrets", "converged", 3)), nil, []string{"no log was searched"}},
		variant{"no file of the sidecar was found", edits(noRow("secrets", "converged", 6)), nil, []string{"no file was searched"}},
		variant{"nobody searched", edits(noLook("secrets", "converged")), nil, []string{"nobody searched for the secrets of the accounts"}},
		variant{"the search failed", edits(lookFails("secrets", "converged")), nil, []string{"nobody searched for the secrets of the accounts"}},
	)
}
