#!/usr/bin/env bash
# Everything that must hold before a change lands: the fast look, all tests (the
# packages with concurrency under the race detector), the helpers that somebody
# else wrote, and the product run from end to end.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/steps.sh

# Far above what a run takes on two slow cores: it ends a hang, it measures nothing.
limit=20m
reports=$(mktemp -d)
cleanup() {
  rm -rf "$reports"
  [ -z "${tally_is_mine:-}" ] || rm -f "$HOLDFAST_TALLY"
}
trap cleanup EXIT

# holdfast STATUS NAME VERB ARGUMENTS... runs the product; it must end with STATUS.
holdfast() {
  local want=$1 name=$2
  shift 2
  expect "$want" "$name" timeout --kill-after=10s "$limit" bin/holdfast "$@" || true
}

# gate STATUS TARGET runs the gate with a report folder of its own.
gate() {
  holdfast "$1" "holdfast run $2 (exit $1)" run "$2" --out "$reports/$(basename "$2" .yaml)"
}

# judged TARGET VERDICT CLAUSE... holds the report of that gate to a verdict a
# clause: fail means that at least one of its specs failed, pass that all passed.
judged() {
  local name verdicts verdict=$2 clause
  name=$(basename "$1" .yaml)
  for clause in "${@:3}"; do
    verdicts=$(grep -F "\"id\":\"$clause/" "$reports/$name/results.jsonl" | grep -oE '"verdict":"[a-z-]+"' | sort -u) || true
    case $verdict in
      fail) step "$name: $clause fails" grep -qx '"verdict":"fail"' <<<"$verdicts" || echo "$verdicts" ;;
      pass) step "$name: $clause passes" test "$verdicts" = '"verdict":"pass"' || echo "$verdicts" ;;
    esac
  done
}

# Which packages start goroutines or lock: their sources say so, so that a new one
# cannot be forgotten in a list. Of all packages (on stdin, one a line).
concurrent() {
  comm -12 - <(grep -rlE --include='*.go' '^[[:space:]]*go [A-Za-z_(]|"sync"|"sync/atomic"|golang\.org/x/sync' . |
    xargs -n1 dirname | LC_ALL=C sort -u)
}

tests() {
  local all racing rest
  all=$(go list -f '{{.Dir}}' ./... | sed "s|^$PWD|.|" | LC_ALL=C sort)
  if ! command -v gcc >/dev/null; then
    skip "race detector" "no gcc"
    gotest "go test" -count=1 -timeout "$limit" ./... || true
    return
  fi
  racing=$(concurrent <<<"$all")
  rest=$(comm -23 <(cat <<<"$all") <(cat <<<"$racing"))
  # One package a line, and none has a space.
  # shellcheck disable=SC2086
  [ -z "$racing" ] || CGO_ENABLED=1 gotest "go test -race" -race -count=1 -timeout "$limit" $racing || true
  # shellcheck disable=SC2086
  [ -z "$rest" ] || gotest "go test" -count=1 -timeout "$limit" $rest || true
}

step "setup" scripts/setup.sh || { finish; exit 1; }
scripts/check.sh || failed_steps+=("check (see above)")
tests
if ! step "build" make --no-print-directory build; then
  finish
  exit 1
fi

# -- from end to end ---------------------------------------------------------
gate 0 reference
gate 0 reference-http
holdfast 0 "holdfast mutants" mutants

# Helpers that nobody here wrote. What they do under these faults was found by hand
# (fixtures/thirdparty/README.md), so a gate that misses it is blind, and one that
# fails what held is wrong.
if step "thirdparty go" fixtures/thirdparty/install.sh go; then
  gate 1 fixtures/targets/go-sdk-memory.yaml
  judged go-sdk-memory fail DU-04
  judged go-sdk-memory pass DU-01
fi
if command -v npm >/dev/null && command -v node >/dev/null; then
  if step "thirdparty npm" fixtures/thirdparty/install.sh npm; then
    gate 1 fixtures/targets/server-memory.yaml
    judged server-memory fail DU-04 DU-05
    judged server-memory pass DU-01
    gate 1 fixtures/targets/server-filesystem.yaml
    judged server-filesystem fail DU-04
    judged server-filesystem pass DU-01
  fi
else
  skip "server-memory and server-filesystem" "no node or no npm"
fi

# -- hooks for what comes later: one step each, after the tool it needs was asked
# -- for in scripts/setup.sh (container engine, browser, PostgreSQL)

finish
