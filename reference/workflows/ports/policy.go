package ports

import (
	"slices"
	"time"
)

// Policy is the configuration of the middleware as it stands at one moment.
type Policy struct {
	// Guilds are the targets that may be used at all.
	Guilds []string `json:"guilds"`
	// Channels say where a channel is.
	Channels map[string]Place `json:"channels"`
	// Categories say what may be done in a category: "write" (reading too),
	// "read", or "none", which is also what a category has that is not named.
	Categories map[string]string `json:"categories"`
	// Profiles say which access a profile has.
	Profiles map[string][]Access `json:"profiles"`
	// Writes is "on", or "off" to let nothing through that changes anything.
	Writes string `json:"writes"`
	// ConfirmSeconds is how long a confirmation works; 0 lets none work.
	ConfirmSeconds int `json:"confirm_seconds"`
	// Tools say how each tool is treated; one that is not named has no claim,
	// needs an approval if it writes, and honours no cancellation.
	Tools map[string]ToolPolicy `json:"tools"`
}

// Place is where a channel is.
type Place struct {
	Guild    string `json:"guild"`
	Category string `json:"category"`
}

// ToolPolicy is how one tool is treated.
type ToolPolicy struct {
	Declared
	// Approval is "required" (default) or "none"; a tool that only reads needs none.
	Approval string `json:"approval,omitempty"`
	// HonoursCancel says that the tool can be aborted while it runs.
	HonoursCancel bool `json:"honours_cancel"`
}

// Allows says whether a guild is on the allowlist.
func (p Policy) Allows(guild string) bool { return slices.Contains(p.Guilds, guild) }

// Permits says whether a category permits an access.
func (p Policy) Permits(category string, a Access) bool {
	word := p.Categories[category]
	return word == string(Write) || word == string(a)
}

// Has says whether a profile has an access.
func (p Policy) Has(profile string, a Access) bool { return slices.Contains(p.Profiles[profile], a) }

// ConfirmTTL is how long a confirmation works.
func (p Policy) ConfirmTTL() time.Duration { return time.Duration(p.ConfirmSeconds) * time.Second }

// NeedsApproval says whether a write of a tool needs a confirmation.
func (p Policy) NeedsApproval(tool string) bool { return p.Tools[tool].Approval != "none" }
