# Askgate. `make run` and `make test` do everything from a fresh Debian 12 with Swift 6.3 on.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# The gateway is linked against Debian's C libraries, and carries Swift's own in the binary.
# Exclusive access is checked in every debug build, which all tests run; a release does without the 5 % that it takes.
RELEASE := -c release --static-swift-stdlib -Xswiftc -enforce-exclusivity=unchecked --product askgate
# Where the kit lies that measures gateways side by side.
BENCH_KIT ?= ../shared/bench
SECONDS_EACH ?= 60

.PHONY: help run build test unit lint format fuzz tsan asan bench clean

help:  ## Lists what can be made.
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):[^#]*## /\1\t/' | expand -t 10

run: build  ## Builds the release and starts it on the embedded development defaults.
	@exec .build/release/askgate serve --development

build:  ## Sets up what is missing and builds the release binary, .build/release/askgate.
	@Scripts/setup
	@swift build $(RELEASE)

test:  ## Everything: set-up, format, imports, sizes, and every test against the real things.
	@Scripts/setup --tests
	@Scripts/lint
	@Scripts/test

unit:  ## Every test but those that start the gateway.
	@swift test --skip IntegrationTests

lint:  ## Format, imports, sizes and banned calls.
	@Scripts/lint

format:  ## Formats the code in place.
	@swift format -i --parallel -r Package.swift Sources Tests $(wildcard Fuzz Benchmarks)

fuzz:  ## Runs every fuzzer for SECONDS_EACH (60) seconds.
	@Scripts/fuzz $(SECONDS_EACH)

tsan:  ## Tests with threads and sockets, and the gateway they start, under the thread sanitizer.
	@Scripts/setup --tests
	@Scripts/sanitize thread

asan:  ## The same under the address sanitizer.
	@Scripts/setup --tests
	@Scripts/sanitize address

bench: build  ## Measures the gateway beside others with the kit in BENCH_KIT.
	@Scripts/bench $(BENCH_KIT)

clean:  ## Removes what was built.
	@rm -rf .build
