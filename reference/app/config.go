// Package app is the reference's app: it owns the user's library, restores the
// account's session, and settles the intents of the sidecar.
package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-mcp/holdfast/reference/sidecar"
)

// Config says where the app finds its world.
type Config struct {
	Sidecar     string // file, created if missing
	Library     string // a .db file, or a folder that holds library.db
	AccountURL  string // base URL of the account service
	Token       string // restores the session; "" means that nobody is signed in
	StagingRoot string // folder that attachments are relative to; "" means none
	Port        int    // on 127.0.0.1; 0 takes a free one
	Retry       time.Duration
	Contract    int // the contract version that the app says it speaks

	// Stderr takes the log; nil means the process's.
	Stderr io.Writer
	// Listening, if set, is told the base URL once requests are accepted.
	Listening func(url string)
}

// FromEnv reads the configuration:
//
//	SIDECAR             path of the sidecar (required)
//	LIBRARY             folder, or .db file, of the library (required)
//	ACCOUNT_URL         base URL of the account service (required)
//	ACCOUNT_TOKEN       token to restore the session with
//	ACCOUNT_TOKEN_FILE  file that holds it, instead
//	STAGING_ROOT        folder of staged attachments
//	PORT                loopback port; 0 (default) takes a free one
//	RETRY_INTERVAL      pause between two attempts, a duration (default 20ms)
//	CONTRACT            contract version to speak (default: this build's)
func FromEnv(getenv func(string) string) (Config, error) {
	c := Config{
		Sidecar: getenv("SIDECAR"), Library: getenv("LIBRARY"),
		AccountURL: strings.TrimRight(getenv("ACCOUNT_URL"), "/"), StagingRoot: getenv("STAGING_ROOT"),
	}
	for _, needed := range []struct{ name, value, what string }{
		{"SIDECAR", c.Sidecar, "the path of the sidecar file"},
		{"LIBRARY", c.Library, "the folder or .db file of the library"},
		{"ACCOUNT_URL", c.AccountURL, "the base URL of the account service"},
	} {
		if needed.value == "" {
			return c, fmt.Errorf("app: %s is not set; set it to %s", needed.name, needed.what)
		}
	}
	var err error
	if c.Token, err = token(getenv("ACCOUNT_TOKEN"), getenv("ACCOUNT_TOKEN_FILE")); err != nil {
		return c, err
	}
	if c.Port, err = number(getenv, "PORT", 0, 65535, 0); err != nil {
		return c, err
	}
	if c.Contract, err = number(getenv, "CONTRACT", 1, 1<<16, sidecar.ContractVersion); err != nil {
		return c, err
	}
	c.Retry = 20 * time.Millisecond
	if word := getenv("RETRY_INTERVAL"); word != "" {
		if c.Retry, err = time.ParseDuration(word); err != nil || c.Retry <= 0 {
			return c, fmt.Errorf("app: RETRY_INTERVAL is %q, expected a positive duration such as 20ms", word)
		}
	}
	return c, nil
}

func token(word, path string) (string, error) {
	if path == "" {
		return word, nil
	}
	if word != "" {
		return "", errors.New("app: ACCOUNT_TOKEN and ACCOUNT_TOKEN_FILE are both set; set one of them")
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("app: reading ACCOUNT_TOKEN_FILE: %w", err)
	}
	return strings.TrimSpace(string(raw)), nil
}

func number(getenv func(string) string, name string, least, most, otherwise int) (int, error) {
	word := getenv(name)
	if word == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("app: %s is %q, expected a number from %d to %d", name, word, least, most)
	}
	return n, nil
}
