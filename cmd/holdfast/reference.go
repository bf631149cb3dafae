package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/holdfast-mcp/holdfast/fixtures/account"
	"github.com/holdfast-mcp/holdfast/fixtures/chat"
	defects "github.com/holdfast-mcp/holdfast/fixtures/mutants"
	"github.com/holdfast-mcp/holdfast/fixtures/notes"
	"github.com/holdfast-mcp/holdfast/fixtures/postgres"
	"github.com/holdfast-mcp/holdfast/reference/app"
	"github.com/holdfast-mcp/holdfast/reference/editor"
	"github.com/holdfast-mcp/holdfast/reference/helper"
	"github.com/holdfast-mcp/holdfast/reference/trips"
	"github.com/holdfast-mcp/holdfast/reference/versions"
	"github.com/holdfast-mcp/holdfast/reference/workflows"
	"github.com/holdfast-mcp/holdfast/suites"
)

// processes are the processes of the reference, and the outside services of
// ours, that this binary can be. Each reads its configuration from the environment.
var processes = map[string]func(context.Context) error{
	"helper":    runHelper,
	"app":       runApp,
	"account":   runAccount,
	"workflows": runWorkflows,
	"chat":      runChat,
	"postgres":  runPostgres,
	"trips":     runTrips,
	"editor":    runEditor,
	"notes":     runNotes,
}

func init() {
	for _, name := range versions.Names() {
		processes[name] = func(ctx context.Context) error {
			err := versions.Run(ctx, name, os.Getenv)
			var c *versions.ConfigError
			if errors.As(err, &c) {
				return suites.Usage("%w", c)
			}
			return err
		}
	}
}

func (p *program) referenceVerb() *cobra.Command {
	return &cobra.Command{
		Use:    "reference NAME",
		Short:  "Be one process of the reference (used by the harness)",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: p.verb(func(args []string) (int, error) {
			run, ok := processes[args[0]]
			if !ok {
				return 0, suites.Usage("the reference has no process %q; there are %s", args[0], strings.Join(slices.Sorted(maps.Keys(processes)), ", "))
			}
			return 0, untilSignalled(run)
		}),
	}
}

func (p *program) mutantVerb() *cobra.Command {
	return &cobra.Command{
		Use:    "mutant NAME PROCESS",
		Short:  "Be one process of the reference with one defect (used by the harness)",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
		RunE: p.verb(func(args []string) (int, error) {
			return 0, untilSignalled(func(ctx context.Context) error { return defects.Run(ctx, args[0], args[1], os.Getenv) })
		}),
	}
}

// untilSignalled runs a process until it ends or is told to.
func untilSignalled(run func(context.Context) error) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return run(ctx)
}

func runHelper(ctx context.Context) error {
	c, err := helper.FromEnv(os.Getenv)
	if err != nil {
		return suites.Usage("%w", err)
	}
	ports, closeAll, err := helper.DefaultPorts(ctx, c)
	if err != nil {
		return err
	}
	return errors.Join(helper.Run(ctx, c, ports), closeAll())
}

func runApp(ctx context.Context) error {
	c, err := app.FromEnv(os.Getenv)
	if err != nil {
		return suites.Usage("%w", err)
	}
	ports, closeAll, err := app.DefaultPorts(ctx, c)
	if err != nil {
		return err
	}
	return errors.Join(app.Run(ctx, c, ports), closeAll())
}

func runAccount(ctx context.Context) error {
	c, err := account.FromEnv(os.Getenv)
	if err != nil {
		return suites.Usage("%w", err)
	}
	return account.Run(ctx, c)
}

func runWorkflows(ctx context.Context) error {
	c, err := workflows.FromEnv(os.Getenv)
	if err != nil {
		return suites.Usage("%w", err)
	}
	ports, err := workflows.DefaultPorts(c)
	if err != nil {
		return err
	}
	return workflows.Run(ctx, c, ports)
}

func runChat(ctx context.Context) error {
	c, err := chat.FromEnv(os.Getenv)
	if err != nil {
		return suites.Usage("%w", err)
	}
	return chat.Run(ctx, c)
}

func runTrips(ctx context.Context) error {
	c, err := trips.FromEnv(os.Getenv)
	if err != nil {
		return suites.Usage("%w", err)
	}
	ports, closeAll, err := trips.DefaultPorts(ctx, c)
	if err != nil {
		return err
	}
	return errors.Join(trips.Run(ctx, c, ports), closeAll())
}

func runPostgres(ctx context.Context) error {
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("looking for the working directory: %w", err)
	}
	c, err := postgres.FromEnv(os.Getenv, dir, os.Getenv("HOLDFAST_RUN"))
	if err != nil {
		return suites.Usage("%w", err)
	}
	return postgres.Run(ctx, c)
}

func runEditor(ctx context.Context) error {
	c, err := editor.FromEnv(os.Getenv)
	if err != nil {
		return suites.Usage("%w", err)
	}
	ports, err := editor.DefaultPorts(c)
	if err != nil {
		return err
	}
	return editor.Run(ctx, c, ports)
}

func runNotes(ctx context.Context) error {
	c, err := notes.FromEnv(os.Getenv)
	if err != nil {
		return suites.Usage("%w", err)
	}
	ports, err := notes.DefaultPorts(c)
	if err != nil {
		return err
	}
	return notes.Run(ctx, c, ports)
}
