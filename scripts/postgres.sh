# Whether there is a PostgreSQL server to start, where holdfast looks too (sourced).

postgres_is_here() {
  command -v postgres && command -v initdb || compgen -G '/usr/lib/postgresql/*/bin/initdb' || compgen -G '/usr/pgsql-*/bin/initdb'
} >/dev/null
