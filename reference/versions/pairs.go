// Package versions holds every contract version that the reference still is: the
// older ones as processes, and what becomes of each pair of helper and app.
package versions

import "github.com/holdfast-mcp/holdfast/reference/sidecar"

// Outcome is what becomes of a helper and an app that share a sidecar (WR-31).
type Outcome string

// The outcomes. In none of them a record is provisional without end.
const (
	// Agrees: what the helper accepts the app applies.
	Agrees Outcome = "agrees"
	// Repaired: the app is the newer one. It lifts the sidecar and applies and
	// repairs what the helper had accepted, as its version does; every further
	// call of the helper is refused naming both versions.
	Repaired Outcome = "repaired"
	// Refused: the app is the older one. Every call of the helper is refused
	// naming both versions and nothing is stored; what it had accepted while no
	// app was there is kept, said to be refused, and applied by an app of its
	// version or a newer one.
	Refused Outcome = "refused"
)

// Pair is a helper and an app, each of a contract version.
type Pair struct {
	Helper, App int
	Outcome     Outcome
	Because     string
}

// Pairs is the whole table: every helper with every app. Versions are compared
// by handshake (the version in the sidecar, and the header between helper and
// app), never by clock.
func Pairs() []Pair {
	return []Pair{
		{1, 1, Agrees, "an item's ID is told once the app has made it; so WR-01 and WR-04 do not hold"},
		{1, 2, Repaired, "the app gives every start an anchor and applies it; as version 2 does, it leaves new anchors provisional"},
		{1, 3, Repaired, "the app gives every start an anchor and applies it"},
		{2, 1, Refused, "the app can not read anchors"},
		{2, 2, Agrees, "a start is stored in two steps, anchors stay provisional and failures have no class; so WR-03, WR-09 and WR-25 do not hold"},
		{2, 3, Repaired, "the app makes the anchors live whose items an older app made, and gives failures a class"},
		{3, 1, Refused, "the app can not read anchors"},
		{3, 2, Refused, "the app can not read failure classes"},
		{3, 3, Agrees, ""},
	}
}

// Current is the contract version of helper and app without a suffix.
const Current = sidecar.ContractVersion
