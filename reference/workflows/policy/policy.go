// Package policy reads the configuration of the middleware from a file, anew for
// every call and every step, so that a change counts at once (WF-04).
package policy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/renameio/v2"

	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// File is a policy file.
type File struct{ path string }

// At is the policy file at a path.
func At(path string) File { return File{path} }

// Current reads the file as it stands.
func (f File) Current(context.Context) (ports.Policy, error) { return read(f.path) }

func read(path string) (ports.Policy, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return ports.Policy{}, fmt.Errorf("read the policy: %w; without a policy nothing is permitted", err)
	}
	return Parse(path, raw)
}

// Parse reads a policy strictly: a word that it does not know could be a control
// that somebody means to have.
func Parse(path string, raw []byte) (ports.Policy, error) {
	var p ports.Policy
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil {
		return ports.Policy{}, fmt.Errorf("read the policy %s: %w; nothing is permitted until that is mended", path, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return ports.Policy{}, fmt.Errorf("read the policy %s: something follows the policy; nothing is permitted until that is mended", path)
	}
	if err := check(p); err != nil {
		return ports.Policy{}, fmt.Errorf("read the policy %s: %w; nothing is permitted until that is mended", path, err)
	}
	return p, nil
}

func check(p ports.Policy) error {
	if p.Writes != "on" && p.Writes != "off" {
		return fmt.Errorf("writes is %q, expected on or off", p.Writes)
	}
	if p.ConfirmSeconds < 0 {
		return fmt.Errorf("confirm_seconds is %d, expected 0 or more", p.ConfirmSeconds)
	}
	for name, word := range p.Categories {
		if !slices.Contains([]string{"none", string(ports.Read), string(ports.Write)}, word) {
			return fmt.Errorf("category %q permits %q, expected none, read or write", name, word)
		}
	}
	for name, all := range p.Profiles {
		for _, a := range all {
			if a != ports.Read && a != ports.Write {
				return fmt.Errorf("profile %q has the access %q, expected read or write", name, a)
			}
		}
	}
	for name, t := range p.Tools {
		if t.Approval != "" && t.Approval != "required" && t.Approval != "none" {
			return fmt.Errorf("tool %q has approval %q, expected required or none", name, t.Approval)
		}
	}
	return nil
}

// Write replaces a policy file as a whole, so that no reader sees half of it.
func Write(path string, p ports.Policy) error {
	raw, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return fmt.Errorf("write the policy %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write the policy: %w", err)
	}
	if err := renameio.WriteFile(path, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the policy: %w", err)
	}
	return nil
}

// Begin writes the default policy unless there is one.
func Begin(path string) error {
	fresh := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := Write(fresh, Default()); err != nil {
		return err
	}
	err := os.Link(fresh, path) // another process may have been faster, and its policy changed since
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	if err = errors.Join(err, os.Remove(fresh)); err != nil {
		return fmt.Errorf("write the first policy: %w", err)
	}
	return nil
}

// Default is the policy that a server writes where it finds neither a policy nor
// a store: what it may do to begin with.
func Default() ports.Policy {
	claims := func(idempotent, safe bool) ports.Declared {
		return ports.Declared{Idempotent: idempotent, SafeToRetry: safe}
	}
	return ports.Policy{
		Guilds: []string{"guild-1"},
		Channels: map[string]ports.Place{
			"lobby": {Guild: "guild-1", Category: "open"}, "news": {Guild: "guild-1", Category: "open"},
			"records": {Guild: "guild-1", Category: "archive"}, "elsewhere": {Guild: "guild-2", Category: "open"},
		},
		Categories:     map[string]string{"open": "write", "archive": "read"},
		Profiles:       map[string][]ports.Access{"writer": {ports.Read, ports.Write}, "other": {ports.Read, ports.Write}, "reader": {ports.Read}},
		Writes:         "on",
		ConfirmSeconds: 300,
		Tools: map[string]ports.ToolPolicy{
			"read_messages":    {Declared: claims(true, true), Approval: "none", HonoursCancel: true},
			"publish":          {Declared: claims(false, false), Approval: "required", HonoursCancel: false},
			"update_message":   {Declared: claims(true, false), Approval: "required", HonoursCancel: true},
			"set_topic":        {Declared: claims(true, true), Approval: "none", HonoursCancel: true},
			"nudge":            {Declared: claims(false, true), Approval: "none", HonoursCancel: true},
			"composer_publish": {Declared: claims(false, false), Approval: "required", HonoursCancel: false},
		},
	}
}
