package ports

import "maps"

// Field is one of a draft's texts.
type Field string

// The fields.
const (
	Destination Field = "destination"
	Purpose     Field = "purpose"
	Starts      Field = "starts"
	Ends        Field = "ends"
)

// FieldNames lists the fields.
func FieldNames() []Field { return []Field{Destination, Purpose, Starts, Ends} }

// Fields are the texts of a draft. A value of it never changes, so that one which
// was kept says what stood there then.
type Fields struct {
	Destination string `json:"destination"`
	Purpose     string `json:"purpose"`
	Starts      string `json:"starts"`
	Ends        string `json:"ends"`
}

// at is where a field stands, nil for what is none.
func (f *Fields) at(field Field) *string {
	switch field {
	case Destination:
		return &f.Destination
	case Purpose:
		return &f.Purpose
	case Starts:
		return &f.Starts
	case Ends:
		return &f.Ends
	}
	return nil
}

// Of is the text of a field, "" of what is none.
func (f Fields) Of(field Field) string {
	if text := f.at(field); text != nil {
		return *text
	}
	return ""
}

// With are the fields with another text in one of them.
func (f Fields) With(field Field, text string) Fields {
	if at := f.at(field); at != nil {
		*at = text
	}
	return f
}

// Draft is a trip's draft as the server has it.
type Draft struct {
	ID       string `json:"draft"`
	Revision int    `json:"revision"` // from 1; moves by one with every command
	Status   string `json:"status"`   // "draft" or "submitted"
	Fields
}

// Patch are the fields that an update sets.
type Patch map[Field]string

// Command is one mutation of a draft, with its two identities: the revision that
// it starts from, and the command that it is (RC-01).
type Command struct {
	Draft            string
	ID               string
	Kind             Kind
	ExpectedRevision int
	Patch            Patch // of an update
}

// Clone keeps a command from changes of whoever made it.
func (c Command) Clone() Command {
	c.Patch = maps.Clone(c.Patch)
	return c
}

// Receipt is what the server stores of a command that it applied.
type Receipt struct {
	CommandID    string `json:"commandId"`
	Kind         Kind   `json:"kind"`
	FromRevision int    `json:"fromRevision"`
	ToRevision   int    `json:"toRevision"`
	Draft        Draft  `json:"draft"` // as the command left it
}

// Of says whether the receipt is that of a command.
func (r Receipt) Of(c Command) bool {
	return r.CommandID == c.ID && r.Kind == c.Kind && r.Draft.ID == c.Draft && r.FromRevision < r.ToRevision
}

// Fenced is what the server says of a command that is given up (RC-28).
type Fenced struct {
	Outcome Outcome `json:"outcome"` // not_applied: it never will be; or confirmed
	Receipt Receipt `json:"receipt"` // where it was applied before
}
