package wire

// Count implements Line. It counts what came, whatever became of it.
func (w *Wire) Count(m Match) int {
	n := 0
	for _, s := range w.sightings() {
		if m.fits(s.msg) {
			n++
		}
	}
	return n
}

// Passed implements Line. A duplicated request counts twice.
func (w *Wire) Passed(m Match) int {
	n := 0
	for _, s := range w.sightings() {
		if s.passed > 0 && m.fits(s.msg) {
			n += s.passed
		}
	}
	return n
}

// Messages implements Line.
func (w *Wire) Messages() []Message {
	all := w.sightings()
	messages := make([]Message, len(all))
	for i, s := range all {
		messages[i] = *s.msg
	}
	return messages
}

// sightings is a copy, so that a match may look without the lock.
func (w *Wire) sightings() []sighting {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]sighting, len(w.seen))
	for i, s := range w.seen {
		all[i] = *s
	}
	return all
}
