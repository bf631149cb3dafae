# holdfast: `make help` lists what can be asked for.
GO ?= go
SHELL := /bin/bash

.DEFAULT_GOAL := help
.PHONY: help build run check test bench flake thirdparty clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## one static binary: bin/holdfast
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/holdfast ./cmd/holdfast

run: build ## the gate on the reference; report in holdfast-report/
	@bin/holdfast run

check: ## the fast look: gofmt, vet, staticcheck, short tests
	@scripts/check.sh

test: ## everything that must hold before a change lands (installs what it needs)
	@scripts/test.sh

bench: ## the closing measurements, as ratios within one run; a table at the end
	$(GO) test -count=1 -run '^$$' -bench . ./faults ./faults/wire ./faults/crashpoint ./fixtures/launch ./fixtures/probe
	$(GO) test -count=1 -timeout 20m -run '^$$' -bench . ./bench

flake: build ## the gate on the reference 20 times, 20 seeds, two busy loops beside it
	@scripts/flake.sh reference 20

thirdparty: ## installs helpers that somebody else wrote into a cache folder
	@fixtures/thirdparty/install.sh

clean: ## removes what was built and reported here, not the cache of thirdparty
	rm -rf bin holdfast-report
