# Steps that are counted, for check.sh and test.sh (sourced). Every step appends
# "PASSED FAILED SKIPPED" to $HOLDFAST_TALLY, so that whoever set it can add up.
# A step that fails does not end the script; `finish` does, with what failed.

if [ -z "${HOLDFAST_TALLY:-}" ]; then
  HOLDFAST_TALLY=$(mktemp)
  export HOLDFAST_TALLY
  trap 'rm -f "$HOLDFAST_TALLY"' EXIT
  tally_is_mine=true
fi
failed_steps=()

counted() { # counted PASSED FAILED SKIPPED
  printf '%d %d %d\n' "$@" >>"$HOLDFAST_TALLY"
}

# expect STATUS NAME COMMAND... runs a step that must end with that exit status.
expect() {
  local want=$1 name=$2 got=0
  shift 2
  printf '\n== %s\n' "$name"
  "$@" || got=$?
  if [ "$got" -eq "$want" ]; then
    counted 1 0 0
    return
  fi
  counted 0 1 0
  failed_steps+=("$name: exit $got, expected $want")
  printf '== failed: %s: exit %d, expected %d\n' "$name" "$got" "$want"
  return 1
}

step() { # step NAME COMMAND...
  expect 0 "$@"
}

skip() { # skip NAME REASON
  counted 0 0 1
  printf '\n== skipped: %s: %s\n' "$1" "$2"
}

# gotest NAME ARGUMENTS... runs go test and counts its tests, not itself.
gotest() {
  local name=$1
  shift
  printf '\n== %s\n' "$name"
  # Build failures reach the JSON stream; what is left on stderr is go's own.
  if ! go test -json "$@" | awk -v tally="$HOLDFAST_TALLY" -f scripts/gotest.awk; then
    failed_steps+=("$name")
    printf '== failed: %s\n' "$name"
    return 1
  fi
}

total() {
  awk '{ p += $1; f += $2; s += $3 } END { printf "%d passed, %d failed%s\n", p, f, s ? ", " s " skipped" : "" }' "$HOLDFAST_TALLY"
}

# finish says what failed, and the sum unless a caller adds up; it is the last word.
finish() {
  if [ ${#failed_steps[@]} -gt 0 ]; then
    printf '\nfailed steps:\n'
    printf '  %s\n' "${failed_steps[@]}"
  fi
  [ -z "${tally_is_mine:-}" ] || { echo; total; }
  [ ${#failed_steps[@]} -eq 0 ]
}
