#!/usr/bin/env bash
# The gate on the reference. Where there is no Chromium, the specs that open a page
# in it would be not-run and the run incomplete; they are then left out by name, and
# one line says which, and how to get them.
#
#   run.sh [FLAG...]       flags of `holdfast run`
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/browser.sh

if ! browser_is_here; then
  echo "run: no Chromium here, so ${browser_specs[*]} are left out; to have them, install it (apt-get install chromium), or let make test do so" >&2
fi
# shellcheck disable=SC2046 # one word each
exec "${HOLDFAST:-bin/holdfast}" run $(without_browser) "$@"
