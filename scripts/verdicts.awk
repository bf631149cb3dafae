# Reads a report.json and prints "SPEC VERDICT" for every spec of the target
# itself: not for those of the control run, nor for crash points.

/^  "specs": \[$/ { inside = 1 }
/^  \]/ { inside = 0 }

# The indentation is that of an entry's own fields.
inside && /^      "id": "/ { split($0, part, "\""); id = part[4] }
inside && /^      "verdict": "/ { split($0, part, "\""); print id, part[4] }
