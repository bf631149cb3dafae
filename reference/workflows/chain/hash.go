package chain

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/holdfast-mcp/holdfast/reference/workflows/definitions"
	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// Hash stands for exactly one write: profile, target, tool and arguments, without
// the confirmation itself. The order of names and the white space do not count.
func Hash(call ports.Call) string {
	var content map[string]any
	decoder := json.NewDecoder(bytes.NewReader(call.Arguments))
	decoder.UseNumber()
	if decoder.Decode(&content) != nil {
		content = nil // no object: the validation refuses it, and no confirmation has this hash
	}
	for _, name := range []string{definitions.Confirm, definitions.ConfirmHash, definitions.ConfirmID} {
		delete(content, name)
	}
	return digest(struct {
		Profile, Target, Tool string
		Arguments             map[string]any
	}{call.Profile, call.Target, call.Tool, content})
}

// digest is the SHA-256 of a value's JSON, in hex. Names of maps are sorted.
func digest(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("what was read from JSON does not marshal: " + err.Error()) // a programming error of this file
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
