#!/usr/bin/env bash
# Installs what `make test` needs and the machine lacks, one function a tool.
# As root, or with sudo that asks nothing, by apt package names; elsewhere it
# names what is missing. A missing tool fails with CI=true; without, it is named
# and the steps that need it are skipped.
#
#   setup.sh [TOOL...]     all tools when none is named
#
# Exit: 0 all there (or missing and not CI), 1 a tool that must be there is missing.
set -euo pipefail
. "${BASH_SOURCE[0]%/*}/postgres.sh"

missing=()
refreshed=false

say() { printf 'setup: %s\n' "$*"; }

# apt PACKAGE... installs, or says why it may not. Its words go to stderr only
# when it fails.
apt() {
  local -a as=()
  if ! command -v apt-get >/dev/null; then
    say "no apt-get here: install by your system's own means: $*"
    return 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    if ! sudo -n true 2>/dev/null; then
      say "neither root nor sudo without a password: run yourself: apt-get install $*"
      return 1
    fi
    as=(sudo -n)
  fi
  local log
  log=$(mktemp)
  if ! $refreshed; then
    "${as[@]}" apt-get update >"$log" 2>&1 || { cat "$log" >&2; say "apt-get update failed (above); trying with the lists that are here"; }
    refreshed=true
  fi
  say "installing $*"
  if ! "${as[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    say "apt-get install $* failed (above)"
    return 1
  fi
  rm -f "$log"
}

lacks() { # lacks TOOL WHAT-IT-IS-FOR
  say "missing: $1 ($2)"
  missing+=("$1")
}

has() { command -v "$1" >/dev/null; }

# Go itself: Debian 12's is too old for go.mod, so it is only asked for. A newer
# patch release than the installed one is fetched by the go command on its own.
need_go() {
  has go || lacks go "everything; install the version that go.mod names, or a newer one"
}

# The race detector links with a C compiler; the product itself does not.
need_gcc() {
  has gcc || apt gcc libc6-dev || true
  has gcc || lacks gcc "go test -race"
}

# The SQLite of fixtures/outside is compiled for the Node that is here; node-gyp
# needs python3 as well.
need_cxx() {
  has g++ || apt g++ || true
  has make || apt make || true
  has g++ || lacks g++ "compiling better-sqlite3 for fixtures/outside"
  has make || lacks make "compiling better-sqlite3 for fixtures/outside"
}

# The npm helpers in fixtures/thirdparty and fixtures/outside run on Node.
need_node() {
  has node || apt nodejs || true
  has npm || apt npm || true
  has node || lacks node "the npm helpers server-memory and server-filesystem, fixtures/outside and fixtures/notes-node"
  has npm || lacks npm "installing those helpers"
}

# Crash points must be exact on a program of any kind: one of Python's is among them.
need_python3() {
  has python3 || apt python3 || true
  has python3 || lacks python3 "the test that crash points are exact on a Python program"
}

# The tracer is held to a second one, where that one can be exact at all.
need_strace() {
  has strace || apt strace || true
  has strace || lacks strace "the test that strace kills at the same call as our tracer"
}

# The page that a person sees is opened in a real browser.
need_chromium() {
  has chromium || apt chromium || true
  has chromium || lacks chromium "the specs that open the app's page, and the tests of the browser"
}

# A store of trips is a PostgreSQL, which the tests start from the server's programs.
# Debian's package starts a cluster of its own as well; nobody here touches that one.
need_postgresql() {
  postgres_is_here || apt postgresql || true
  postgres_is_here || lacks postgresql "the tests and specs that keep a store in a PostgreSQL"
}

tools=("$@")
[ ${#tools[@]} -gt 0 ] || tools=(go gcc cxx node python3 strace chromium postgresql)
for tool in "${tools[@]}"; do
  if ! declare -F "need_$tool" >/dev/null; then
    say "unknown tool $tool; known: $(declare -F | sed -n 's/^declare -f need_//p' | tr '\n' ' ')" >&2
    exit 1
  fi
done
for tool in "${tools[@]}"; do
  "need_$tool"
done

if [ ${#missing[@]} -eq 0 ]; then
  say "all there: ${tools[*]}"
  exit 0
fi
if [ "${CI:-}" = true ]; then
  say "CI=true and missing: ${missing[*]}" >&2
  exit 1
fi
say "going on without: ${missing[*]}; steps that need them are skipped"
