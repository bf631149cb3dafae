package world

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/holdfast-mcp/holdfast/fixtures/account"
)

func TestLeaksAreCountedBeforeTheyAreTakenOut(t *testing.T) {
	accounts := account.Generate()
	a, b := accounts.Accounts[0], accounts.Accounts[1]
	taken := func([]byte) []byte { return []byte("taken out") }
	for _, tt := range []struct {
		name, text string
		want       int
	}{
		{"nothing", "an ordinary line", 0},
		{"a token", "Authorization: Bearer " + a.Token, 1},
		{"both accounts' tokens", a.Token + " " + b.Token, 2},
		{"a key in base64", base64.StdEncoding.EncodeToString(b.Key), 1},
		{"a key in hex", hex.EncodeToString(a.Key), 1},
		{"a key as it is", "x" + string(a.Key) + "y", 1},
		{"a token in base64", base64.StdEncoding.EncodeToString([]byte("user:" + a.Token)), 1},
		{"what was taken out already", "token [redacted]", 0},
	} {
		l := NewLeaks(accounts)
		if got := l.OfLog("app", taken)([]byte(tt.text)); string(got) != "taken out" {
			t.Errorf("%s: kept is %q", tt.name, got)
		}
		if got := l.seen["log of app"]; got.found != tt.want || got.texts != 1 {
			t.Errorf("%s: counted %+v, expected %d", tt.name, got, tt.want)
		}
	}
}

func TestLeaksOfAHistoryAreCountedByKind(t *testing.T) {
	accounts := account.Generate()
	l := NewLeaks(accounts)
	count := l.OfHistory(func(line []byte) []byte { return line })
	for kind, text := range map[string]string{"call": accounts.Accounts[0].Token, "look": "nothing"} {
		line, err := json.Marshal(map[string]any{"kind": kind, "said": fmt.Sprintf(`{"within":%q}`, text)})
		if err != nil {
			t.Fatal(err)
		}
		count(line)
	}
	if l.seen["call"] != (leaked{1, 1}) || l.seen["look"] != (leaked{1, 0}) {
		t.Errorf("counted %+v", l.seen)
	}
	var none *Leaks
	if got := none.OfHistory(nil); got != nil {
		t.Error("who counts nothing changes the redaction")
	}
}
