# The one entry point to everything: `make help` lists what there is.
#
# Set-up (Debian packages) is part of `build`, so that `make test` and
# `make demo` work on a bare Debian 12 with Rust.

PREFIX ?= /usr/local
DESTDIR ?=
# What `make torture` runs: programs of our generator and of csmith each.
COUNT ?= 500
# Cases for each family of models of libc functions.
CASES ?= 10000
SEED ?= 1
# How long `make evaluate` explores each program.
SECONDS ?= 300

CARGO ?= cargo
TARGET := $(abspath $(or $(CARGO_TARGET_DIR),target))
RELEASE := $(TARGET)/release
export PARALLAX := $(RELEASE)/parallax

.DEFAULT_GOAL := help
.PHONY: help setup build test demo bench evaluate torture flips coreutils-check selfcheck-coreutils install deb book lint

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-20s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install the Debian packages that are missing (root or sudo), or say which
	@scripts/setup

build: setup ## Build target/release/parallax and parallax-cc
	$(CARGO) build --release --bin parallax
	@for name in parallax-cc parallax-c++; do ln -f $(RELEASE)/parallax $(RELEASE)/$$name || exit 1; done

test: build ## Build and run all tests
	$(CARGO) test --workspace

demo: build ## Show the tool at work on a small program with a git history
	@scripts/demo $(RELEASE)

bench: build ## CPU time of traced against plain programs and of exploration, as tables
	$(CARGO) run --release -q -p xtask -- bench

evaluate: build ## Explore programs of coreutils from nothing, as a table (PROGRAMS=..., SECONDS=300)
	$(CARGO) run --release -q -p xtask -- evaluate --seconds $(SECONDS) $(PROGRAMS)

torture: build ## 500 generated and 500 csmith programs, 10,000 cases per family of models, 50 kills
	$(CARGO) run --release -q -p parallax-torture -- run --count $(COUNT) --seed $(SEED)
	$(CARGO) run --release -q -p parallax-torture -- run --count $(COUNT) --seed $(SEED) --csmith
	$(CARGO) run --release -q -p parallax-torture -- models --cases $(CASES) --seed $(SEED)
	PARALLAX_KILLS=50 $(CARGO) test -q -p parallax-cli --test interrupted

flips: build ## Share of inputs that take the branch they were made for, over generated programs and coreutils
	$(CARGO) run --release -q -p xtask -- flips

coreutils-check: build ## coreutils' own test suite, plain against traced (TESTS=..., RESUME=1)
	$(CARGO) run --release -q -p xtask -- coreutils-check $(if $(RESUME),--resume) $(TESTS)

selfcheck-coreutils: build ## Self-check over the command lines of tests/coreutils-commands.txt
	$(CARGO) run --release -q -p xtask -- selfcheck-coreutils

install: build ## Copy parallax below PREFIX (default /usr/local); DESTDIR is honoured
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(RELEASE)/parallax $(DESTDIR)$(PREFIX)/bin/parallax
	@for name in parallax-cc parallax-c++; do ln -sf parallax $(DESTDIR)$(PREFIX)/bin/$$name || exit 1; done

deb: build ## A Debian package in target/debian (needs cargo-deb: cargo install cargo-deb)
	rm -rf $(RELEASE)/package
	mkdir -p $(RELEASE)/package/bin $(RELEASE)/package/completions
	@for name in parallax-cc parallax-c++; do ln -s parallax $(RELEASE)/package/bin/$$name || exit 1; done
	$(PARALLAX) man $(RELEASE)/package/man
	$(PARALLAX) completions bash > $(RELEASE)/package/completions/parallax
	$(PARALLAX) completions zsh > $(RELEASE)/package/completions/_parallax
	$(PARALLAX) completions fish > $(RELEASE)/package/completions/parallax.fish
	$(CARGO) deb --no-build -p parallax-cli

book: ## The book as pages in docs/book/book (needs mdbook: cargo install mdbook)
	mdbook build docs/book

lint: ## rustfmt, clippy with warnings as errors, cargo deny if installed
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	@if $(CARGO) deny --version >/dev/null 2>&1; then $(CARGO) deny check; \
	else echo "cargo-deny is not installed: licences and advisories not checked"; fi
