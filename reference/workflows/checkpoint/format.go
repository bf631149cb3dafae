package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// Format is the version of the checkpoint's format that this build writes and reads.
const Format = 1

// document is a checkpoint file: the format, the digest of the exact bytes of
// the checkpoint, and the checkpoint.
type document struct {
	Format     int             `json:"format"`
	SHA256     string          `json:"sha256"`
	Checkpoint json.RawMessage `json:"checkpoint"`
}

func encode(o ports.Operation) ([]byte, error) {
	body, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("write the checkpoint of operation %s: %w", o.ID, err)
	}
	sum := sha256.Sum256(body)
	return fmt.Appendf(nil, "{\"format\":%d,\"sha256\":\"%s\",\"checkpoint\":%s}\n", Format, hex.EncodeToString(sum[:]), body), nil
}

// decode reads a checkpoint file and doubts all of it.
func decode(id string, raw []byte) (ports.Operation, error) {
	corrupt := func(why string) (ports.Operation, error) {
		return ports.Operation{}, &ports.CorruptError{Operation: id, Why: why}
	}
	var d document
	if err := json.Unmarshal(raw, &d); err != nil {
		return corrupt(fmt.Sprintf("its %d bytes are no JSON document", len(raw)))
	}
	if d.Format != Format && d.Format > 0 {
		return ports.Operation{}, &ports.FormatError{Operation: id, Found: d.Format, Reads: Format}
	}
	sum := sha256.Sum256(d.Checkpoint)
	if d.Format != Format || d.SHA256 != hex.EncodeToString(sum[:]) {
		return corrupt("its digest is not that of its content")
	}
	var o ports.Operation
	strict := json.NewDecoder(bytes.NewReader(d.Checkpoint))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&o); err != nil {
		return corrupt("it has not the fields of a checkpoint")
	}
	if _, err := strict.Token(); !errors.Is(err, io.EOF) {
		return corrupt("something follows it")
	}
	if why := implausible(id, o); why != "" {
		return corrupt(why)
	}
	return o, nil
}

// implausible says what no run of the engine could have stored.
func implausible(id string, o ports.Operation) string {
	switch {
	case o.ID != id:
		return "it is that of another operation"
	case o.Profile == "" || o.Target == "":
		return "it names no profile or no target"
	case o.Seq < 1 || len(o.Steps) == 0:
		return "it has no steps or no number"
	case !slices.Contains(ports.States(), o.State):
		return "its state is none"
	}
	next := o.Next()
	for i, s := range o.Steps {
		switch {
		case !slices.Contains(ports.StepStates(), s.State):
			return "the state of a step is none"
		case i > next && s.State != ports.Pending:
			return "a step was begun before the one in front of it was done"
		}
	}
	if (o.State == ports.Completed) != (next == len(o.Steps)) {
		return "its state is not that of its steps"
	}
	return ""
}
