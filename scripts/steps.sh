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

# because FILE has finish say the lines of it below the step that failed last: whoever
# reads has the end of all this perhaps, and no more.
because() {
  local line
  while IFS= read -r line; do
    failed_steps+=("  $line")
  done < <(cut -c1-400 "$1")
}

# unexpected REPORT does so with what in a report is no pass, and with its seed.
unexpected() {
  [ -f "$1" ] || { failed_steps+=("  it left no report"); return; }
  because <(sed -n 's/^  "seed": \([0-9]*\),$/seed \1/p' "$1"
    awk -v why=1 -f scripts/verdicts.awk "$1" | awk '$2 != "pass" && $2 != "not-applicable"')
}

skip() { # skip NAME REASON
  counted 0 0 1
  printf '\n== skipped: %s: %s\n' "$1" "$2"
}

# gotest NAME ARGUMENTS... runs go test and counts its tests, not itself.
gotest() {
  local name=$1 failures
  shift
  failures=$(mktemp)
  printf '\n== %s\n' "$name"
  # Build failures reach the JSON stream; what is left on stderr is go's own.
  if ! go test -json "$@" | awk -v tally="$HOLDFAST_TALLY" -v failures="$failures" -f scripts/gotest.awk; then
    failed_steps+=("$name")
    because "$failures"
    rm -f "$failures"
    printf '== failed: %s\n' "$name"
    return 1
  fi
  rm -f "$failures"
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
