// Package trips is the reference's server of trips: drafts that are changed by
// commands, each with a receipt, so that a command whose answer was lost can be
// looked up instead of repeated.
package trips

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/holdfast-mcp/holdfast/reference/trips/api"
	"github.com/holdfast-mcp/holdfast/reference/trips/ports"
)

// Config says where a server finds its world.
type Config struct {
	Port      int    // on 127.0.0.1; 0 takes a free one
	Store     string // path of a SQLite file, or a postgres:// DSN
	Accounts  string // file of the accounts
	Drafts    []ports.Draft
	Deadlines api.Deadlines // of the page

	Stderr io.Writer // logs; nil means the process's
	// Listening, when not nil, is told the base URL once requests are served.
	Listening func(url string)
}

// FromEnv reads the configuration:
//
//	PORT                     port on 127.0.0.1, 0 for any free one (required)
//	TRIPS_STORE              path of a SQLite file, or a postgres:// DSN (required)
//	TRIPS_ACCOUNTS           file of the accounts, {"accounts": [{"name", "token"}]}; a password is that token (required)
//	TRIPS_DRAFTS             drafts to store where there is none of that name, [{"draft", "owner", "destination", "purpose", "starts", "ends"}]
//	EDITOR_DEADLINE          how long the page waits for a mutation, a duration (default 5s)
//	EDITOR_LOOKUP_DEADLINE   how long the page waits for a lookup (default 3s)
func FromEnv(getenv func(string) string) (Config, error) {
	c := Config{Store: getenv("TRIPS_STORE"), Accounts: getenv("TRIPS_ACCOUNTS")}
	if c.Store == "" {
		return c, errors.New("trips: TRIPS_STORE is not set; set it to the path of a SQLite file or to a postgres:// DSN")
	}
	if scheme, _, isURL := strings.Cut(c.Store, "://"); isURL && !isDSN(c.Store) {
		// The rest may hold a password, so it is not repeated.
		return c, fmt.Errorf("trips: TRIPS_STORE is an address that begins with %q, expected the path of a SQLite file or a postgres:// DSN", scheme+"://")
	}
	if c.Accounts == "" {
		return c, errors.New("trips: TRIPS_ACCOUNTS is not set; set it to the file of the accounts")
	}
	var err error
	if c.Port, err = strconv.Atoi(getenv("PORT")); err != nil || c.Port < 0 || c.Port > 65535 {
		return c, fmt.Errorf("trips: PORT is %q, expected a number from 0 to 65535, 0 for any free port", getenv("PORT"))
	}
	if c.Drafts, err = drafts(getenv("TRIPS_DRAFTS")); err != nil {
		return c, fmt.Errorf("trips: TRIPS_DRAFTS: %w", err)
	}
	for _, d := range []struct {
		variable  string
		into      *time.Duration
		otherwise time.Duration
	}{
		{"EDITOR_DEADLINE", &c.Deadlines.Mutation, 5 * time.Second},
		{"EDITOR_LOOKUP_DEADLINE", &c.Deadlines.Lookup, 3 * time.Second},
	} {
		if *d.into, err = duration(getenv(d.variable), d.otherwise); err != nil {
			return c, fmt.Errorf("trips: %s: %w", d.variable, err)
		}
	}
	return c, nil
}

func duration(word string, otherwise time.Duration) (time.Duration, error) {
	if word == "" {
		return otherwise, nil
	}
	d, err := time.ParseDuration(word)
	if err != nil || d < time.Millisecond {
		return 0, fmt.Errorf("it is %q, expected a duration of at least 1ms, such as 500ms", word)
	}
	return d, nil
}

// drafts reads the drafts of a fresh store.
func drafts(text string) ([]ports.Draft, error) {
	if text == "" {
		return nil, nil
	}
	if !utf8.ValidString(text) {
		return nil, errors.New("it is not UTF-8; write it anew")
	}
	var given []struct{ Draft, Owner, Destination, Purpose, Starts, Ends string }
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&given); err != nil {
		return nil, fmt.Errorf(`expected [{"draft", "owner", "destination", "purpose", "starts", "ends"}]: %w`, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("behind the list there is something else; leave it out")
	}
	var all []ports.Draft
	seen := map[string]bool{}
	for i, g := range given {
		if !api.ValidName(g.Draft) || g.Owner == "" || seen[g.Draft] {
			return nil, fmt.Errorf("number %d lacks an owner, or its draft is no name of 1 to 128 letters, digits and . _ : -, or is there twice", i+1)
		}
		for _, text := range []string{g.Owner, g.Destination, g.Purpose, g.Starts, g.Ends} {
			if !api.ValidText(text) {
				return nil, fmt.Errorf("number %d has a text with U+0000 or of more than 4096 bytes, which no draft can hold; shorten it, or leave that character out", i+1)
			}
		}
		seen[g.Draft] = true
		all = append(all, ports.Draft{
			Draft: g.Draft, Owner: g.Owner, Revision: 1, Status: ports.Open,
			Destination: g.Destination, Purpose: g.Purpose, Starts: g.Starts, Ends: g.Ends,
		})
	}
	return all, nil
}

func (c Config) logger() *slog.Logger {
	w := c.Stderr
	if w == nil {
		w = os.Stderr
	}
	return slog.New(slog.NewTextHandler(w, nil))
}
