# The commands of this project; `make` lists them. Everything runs in .venv, which each command makes if it is not there.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.DEFAULT_GOAL := help
.PHONY: help setup compile run test validate bench lint format clean

help: ## Lists these commands.
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 18

setup: $(READY) ## Makes .venv and installs fairdeal with its tools from the project's own files.

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "fairdeal needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1). Name another: make PYTHON=python3.12"; exit 1; }
	@echo "Installing fairdeal and its tools into .venv; this takes a minute."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

compile: $(READY) ## Compiles the kernels, so that the first run need not.
	@$(BIN)/python -m scripts.compile

run: compile ## Plays one million games of Bussikuski and prints the summary.
	$(BIN)/fairdeal run bussikuski --games 1M --seed 1

test: lint compile ## Runs lint and the tests (under 8 minutes on two cores).
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile

validate: $(READY) ## Runs the slow statistical checks.
	$(BIN)/python -m pytest tests/validation -m validation

bench: $(READY) ## Measures speed, as ratios within one run.
	$(BIN)/python -m scripts.bench

lint: $(READY) ## Runs ruff and mypy --strict.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY) ## Formats the sources.
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format .

clean: ## Removes .venv, results and caches.
	rm -rf .venv results .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
