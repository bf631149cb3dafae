package reports

// Numbers say how often a spec does what shows only sometimes; 0 where it does not do
// it. They are settled as a run is planned, so that a repro does the same.
type Numbers struct {
	// Concurrent are the writes that are held together and released at once.
	Concurrent int `json:"concurrent,omitempty"`
	// Rounds is how often the spec does what it does.
	Rounds int `json:"rounds,omitempty"`
	// Alternations is how often each of two servers writes in its turn.
	Alternations int `json:"alternations,omitempty"`
}

// Words tell the numbers, one each.
func (n Numbers) Words() []string {
	var words []string
	for _, of := range []struct {
		n    int
		what string
	}{{n.Concurrent, "write"}, {n.Rounds, "round"}, {n.Alternations, "turn"}} {
		if of.n > 0 {
			words = append(words, Plural(of.n, of.what)+map[string]string{"write": " at once", "turn": " of each of two servers"}[of.what])
		}
	}
	return words
}
