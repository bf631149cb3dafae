package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/holdfast-mcp/holdfast/reports"
)

// value is what a flag takes. An empty value is none: a variable of a CI job that
// is not set must not widen what is asked for.
type value[T any] struct {
	to       *T
	parse    func(written string, was T) (T, error)
	kind     string // as --help calls it
	expected string // what may be written, in words
	written  string
}

// Set takes one value. The error says what was expected; the flag and what was
// written are added by flagError.
func (v *value[T]) Set(written string) error {
	parsed, err := v.parse(written, *v.to)
	if err != nil {
		return errors.New(v.expected)
	}
	*v.to, v.written = parsed, written
	return nil
}

// String is the default in --help, and what was written after that.
func (v *value[T]) String() string { return v.written }

// Type is what --help calls the value.
func (v *value[T]) Type() string { return v.kind }

var errNone = errors.New("it is none")

// number takes a whole number from least on. Where 0 stands for a default, that
// cannot be written.
func number(to *int, least int) pflag.Value {
	v := &value[int]{to: to, kind: "int", expected: fmt.Sprintf("a number from %d", least)}
	v.parse = func(written string, _ int) (int, error) {
		n, err := strconv.Atoi(written)
		if err != nil || n < least {
			return 0, errNone
		}
		return n, nil
	}
	if *to != 0 {
		v.written = strconv.Itoa(*to)
	}
	return v
}

// seed takes any whole number.
func seed(to *int64) pflag.Value {
	return &value[int64]{to: to, kind: "int", expected: "a whole number, such as 7", parse: func(written string, _ int64) (int64, error) {
		return strconv.ParseInt(written, 0, 64)
	}}
}

// span takes a time that passes.
func span(to *time.Duration) pflag.Value {
	return &value[time.Duration]{to: to, kind: "duration", expected: "a duration such as 5m", parse: func(written string, _ time.Duration) (time.Duration, error) {
		d, err := time.ParseDuration(written)
		if err != nil || d < 0 {
			return 0, errNone
		}
		return d, nil
	}}
}

// text takes a text that is not empty.
func text(to *string, expected string) pflag.Value {
	return &value[string]{to: to, kind: "string", expected: expected, written: *to, parse: func(written, _ string) (string, error) {
		if strings.TrimSpace(written) == "" {
			return "", errNone
		}
		return written, nil
	}}
}

// texts takes one text each time that it is written.
func texts(to *[]string, expected string) pflag.Value {
	return &value[[]string]{to: to, kind: "string", expected: expected, parse: func(written string, was []string) ([]string, error) {
		if strings.TrimSpace(written) == "" {
			return nil, errNone
		}
		return append(was, written), nil
	}}
}

// patterns takes patterns with commas between them, each time that it is written.
func patterns(to *[]string) pflag.Value {
	const expected = "IDs of specs or clauses, profiles, or patterns of them, with commas between them; leave the flag out to have them all"
	return &value[[]string]{to: to, kind: "strings", expected: expected, parse: func(written string, was []string) ([]string, error) {
		for pattern := range strings.SplitSeq(written, ",") {
			if pattern = strings.TrimSpace(pattern); pattern == "" {
				return nil, errNone
			}
			was = append(was, pattern)
		}
		return was, nil
	}}
}

// flagError says what is wrong with a flag: which, what was written, what may be.
func flagError(_ *cobra.Command, err error) error {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	expected := bad.Unwrap().Error()
	if bad.GetFlag().Value.Type() == "bool" {
		expected = "true or false"
	}
	return fmt.Errorf("--%s is %q; expected %s", bad.GetFlag().Name, bad.GetValue(), expected)
}

// takes bounds the arguments of a verb; expected says in words what they are. No
// limit is a most below 0.
func takes(least, most int, expected string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) >= least && (most < 0 || len(args) <= most):
			return nil
		case len(args) == 0:
			return fmt.Errorf("%s was given nothing; expected %s", cmd.Name(), expected)
		}
		var given []string
		for _, a := range args {
			given = append(given, strconv.Quote(a))
		}
		return fmt.Errorf("%s was given %s (%s); expected %s", cmd.Name(), reports.Plural(len(args), "argument"), strings.Join(given, ", "), expected)
	}
}
