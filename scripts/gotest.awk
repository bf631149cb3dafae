# Reads `go test -json`. Prints one line a package, and all that a failed test,
# package or build said; appends "PASSED FAILED SKIPPED" to the file in `tally`.
# Every test and subtest counts once. A package that fails with no failed test of
# its own (it does not build, or it panicked) counts as one failure.

function text(line, key,    start) {
  if (!match(line, "\"" key "\":\"([^\"\\\\]|\\\\.)*\"")) return ""
  start = RSTART + length(key) + 4
  return unescape(substr(line, start, RSTART + RLENGTH - 1 - start))
}

function failed(name) { if (failures != "") print name >> failures }

# JSON's escapes as Go writes them, in one pass, so that \\n stays a backslash and an n.
function unescape(s,    out, at, next1) {
  out = ""
  while ((at = index(s, "\\")) > 0) {
    next1 = substr(s, at + 1, 1)
    out = out substr(s, 1, at - 1)
    if (next1 == "n") out = out "\n"
    else if (next1 == "t") out = out "\t"
    else if (next1 == "r") out = out "\r"
    else if (next1 == "u") {
      next1 = substr(s, at + 2, 4)
      out = out ((next1 in rune) ? rune[next1] : "\\u" next1)
      at += 4
    } else out = out next1
    s = substr(s, at + 2)
  }
  return out s
}

BEGIN { rune["003c"] = "<"; rune["003e"] = ">"; rune["0026"] = "&"; rune["001b"] = "\033" }

# What is no event is said by go itself, for instance about a pattern.
!/^\{/ { print; next }

{
  action = text($0, "Action"); package = text($0, "Package"); test = text($0, "Test")
  key = package SUBSEP test
}

action == "build-output" { printf "%s", text($0, "Output"); next }
action == "output" { said[key] = said[key] text($0, "Output"); next }

test != "" && (action == "pass" || action == "skip" || action == "fail") {
  count[action]++
  if (action == "fail") { broken[package]++; failed(package " " test); printf "%s", said[key] }
  if (action == "skip") printf "skip %s %s\n", package, test
  delete said[key]
  next
}

test == "" && action == "pass" {
  printf "ok   %s\n", package; delete said[key]; next
}

test == "" && action == "fail" {
  if (!(package in broken)) {
    count["fail"]++
    failed(package)
    # A test that never ended has no event of its own: what it said is here.
    for (k in said) if (index(k, package SUBSEP) == 1 && k != key) printf "%s", said[k]
  }
  printf "%s", said[key]
  delete said[key]
  next
}

END {
  printf "%d %d %d\n", count["pass"], count["fail"], count["skip"] >> tally
}
