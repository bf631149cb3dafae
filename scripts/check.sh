#!/usr/bin/env bash
# The fast look at the tree: form, vet, staticcheck, and the short tests (unit
# tests and judges; nothing that starts a target).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/steps.sh

formed() {
  local files
  files=$(gofmt -l .)
  [ -z "$files" ] || { printf 'gofmt would change:\n%s\n' "$files"; return 1; }
}

step "gofmt" formed || true
step "go vet" go vet ./... || true
step "staticcheck" go tool staticcheck ./... || true
gotest "go test -short" -short ./... || true
finish
