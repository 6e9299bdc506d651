# `make` lists what there is. Everything runs in .venv, which is made on first use from nothing but Python 3.11–3.13 and
# Java 17 or later. `make PYTHON=/path/to/python3 …` chooses the Python; pip's and uv's own variables choose the mirror.

.DEFAULT_GOAL := help
SHELL := /bin/sh
export PYTHON

VENV := .venv
CLOUD_VENV := .venv-cloud
BIN := $(VENV)/bin
READY := $(VENV)/.ready
CLOUD_READY := $(CLOUD_VENV)/.ready
TESTS ?= tests
BENCHMARKS ?= help_cost plan_500 manifest_reading facts_of_files status_of_tables status_of_glue s3_listing
BUILT_FROM := pyproject.toml locks/uv.txt locks/build.txt tools/bootstrap

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): $(BUILT_FROM) locks/dev.txt
	@tools/bootstrap $(VENV) locks/dev.txt && touch $@

$(CLOUD_READY): $(BUILT_FROM) locks/cloud.txt
	@tools/bootstrap $(CLOUD_VENV) locks/cloud.txt && touch $@

.PHONY: venv
venv: $(READY) ## Make .venv, or bring it up to date with the lock

.PHONY: demo
demo: $(READY) ## A whole lakehouse on this machine, in two minutes
	@$(BIN)/python examples/bnpl/run.py

.PHONY: demo-stack
demo-stack: $(READY) ## The example on five environments: embedded, Spark workers, Hive, REST, strict Glue
	@$(BIN)/python examples/bnpl/stacks.py

.PHONY: test
test: check ## Everything CI runs
	$(BIN)/pytest -m "not slow and not cloud" --ignore=tests/tidy $(TESTS)

.PHONY: check
check: $(READY) ## Lint, format, types, import contracts, house rules: no JVM
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/pytest -q tests/tidy

.PHONY: format
format: $(READY) ## Format the code and mend what the linter can
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

.PHONY: test-slow
test-slow: $(READY) ## The tests CI leaves out for their length
	$(BIN)/pytest -m "slow and not cloud" tests

.PHONY: test-cloud
test-cloud: $(CLOUD_READY) ## The Spark tests on the versions of EMR and Glue: Spark 4.1.1, Iceberg 1.11.0
	FIRNLINE_TEST_ICEBERG=1.11.0 $(CLOUD_VENV)/bin/pytest -m "(spark or cloud) and not slow" $(TESTS)

.PHONY: bench
bench: $(READY) ## Every benchmark, beside what it is measured against
	@set -e; for each in $(BENCHMARKS); do echo "== $$each"; $(BIN)/python -m benchmarks.$$each; done

.PHONY: zoo
zoo: $(READY) ## Tables in every bad state, to look at: ./zoo, or DIR=…
	@$(BIN)/python -m tests.zoo $(or $(DIR),zoo)

.PHONY: docs
docs: $(READY) ## Write the reference docs from the code
	$(BIN)/python -m tools.docs
	$(BIN)/python -m tools.rules_docs

$(BIN)/uv:
	@tools/bootstrap $(VENV)

.PHONY: lock
lock: $(BIN)/uv ## Resolve the lock files anew, by version and hash, without any registry address
	PATH="$(CURDIR)/$(BIN):$$PATH" tools/lock

.PHONY: clean
clean: ## Remove what is made: environments, caches, builds (not the user's jar cache)
	rm -rf $(VENV) $(CLOUD_VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	find src tests tools benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +
