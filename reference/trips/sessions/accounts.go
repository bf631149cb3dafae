package sessions

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"os"

	"github.com/holdfast-mcp/holdfast/reference/trips/ports"
)

// File is a file of accounts, {"accounts": [{"name", "token"}]}; a user's password
// is the account's token. It is read anew for every sign-in, so that a change of it
// counts at once.
type File string

// Read reads the accounts: name to token. Its errors repeat nothing of the file.
func (f File) Read() (map[string]string, error) {
	raw, err := os.ReadFile(string(f))
	if err != nil {
		return nil, fmt.Errorf("read the accounts: %w", err)
	}
	var content struct {
		Accounts []struct{ Name, Token string }
	}
	if json.Unmarshal(raw, &content) != nil || len(content.Accounts) == 0 {
		return nil, fmt.Errorf(`read the accounts: %s must be {"accounts": [{"name", "token"}]} with at least one account`, string(f))
	}
	all := map[string]string{}
	for i, a := range content.Accounts {
		if _, twice := all[a.Name]; twice || a.Name == "" || a.Token == "" {
			return nil, fmt.Errorf("read the accounts: number %d in %s lacks a name or a token, or repeats a name", i+1, string(f))
		}
		all[a.Name] = a.Token
	}
	return all, nil
}

// Check says whether a password is a user's, and takes as long for one that is nobody's.
func (f File) Check(_ context.Context, user, password string) error {
	all, err := f.Read()
	if err != nil {
		return err
	}
	token, known := all[user]
	right, said := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(password))
	if subtle.ConstantTimeCompare(right[:], said[:]) != 1 || !known {
		return ports.ErrSignInRefused
	}
	return nil
}
