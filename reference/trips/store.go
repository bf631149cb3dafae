package trips

import (
	"context"
	"strings"

	"github.com/holdfast-mcp/holdfast/reference/trips/ports"
	"github.com/holdfast-mcp/holdfast/reference/trips/postgres"
	"github.com/holdfast-mcp/holdfast/reference/trips/sqlite"
)

// openStore opens what a TRIPS_STORE setting names: a postgres:// or postgresql://
// DSN, or else the path of a SQLite file. A DSN can hold a password, so that no error
// repeats it.
func openStore(ctx context.Context, setting string) (ports.Database, error) {
	if isDSN(setting) {
		return postgres.Open(ctx, setting)
	}
	return sqlite.Open(ctx, setting)
}

func isDSN(setting string) bool {
	return strings.HasPrefix(setting, "postgres://") || strings.HasPrefix(setting, "postgresql://")
}
