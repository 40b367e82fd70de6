# Rooms and commands share their names, so programs are built into bin/.
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)

.PHONY: usage build test race contents quiet lint fuzz generate check bench bench-huge bench-databases servers-up servers-down clean version

usage:
	@sed -n 's/^\([a-z-]*\):.*## /\1 	/p' Makefile | expand -t 18

build: ## build bin/tracegen and bin/replay
	go build -ldflags "-X main.version=$(VERSION)" -o bin/ ./cmd/...

test: ## run the tests
	go test ./...

race: ## run the tests under the race detector
	.ci/check race

contents: ## print a digest of each database's contents after each workload
	go test -count=1 -v -run '^Test(Contents|OnAServer|Server|Node)$$/^(contents|format1-.*)$$' ./bindings/... | grep -e ' a [0-9a-f]' -e '^ok' -e FAIL

quiet: ## test the verdicts in real time, and 20 healthy runs; needs a quiet machine
	go test -tags quiet -count=1 -v -run TestQuiet ./replay

lint: ## check format, vet, staticcheck, layering, modules and schemas
	.ci/check format vet staticcheck layering modules proto

fuzz: ## run each fuzz test for FUZZTIME (60s or 3s)
	.ci/check fuzz

generate: ## generate code from the schemas
	.ci/buf generate

check: ## all of the above and more, as continuous integration does
	.ci/check

bench: ## print sizes, ratios, rates and lateness beside their bars; takes some 5 minutes
	@go test -tags bench -count=1 -p 1 -v -timeout 1h -run '^TestRatios$$' ./tracegen ./replay

bench-huge: build ## make, verify, seek in and replay a trace of OPS=10^9 over RECORDS=5*10^9; TMPDIR holds it
	@.ci/bench-huge

bench-databases: ## print what each binding costs over its bare client
	@.ci/bench-databases

servers-up: ## start a server for tests in the background: DB=redis
	@go run ./bindings/servers/up -background $(DB)

servers-down: ## stop it, or all that were started so: DB=redis
	@go run ./bindings/servers/down $(DB)

clean: ## remove what was built and the tools that checks installed
	rm -rf bin .tools

version: ## print the version that build links in
	@echo $(VERSION)
