package helper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/holdfast-mcp/holdfast/reference/sidecar"
)

// Item is a record as the app shows it.
type Item struct {
	ItemID string         `json:"item_id"`
	Title  string         `json:"title"`
	Status sidecar.Status `json:"status"`
	Notes  []ItemNote     `json:"notes"`
}

// ItemNote is a note as the app shows it.
type ItemNote struct {
	Text string `json:"text"`
	Seq  int64  `json:"seq"` // of the intent that it came from, 0 if from none
}

// What the app says instead of an item. Any other error means that the app did
// not answer the question.
var (
	ErrNotThere           = errors.New("the item is not there")
	ErrAccountUnavailable = errors.New("the item is another account's")
	ErrAccountUnresolved  = errors.New("no account is resolved yet")
)

// AppVersionError says that the app speaks another contract version (WR-31).
type AppVersionError struct{ App, Helper int }

func (e *AppVersionError) Error() string {
	return fmt.Sprintf("the app speaks contract version %d, this helper speaks contract version %d; run builds that agree", e.App, e.Helper)
}

// AppReader asks the app, the only one that opens the library.
type AppReader interface {
	// Item returns the item. Errors: ErrNotThere, ErrAccountUnavailable,
	// ErrAccountUnresolved, *AppVersionError, or anything else for no answer.
	Item(ctx context.Context, itemID string) (Item, error)
}

// Versions compares the contract versions of helper and app before a command is
// accepted, so that none is accepted that this app will never apply (WR-31).
type Versions interface {
	// Agree returns *AppVersionError if the app says that it speaks another
	// version, nil if it says the same or nothing: an app that is away may be
	// of the right version when it comes.
	Agree(ctx context.Context) error
}

// VersionHeader is how helper and app tell each other their contract version.
const VersionHeader = "Holdfast-Contract-Version"

// AppClient is the AppReader over the app's loopback API.
type AppClient struct {
	base    string
	limit   time.Duration
	version int
	http    *http.Client
}

// NewAppClient asks the app at base; an answer later than limit is none.
func NewAppClient(base string, limit time.Duration) *AppClient {
	// One connection a question: a killed app never leaves a stale one behind.
	return &AppClient{base: base, limit: limit, version: sidecar.ContractVersion, http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
}

// As makes the client speak another contract version.
func (a *AppClient) As(version int) *AppClient {
	a.version = version
	return a
}

// maxItem bounds what is read of one answer, in bytes.
const maxItem = 64 << 20

// agreeing bounds the comparison of versions: every command waits for it, also
// while the app is there and does not answer.
const agreeing = 250 * time.Millisecond

// Agree implements Versions.
func (a *AppClient) Agree(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, min(agreeing, a.limit))
	defer cancel()
	res, err := a.ask(ctx, "/agent/contract")
	if res != nil {
		res.Body.Close()
	}
	var version *AppVersionError
	if errors.As(err, &version) {
		return version
	}
	return nil
}

// ask sends one question and holds the answer's version against the own.
func (a *AppClient) ask(ctx context.Context, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set(VersionHeader, strconv.Itoa(a.version))
	res, err := a.http.Do(req)
	if err != nil {
		return nil, err
	}
	if said := res.Header.Get(VersionHeader); said != "" && said != strconv.Itoa(a.version) {
		res.Body.Close()
		v, _ := strconv.Atoi(said) // a word that is no number is version 0: it agrees with none
		return nil, &AppVersionError{App: v, Helper: a.version}
	}
	return res, nil
}

// Item implements AppReader.
func (a *AppClient) Item(ctx context.Context, itemID string) (Item, error) {
	ctx, cancel := context.WithTimeout(ctx, a.limit)
	defer cancel()
	res, err := a.ask(ctx, "/agent/items/"+url.PathEscape(itemID))
	var version *AppVersionError
	switch {
	case errors.As(err, &version):
		return Item{}, version
	case err != nil:
		return Item{}, fmt.Errorf("ask the app for item %s: %w", itemID, err)
	}
	defer res.Body.Close()
	switch res.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return Item{}, ErrNotThere
	case http.StatusForbidden:
		return Item{}, ErrAccountUnavailable
	case http.StatusServiceUnavailable:
		return Item{}, ErrAccountUnresolved
	default:
		return Item{}, fmt.Errorf("ask the app for item %s: it answered %s, expected 200, 403, 404 or 503", itemID, res.Status)
	}
	var item Item
	if err := json.NewDecoder(io.LimitReader(res.Body, maxItem)).Decode(&item); err != nil {
		return Item{}, fmt.Errorf("ask the app for item %s: its answer is not the item: %w", itemID, err)
	}
	if item.ItemID != itemID {
		return Item{}, fmt.Errorf("ask the app for item %s: it answered with item %q", itemID, item.ItemID)
	}
	return item, nil
}
