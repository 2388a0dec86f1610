# The commands of this project; `make` alone lists them.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
LOWEST := $(VENV)/lowest

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-lowest lint format bench paper-tables dashboards dashboard-shots constraints clean

help:  ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Two stamps: the demo needs neither Airflow nor the tools of development. An environment without a
# pip that works was left half made, and is made anew.
$(VENV)/demo.stamp: pyproject.toml constraints.txt
	@echo "setting up $(VENV) with what the demo needs"
	@$(PIP) --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV) || { \
	    echo "$(VENV) could not be made with '$(PYTHON)'. It takes Python 3.11 or newer with its" \
	        "modules venv and ensurepip: on Debian, sudo apt-get install python3 python3-venv." \
	        "Another Python is named with: make PYTHON=/path/to/python3" >&2; \
	    exit 1; }
	@$(PIP) install --constraint constraints.txt --editable '.[demo]'
	@touch $@

$(VENV)/dev.stamp: $(VENV)/demo.stamp
	@echo "setting up $(VENV) with Airflow and the tools of development"
	@$(PIP) install --constraint constraints.txt --editable '.[dev]'
	@touch $@

setup: $(VENV)/dev.stamp  ## Make .venv with everything

demo: $(VENV)/demo.stamp  ## Real flights, every day of them, and what came of it
	@$(BIN)/calibration-monitor demo

test: $(VENV)/dev.stamp  ## Set up and run all checks and tests
	@sh tools/install-programs
	@$(MAKE) --no-print-directory lint
	@$(BIN)/python -m pytest

test-lowest: $(VENV)/dev.stamp  ## The tests with the oldest versions that pyproject.toml allows
	@$(PIP) install uv
	@$(BIN)/python -m venv --clear $(LOWEST)
	@$(BIN)/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct \
	    --editable '.[dev]'
	@$(LOWEST)/bin/python -m pytest

lint: $(VENV)/dev.stamp  ## Style, types and the direction of imports
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports > $(VENV)/imports.txt || { cat $(VENV)/imports.txt; false; }

format: $(VENV)/dev.stamp  ## Format and mend what can be mended
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

# What the drift meter, the intervals and the bounds are worth are studies; CONTRIBUTING.md has them.
bench: $(VENV)/dev.stamp  ## Speed and memory: a day, the measures, a scrape, the verdicts (half an hour)
	@echo "a large day beside the bare DuckDB join"
	@$(BIN)/python -m bench.day
	@echo "the measures beside numpy's sorts; bench/metrics.py --help names other packages"
	@$(BIN)/python -m bench.metrics
	@echo "a scrape of 100 models"
	@$(BIN)/python -m bench.scrape
	@echo "verdicts and the daily evaluation of many segments"
	@$(BIN)/python -m bench.verdicts

paper-tables: $(VENV)/dev.stamp  ## The paper's tables computed anew, into docs/paper-tables.md
	@$(BIN)/python -m studies.paper_tables

dashboards: $(VENV)/dev.stamp  ## Write grafana/dashboards anew from grafana/*.py
	@$(BIN)/python grafana/build.py

dashboard-shots: $(VENV)/dev.stamp  ## Draw the demo's dashboards into docs/ (minutes; 650 MB of npm packages)
	@sh tools/install-programs chromium
	@cd grafana/shots && npm install --legacy-peer-deps --ignore-scripts --no-audit --no-fund --no-package-lock --silent
	@cd grafana/shots && npm run --silent build -- --logLevel error
	@$(BIN)/python grafana/shots/shoot.py

constraints: $(VENV)/dev.stamp  ## Pin the newest versions that fit together
	@$(PIP) install uv
	@$(BIN)/uv pip compile --quiet --python-version 3.11 --no-header --no-annotate \
	    --no-emit-index-url --extra dev --upgrade --output-file constraints.txt pyproject.toml

clean:  ## Remove what can be made again
	rm -rf $(VENV) demo-data .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
