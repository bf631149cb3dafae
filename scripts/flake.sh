#!/usr/bin/env bash
# "No flake": the gate on a target, N times with N seeds, while two busy loops take
# the machine's time. Every run must pass (exit 0) with nothing inconclusive and
# nothing not-run. The last line says k of n.
#
#   flake.sh TARGET N [FLAG…]   a target file or a built-in name; N runs, seeds 1 to N;
#                               further flags go to each run: --profile receipts
#
# Exit: 0 all of them did, 1 one did not (its report is kept and named), 2 usage.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ $# -lt 2 ] || ! [[ $2 =~ ^[1-9][0-9]*$ ]] || [[ ${3:---} != --* ]]; then
  echo "usage: scripts/flake.sh TARGET N: got \"$*\"; expected a target and how many runs, such as: scripts/flake.sh reference 20" >&2
  exit 2
fi
target=$1 runs=$2
shift 2
holdfast=${HOLDFAST:-bin/holdfast}

reports=$(mktemp -d)
busy=()
cleanup() {
  # Only what was started here, by its number.
  if [ ${#busy[@]} -gt 0 ]; then
    kill "${busy[@]}" 2>/dev/null || true
    wait "${busy[@]}" 2>/dev/null || true
  fi
  rmdir "$reports" 2>/dev/null || true # what failed stays in it
}
trap cleanup EXIT
trap 'exit 130' INT TERM

for _ in 1 2; do
  (while kill -0 $$ 2>/dev/null; do :; done) & # as long as this script lives
  busy+=($!)
done

# flawed REPORT prints what is neither a pass nor a failure of the target.
flawed() {
  awk -f scripts/verdicts.awk "$1/report.json" | grep -E ' (inconclusive|not-run)$'
}

held=0
for ((seed = 1; seed <= runs; seed++)); do
  out=$reports/seed-$seed status=0
  "$holdfast" run "$target" "$@" --seed "$seed" --out "$out" >"$out.txt" 2>&1 || status=$?
  if [ "$status" -eq 0 ] && [ -f "$out/report.json" ] && ! flawed "$out"; then
    held=$((held + 1))
    printf 'seed %d: held\n' "$seed"
    rm -rf "$out" "$out.txt"
    continue
  fi
  printf 'seed %d: exit %d, report %s\n' "$seed" "$status" "$out"
  tail -n 8 "$out.txt"
done

printf '%d of %d held on %s, with two busy loops beside each\n' "$held" "$runs" "$target${*:+ $*}"
[ "$held" -eq "$runs" ]
