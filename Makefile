# Everything here works on a bare machine with Python 3.11 and make: the environment is made on first use.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
# Two stamps: what running needs, and everything that development needs besides.
RUNNING := .venv/.running
READY := .venv/.ready
# What the graphs of examples/graphs import, besides that.
OF_EXAMPLES = langchain-openai
# A .venv whose making was interrupted has a python and no pip.
MADE = $(BIN)/python -m pip --version >/dev/null 2>&1
INSTALL = $(BIN)/python -m pip install --disable-pip-version-check --no-input --constraint constraints.txt
# One line that moves: which package comes in, and how many there are so far.
PROGRESS = awk '!failed && (/^ *(ERROR|error)/ || /No module named/) {failed = 1; print ""} failed {print; fflush(); next} \
	/^ *(Installing build|Preparing)/ {sub(/^ */, ""); printf "\r\033[K  %s", $$0; fflush()} \
	/^ *Collecting/ {count++; printf "\r\033[K  %d packages, now %s", count, $$2; fflush()} \
	/^Installing collected/ {printf "\r\033[K  %d packages are here; installing them …", count; fflush()} \
	/^Successfully installed/ {printf "\r\033[K  %d packages installed.\n", count; fflush()}'

.PHONY: help
help: ## Show this help
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(RUNNING): pyproject.toml constraints.txt
	@$(MADE) || { echo "Making .venv …"; $(PYTHON) -m venv .venv; }
	@if [ ! $(READY) -nt pyproject.toml ] || [ ! $(READY) -nt constraints.txt ]; then \
		echo "Installing what running needs into .venv …"; \
		set -o pipefail; $(INSTALL) --editable '.[server,embedded,graphs]' $(OF_EXAMPLES) 2>&1 | $(PROGRESS); \
	fi
	@touch $@

$(READY): pyproject.toml constraints.txt
	@$(MADE) || { echo "Making .venv …"; $(PYTHON) -m venv .venv; }
	@echo "Installing Cadenza and its development tools into .venv …"
	@set -o pipefail; $(INSTALL) --editable '.[dev]' 2>&1 | $(PROGRESS)
	@touch $@ $(RUNNING)

.PHONY: install
install: $(READY) ## Make .venv and install Cadenza with its development tools

# Compiled once, and not by five programs at their first start; nor at every start, where
# PYTHONDONTWRITEBYTECODE is set.
COMPILED := .venv/.compiled
$(COMPILED): $(RUNNING) $(shell find src -name '*.py')
	@$(BIN)/python -m compileall -q src
	@touch $@

# The graphs of examples/graphs, where no others are named, and the price of the model they use.
EXAMPLE_GRAPHS = CADENZA_GRAPH_FILES="$${CADENZA_GRAPH_FILES:-examples/graphs/langgraph.json}" \
	CADENZA_GRAPH_FUNCTIONS="$${CADENZA_GRAPH_FUNCTIONS:-digest:digest}" \
	CADENZA_GRAPH_PATHS="$${CADENZA_GRAPH_PATHS:-examples/graphs}" \
	CADENZA_PRICES='{"cadenza-poet": {"input": 1, "output": 2}}'

# Options of `cadenza up`: make up UP="--port 8090 --no-sample"
UP ?=

.PHONY: up
up: $(COMPILED) ## Run Cadenza on this machine: database, API, workers and a sample service
	@$(EXAMPLE_GRAPHS) $(BIN)/cadenza up $(UP)

.PHONY: sim
sim: $(COMPILED) ## Live through a flash sale in simulated time
	@$(BIN)/cadenza sim flash-sale

# What the tests drive of the system, as command:package. Playwright's own browser is never downloaded.
SYSTEM = chromium:chromium redis-server:redis-server rabbitmq-server:rabbitmq-server \
	nats-server:nats-server pgbouncer:pgbouncer nginx:nginx-light systemd-analyze:systemd promtool:prometheus
.PHONY: system
system:
	@missing=""; for pair in $(SYSTEM); do \
		PATH="$$PATH:/usr/sbin:/usr/local/sbin" command -v "$${pair%%:*}" >/dev/null || missing="$$missing $${pair##*:}"; \
	done; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing what the tests drive:$$missing …"; \
		tests/install_packages $$missing || \
		echo "Not everything could be installed: the tests of what is missing will fail."; \
	else \
		echo "Missing, and only root may install it: apt-get install$$missing"; \
		echo "The tests that drive it will fail until then."; \
	fi

# The OpenID provider that people sign in at in the tests: certified, of an exact version.
PROVIDER_VERSION = 8.8.1
PROVIDER := .venv/oidc-provider/.$(PROVIDER_VERSION)
$(PROVIDER): | $(READY)
	@mkdir -p $(@D) && cd $(@D) && npm install --no-save --no-package-lock --no-audit --no-fund --silent \
		oidc-provider@$(PROVIDER_VERSION) && touch .$(PROVIDER_VERSION) || \
		echo "The OpenID provider could not be installed (npm): the tests that drive it will fail."

.PHONY: test
test: $(READY) $(PROVIDER) system ## Run every test
	$(BIN)/python -m pytest -n 2

.PHONY: test-fast
test-fast: $(READY) ## Run the quick tests, in under two minutes
	$(BIN)/python -m pytest -n 2 -m 'not browser and not chaos and not slow'

.PHONY: test-ray
test-ray: $(READY) ## Install Ray, start a cluster of two nodes and run graphs on it
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[ray]'
	$(BIN)/python -m pytest -m ray tests/adapters/graphs

# Simulation goes on beside the real programs, and after them until it has come to a million slots.
.PHONY: chaos
chaos: $(READY) ## Minutes of faults, judged by three witnesses
	$(BIN)/python -m tests.chaos --seconds 190 --every-fault --slots 1000000 --simulation-seconds 900 --mutants

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
bench: $(READY) ## Measure speed and print the table of figures
	$(BIN)/python -m benchmarks

.PHONY: pictures
pictures: $(READY) system ## Take the README's pictures of the dashboard, in Chromium
	$(BIN)/python -m tests.browser.pictures

# Into the folder that /docs serves. A warning is an error: of a link, an anchor, a page in no menu.
MKDOCS = NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
.PHONY: docs
docs: $(READY) ## Build the documentation's site, which the API serves at /docs
	$(MKDOCS)
	@echo "Built: cadenza up shows it at http://127.0.0.1:8080/docs/"

.PHONY: check
check: $(READY) ## Check format, lint, types, import contracts and documentation
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports --no-cache
	$(MKDOCS)

.PHONY: fix
fix: $(READY) ## Format the code and mend what the linter can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: clean
clean: ## Remove the environment and every cache
	rm -rf .venv src/cadenza/web/docs/site .pytest_cache .ruff_cache .hypothesis .import_linter_cache
