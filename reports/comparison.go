package reports

// Comparison lays side by side what several surfaces showed of the same things at
// one moment. It is there also where everything agreed.
type Comparison struct {
	Title    string     `json:"title"` // which moment
	Surfaces []string   `json:"surfaces"`
	Rows     []Compared `json:"rows"`
}

// Compared is one thing, as the surfaces showed it.
type Compared struct {
	Of       string `json:"of"`
	Expected string `json:"expected"`
	// Shown is what each surface showed, in the order of the surfaces; "" of one that
	// does not show this.
	Shown []string `json:"shown"`
	// Agrees: every surface that shows it shows what was expected.
	Agrees bool `json:"agrees"`
}
