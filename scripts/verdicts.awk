# Reads a report.json and prints "SPEC VERDICT" for every spec of the target
# itself: not for those of the control run, nor for crash points. With why=1 the
# report's reason follows, where there is one, as the report writes it.

/^  "specs": \[$/ { inside = 1 }
/^  \]/ { inside = 0 }

# The indentation is that of an entry's own fields.
inside && /^      "id": "/ { split($0, part, "\""); id = part[4] }
inside && /^      "verdict": "/ { split($0, part, "\""); verdict = part[4] }
inside && why && /^      "reason": "/ {
  reason = $0
  sub(/^      "reason": "/, " ", reason)
  sub(/",$/, "", reason)
}
inside && /^    }/ { print id, verdict reason; reason = "" }
