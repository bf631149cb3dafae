package versions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reference/app"
	"github.com/holdfast-mcp/holdfast/reference/helper"
	"github.com/holdfast-mcp/holdfast/reference/versions/one"
	"github.com/holdfast-mcp/holdfast/reference/versions/two"
)

// process runs until ctx is done, configured as the current helper or app is.
type process func(ctx context.Context, getenv func(string) string) error

var processes = map[string]process{
	"helper@1": helperOf(one.HelperPorts),
	"helper@2": helperOf(two.HelperPorts),
	"app@1":    appOf(one.Version, one.AppPorts),
	"app@2":    appOf(two.Version, two.AppPorts),
}

// Names are the processes of older contract versions.
func Names() []string { return slices.Sorted(maps.Keys(processes)) }

// ConfigError says that the environment does not configure the process.
type ConfigError struct{ Err error }

func (e *ConfigError) Error() string { return e.Err.Error() }

// Unwrap is the reason.
func (e *ConfigError) Unwrap() error { return e.Err }

// Run is the process of that name, until ctx is done or its input ends. Errors:
// *ConfigError, and those of helper.Run and app.Run.
func Run(ctx context.Context, name string, getenv func(string) string) error {
	run, known := processes[name]
	if !known {
		return &ConfigError{fmt.Errorf("the reference has no process %q of an older contract version; there are %s", name, strings.Join(Names(), ", "))}
	}
	return run(ctx, getenv)
}

func helperOf(open func(context.Context, helper.Config) (helper.Ports, func() error, error)) process {
	return func(ctx context.Context, getenv func(string) string) error {
		c, err := helper.FromEnv(getenv)
		if err != nil {
			return &ConfigError{err}
		}
		ports, closeAll, err := open(ctx, c)
		if err != nil {
			return err
		}
		return errors.Join(helper.Run(ctx, c, ports), closeAll())
	}
}

// appOf ignores CONTRACT: an old app is of its own version.
func appOf(version int, open func(context.Context, app.Config) (app.Ports, func() error, error)) process {
	return func(ctx context.Context, getenv func(string) string) error {
		c, err := app.FromEnv(getenv)
		if err != nil {
			return &ConfigError{err}
		}
		c.Contract = version
		ports, closeAll, err := open(ctx, c)
		if err != nil {
			return err
		}
		return errors.Join(app.Run(ctx, c, ports), closeAll())
	}
}
