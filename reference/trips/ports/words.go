// Package ports holds the words of trips and what its server stands on. Each port
// can be decorated by itself.
package ports

import "encoding/json"

// Status is where a draft stands.
type Status string

// The statuses. A submitted draft takes no further command.
const (
	Open      Status = "draft"
	Submitted Status = "submitted"
)

// Kind is what a command does.
type Kind string

// The kinds of commands.
const (
	Update Kind = "update"
	Submit Kind = "submit"
)

// Draft is a trip as it is saved.
type Draft struct {
	Draft       string `json:"draft"`
	Owner       string `json:"-"`        // who alone may see and change it
	Revision    int64  `json:"revision"` // from 1; each command moves it by one
	Status      Status `json:"status"`
	Destination string `json:"destination"`
	Purpose     string `json:"purpose"`
	Starts      string `json:"starts"`
	Ends        string `json:"ends"`
}

// Fields lists the fields that an update may change.
func Fields() []string { return []string{"destination", "purpose", "starts", "ends"} }

// field is where a draft keeps a field, nil where it has none of that name.
func (d *Draft) field(name string) *string {
	switch name {
	case "destination":
		return &d.Destination
	case "purpose":
		return &d.Purpose
	case "starts":
		return &d.Starts
	case "ends":
		return &d.Ends
	}
	return nil
}

// Command is a mutation as somebody asked for it. Its two identities have different
// jobs: ID names the logical mutation, ExpectedRevision the saved version that it
// was meant for.
type Command struct {
	ID               string // "" where it was not given
	User             string // who asks
	Draft            string
	Kind             Kind
	ExpectedRevision *int64            // nil where it was not given
	Patch            map[string]string // field to text; of an update only
}

// After is the draft once a command has been applied to it.
func (d Draft) After(c Command) Draft {
	d.Revision++
	if c.Kind == Submit {
		d.Status = Submitted
	}
	for name, text := range c.Patch {
		if at := d.field(name); at != nil {
			*at = text
		}
	}
	return d
}

// Receipt says that a command was applied, once, and what came of it.
type Receipt struct {
	CommandID string
	Draft     string
	Owner     string
	Kind      Kind
	Digest    string // of the command's content, see Ports.Digest
	From, To  int64  // revisions of the draft
	// Result is what the command was answered with, and what every repetition and
	// lookup is: a Result in JSON, byte for byte.
	Result json.RawMessage
}

// Result is the body of a confirmed command.
type Result struct {
	CommandID    string `json:"commandId"`
	Kind         Kind   `json:"kind"`
	FromRevision int64  `json:"fromRevision"`
	ToRevision   int64  `json:"toRevision"`
	Draft        Draft  `json:"draft"` // as this command saved it, not as it stands now
}
