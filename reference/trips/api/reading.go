package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/holdfast-mcp/holdfast/reference/trips/ports"
)

// maxBody bounds a request's body, in bytes; maxText one field of a draft.
const (
	maxBody = 64 << 10
	maxText = 4 << 10
)

// name is what drafts and commands may be called: it stands in a URL as it is.
var name = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$`)

// ValidName says whether a draft or a command can be called so.
func ValidName(s string) bool { return name.MatchString(s) }

// ValidText says whether a field of a draft can hold a text. Every store takes such
// a one; U+0000 is taken by some databases only, so that it is refused here, for all
// of them.
func ValidText(s string) bool { return len(s) <= maxText && !strings.ContainsRune(s, 0) }

// command reads the body of a mutation. A missing expectedRevision or commandId is
// left to the rules; whatever is there must be right.
func command(w http.ResponseWriter, r *http.Request, user string, kind ports.Kind) (ports.Command, error) {
	c := ports.Command{User: user, Draft: r.PathValue("draft"), Kind: kind}
	known := []string{"expectedRevision", "commandId"}
	if kind == ports.Update {
		known = append(known, "patch")
	}
	body, err := members(w, r, known)
	if err != nil {
		return c, err
	}
	if raw, there := body["expectedRevision"]; there {
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil {
			return c, ports.Invalid("expectedRevision must be an integer; nothing was stored")
		}
		c.ExpectedRevision = &n
	}
	if raw, there := body["commandId"]; there {
		id, err := text(raw)
		if err != nil || !ValidName(id) {
			return c, ports.Invalid("commandId must be a string of 1 to 128 letters, digits and . _ : - that begins with a letter or digit; nothing was stored")
		}
		c.ID = id
	}
	if kind == ports.Update {
		c.Patch, err = patch(body["patch"])
	}
	return c, err
}

// patch reads the fields that an update changes.
func patch(raw json.RawMessage) (map[string]string, error) {
	if raw == nil {
		return nil, ports.Invalid("patch is missing; send the fields to change, as {field: text}; nothing was stored")
	}
	fields, err := object(raw)
	if err != nil {
		return nil, ports.Invalid("patch must be an object of {field: text}, each field once; nothing was stored")
	}
	if len(fields) == 0 {
		return nil, ports.Invalid("patch changes no field; send one of %s; nothing was stored", strings.Join(ports.Fields(), ", "))
	}
	p := map[string]string{}
	for field, raw := range fields {
		if !slices.Contains(ports.Fields(), field) {
			return nil, ports.Invalid("patch has the unknown field %q; there are %s; nothing was stored", field, strings.Join(ports.Fields(), ", "))
		}
		said, err := text(raw)
		if err != nil || !ValidText(said) {
			return nil, ports.Invalid("patch.%s must be a string of at most %d bytes without NUL; nothing was stored", field, maxText)
		}
		p[field] = said
	}
	return p, nil
}

// members reads a body that is one JSON object with known members only.
func members(w http.ResponseWriter, r *http.Request, known []string) (map[string]json.RawMessage, error) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return nil, ports.Invalid("the body could not be read to its end, or has more than %d bytes; nothing was stored", maxBody)
	}
	if !isText(raw) {
		return nil, ports.Invalid("the body must be UTF-8, and each escape in it a character; nothing was stored")
	}
	body, err := object(raw)
	if err != nil {
		// The body may hold a password, so it is not repeated.
		return nil, ports.Invalid("the body must be one JSON object, each member once; nothing was stored")
	}
	for member := range body {
		if !slices.Contains(known, member) {
			return nil, ports.Invalid("the body has an unknown member; there are %s; nothing was stored", strings.Join(known, ", "))
		}
	}
	return body, nil
}

// surrogate is an escape that stands for half of a character, paired two that stand for one.
var (
	paired    = regexp.MustCompile(`\\u[dD][89aAbB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`)
	surrogate = regexp.MustCompile(`\\u[dD][89a-fA-F]`)
)

// isText says whether JSON holds characters only. encoding/json takes anything else,
// and puts U+FFFD where it stood: a command would save what nobody has sent.
func isText(raw []byte) bool {
	escapes := bytes.ReplaceAll(raw, []byte(`\\`), []byte(" ")) // every backslash left begins one
	return utf8.Valid(raw) && !surrogate.Match(paired.ReplaceAll(escapes, nil))
}

var errNoObject = errors.New("it is not one JSON object with each member once")

// object reads a JSON object. Unlike json.Unmarshal it takes names letter by letter,
// and none twice: two readers could understand such a body differently.
func object(raw []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, errNoObject
	}
	all := map[string]json.RawMessage{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, errNoObject
		}
		member := key.(string) // the decoder lets no other key through
		if _, twice := all[member]; twice {
			return nil, errNoObject
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, errNoObject
		}
		all[member] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, errNoObject
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errNoObject
	}
	return all, nil
}

var errNoText = errors.New("it is not a string")

// text reads a JSON string; null is none.
func text(raw json.RawMessage) (string, error) {
	var s *string
	if json.Unmarshal(raw, &s) != nil || s == nil {
		return "", errNoText
	}
	return *s, nil
}
