# Everything here works on a bare machine with Python 3.11 and make: the environment is made on first use.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
# Two stamps: what running needs, and everything that development needs besides.
RUNNING := .venv/.running
READY := .venv/.ready
INSTALL = $(BIN)/python -m pip install --disable-pip-version-check --no-input --constraint constraints.txt
# One line that moves: which package comes in, and how many there are so far.
PROGRESS = awk '/^ERROR|^error/ {print; fflush()} \
	/^ *Collecting/ {count++; printf "\r\033[K  %d packages, now %s", count, $$2; fflush()} \
	/^Installing collected/ {printf "\r\033[K  %d packages are here; installing them …", count; fflush()} \
	/^Successfully installed/ {printf "\r\033[K  %d packages installed.\n", count; fflush()}'

.PHONY: help
help: ## Show this help
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(RUNNING): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@if [ ! $(READY) -nt pyproject.toml ] || [ ! $(READY) -nt constraints.txt ]; then \
		echo "Installing what running needs into .venv …"; \
		set -o pipefail; $(INSTALL) --editable '.[server,embedded,graphs]' 2>&1 | $(PROGRESS); \
	fi
	@touch $@

$(READY): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing Cadenza and its development tools into .venv …"
	@set -o pipefail; $(INSTALL) --editable '.[dev]' 2>&1 | $(PROGRESS)
	@touch $@ $(RUNNING)

.PHONY: install
install: $(READY) ## Make .venv and install Cadenza with its development tools

# The graphs of examples/graphs, where no others are named, and the price of the model they use.
EXAMPLE_GRAPHS = CADENZA_GRAPH_FILES="$${CADENZA_GRAPH_FILES:-examples/graphs/langgraph.json}" \
	CADENZA_GRAPH_FUNCTIONS="$${CADENZA_GRAPH_FUNCTIONS:-digest:digest}" \
	CADENZA_GRAPH_PATHS="$${CADENZA_GRAPH_PATHS:-examples/graphs}" \
	CADENZA_PRICES='{"cadenza-poet": {"input": 1, "output": 2}}'

# Options of `cadenza up`: make up UP="--port 8090 --no-sample"
UP ?=

.PHONY: up
up: $(RUNNING) ## Run Cadenza on this machine: database, API, workers and a sample service
	@$(EXAMPLE_GRAPHS) $(BIN)/cadenza up $(UP)

.PHONY: sim
sim: $(RUNNING) ## Live through a flash sale in simulated time
	@$(BIN)/cadenza sim flash-sale

# The tests in a browser drive Debian's Chromium; Playwright's own is never downloaded.
.PHONY: browser
browser:
	@command -v chromium chromium-browser google-chrome >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing Chromium for the tests in a browser …"; \
		apt-get install -y -qq chromium >/dev/null 2>&1 || \
		(apt-get update -qq && apt-get install -y -qq chromium) >/dev/null 2>&1 || \
		echo "Chromium could not be installed: the tests in tests/browser will fail."; \
	else \
		echo "There is no Chromium, and only root may install it: apt-get install chromium."; \
		echo "The tests in tests/browser will fail until then."; \
	fi

.PHONY: test
test: $(READY) browser ## Run every test
	$(BIN)/python -m pytest -n 2

.PHONY: test-fast
test-fast: $(READY) ## Run the quick tests, in under two minutes
	$(BIN)/python -m pytest -n 2 -m 'not browser and not chaos and not slow'

.PHONY: test-ray
test-ray: $(READY) ## Install Ray, start a cluster of two nodes and run graphs on it
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[ray]'
	$(BIN)/python -m pytest -m ray tests/adapters/graphs

# Simulation goes on beside the real programs; with two cores to itself it comes to a million slots.
.PHONY: chaos
chaos: $(READY) ## Five minutes of faults, judged by three witnesses
	$(BIN)/python -m tests.chaos --seconds 120 --slots 1000000 --simulation-seconds 300 --mutants

SOAK_SECONDS ?= 3600
.PHONY: soak
soak: $(READY) ## An hour of load with faults, in which nothing may grow (SOAK_SECONDS=…)
	$(BIN)/python -m tests.chaos.soak --seconds $(SOAK_SECONDS) --rate 300

FUZZ_SECONDS ?= 30
.PHONY: fuzz
fuzz: $(READY) ## Install atheris and fuzz whatever reads hostile bytes (FUZZ_SECONDS=… for each)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[fuzz]'
	$(BIN)/python -m tests.fuzz --seconds $(FUZZ_SECONDS)

.PHONY: bench
bench: $(READY) ## Measure speed and print the README's table
	$(BIN)/python -m benchmarks

.PHONY: pictures
pictures: $(READY) browser ## Take the README's pictures of the dashboard, in Chromium
	$(BIN)/python -m tests.browser.pictures

.PHONY: check
check: $(READY) ## Check format, lint, types and import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports --no-cache

.PHONY: fix
fix: $(READY) ## Format the code and mend what the linter can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: clean
clean: ## Remove the environment and every cache
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis .import_linter_cache
