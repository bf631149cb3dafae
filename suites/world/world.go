package world

// World is one started target behind its wires, with one history.
type World struct{}
