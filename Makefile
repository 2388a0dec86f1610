# The commands of this project. Run `make` without arguments to list them.
# The first that can make an environment. Debian's is compiled with optimisations that pyenv leaves
# out unless it is asked for them: the tests take a twentieth less processor time.
PYTHON ?= $(shell for python in /usr/bin/python3.11 python3.11 python3; do \
    $$python -c 'import ensurepip, tomllib, venv' 2>/dev/null && echo $$python && break; done || echo python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
UV := $(BIN)/uv pip install --quiet --python
LOWEST := $(VENV)/lowest
RELEASE := $(VENV)/release
# One more than there are cores: tests of servers and schedulers wait as often as they compute.
WORKERS := $(shell expr $$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN) + 1)

.DEFAULT_GOAL := help
.PHONY: help setup programs demo test test-all quick slow fuzz torture test-celery torture-alerts test-lowest release-check audit lint style types imports format bench docs paper-tables pages dashboards dashboard-shots report-shot constraints clean

help:  ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# With uv, which takes a quarter of pip's processor time. Where it does not work, pip does the same.
define install
{ $(PIP) install uv && $(UV) $(BIN)/python --constraint constraints.txt --editable '$(1)'; } || \
    $(PIP) install --constraint constraints.txt --editable '$(1)'
endef

# Two stamps, because the demo needs neither Airflow nor the development tools. An environment whose
# pip does not work was left half finished, so it is created again.
$(VENV)/demo.stamp: pyproject.toml constraints.txt
	@echo "setting up $(VENV) with what the demo needs"
	@$(PIP) --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV) || { \
	    echo "$(VENV) could not be created with '$(PYTHON)'. It needs Python 3.11 or newer with the" \
	        "modules venv and ensurepip: on Debian, sudo apt-get install python3 python3-venv." \
	        "To use another Python, run: make PYTHON=/path/to/python3" >&2; \
	    exit 1; }
	@$(call install,.[demo])
	@touch $@

$(VENV)/dev.stamp: $(VENV)/demo.stamp
	@echo "setting up $(VENV) with Airflow and the development tools"
	@$(call install,.[dev])
	@touch $@

setup: $(VENV)/dev.stamp  ## Create .venv with everything

programs:
	@sh tools/install-programs

demo: $(VENV)/demo.stamp  ## Run the daily job on ten months of real flights and show the results
	@$(BIN)/calibration-monitor demo

# The checks of the code begin beside the tests, whose first minute leaves a core idle; what they
# find is shown at the end, because it would be lost between the dots of the tests.
test:  ## Set up, then run all checks and tests
	@$(MAKE) --no-print-directory --jobs=2 setup programs
	@$(MAKE) --no-print-directory lint > $(VENV)/lint.txt 2>&1 & lint=$$!; \
	    $(BIN)/python -m pytest -n $(WORKERS); tests=$$?; \
	    wait $$lint || { echo "make lint:"; cat $(VENV)/lint.txt; exit 1; }; \
	    exit $$tests

test-all: export CALIBRATION_TEST_CASES = all
test-all: test  ## The same, with all cases that are drawn or crossed, of which test tries a part

quick: $(VENV)/dev.stamp  ## Run the tests that start no servers and are soon done (two minutes)
	@$(BIN)/python -m pytest -n $(WORKERS) -m "not slow"

slow:  ## Run all other tests
	@$(MAKE) --no-print-directory --jobs=2 setup programs
	@$(BIN)/python -m pytest -n $(WORKERS) -m slow

fuzz: $(VENV)/dev.stamp  ## Try random input for SECONDS (600), each time with another seed
	@$(BIN)/python tools/fuzz.py --seconds $(or $(SECONDS),600) --seed $(or $(SEED),1)

torture: $(VENV)/dev.stamp  ## Kill every command at KILLS (1000) random moments and compare bytes (hours)
	@sh tools/install-programs faketime
	@$(BIN)/python -m tests.torture.suspensions
	@$(BIN)/python -m tests.torture.kills --kills $(or $(KILLS),1000) --seed $(or $(SEED),1)

test-celery: $(VENV)/dev.stamp  ## Run the DAGs with CeleryExecutor, Redis and two workers (minutes)
	@sh tools/install-programs redis-server
	@CALIBRATION_TEST_EXECUTOR=celery $(BIN)/python -m pytest tests/dags/test_stack.py

torture-alerts:  ## Kill exporter, Prometheus and Alertmanager in every order (minutes)
	@$(MAKE) --no-print-directory --jobs=2 setup programs
	@CALIBRATION_TEST_CASES=all $(BIN)/python -m pytest tests/alerts/test_restarts.py

test-lowest: $(VENV)/dev.stamp  ## Run the tests with the oldest versions that pyproject.toml allows
	@$(PIP) install uv
	@$(BIN)/python -m venv --clear $(LOWEST)
	@$(UV) $(LOWEST)/bin/python --resolution lowest-direct --editable '.[dev]'
	@$(LOWEST)/bin/python -m pytest -n $(WORKERS)

# With PYTHON alone, because a release must not depend on what development has installed.
release-check:  ## Build both archives into dist/, check them, and install each by name (minutes)
	@test -x $(RELEASE)/bin/twine || $(PYTHON) -m venv --clear $(RELEASE)
	@$(RELEASE)/bin/pip install --quiet --disable-pip-version-check build==1.6.1 twine==7.0.0 .
	@rm -rf dist
	@$(RELEASE)/bin/python -m monitor.pipeline.runs.compiling --into monitor/machine_code
	@$(RELEASE)/bin/python -m build; status=$$?; rm -rf monitor/machine_code; exit $$status
	@$(RELEASE)/bin/python -m twine check --strict dist/*
	@$(RELEASE)/bin/python tools/try_index.py dist

audit: $(VENV)/dev.stamp  ## Look for advisories about the pinned packages (needs pypi.org)
	@$(PIP) install pip-audit
	@$(BIN)/pip-audit --strict --no-deps --disable-pip --requirement constraints.txt

lint: $(VENV)/dev.stamp  ## Check style, types and the direction of imports
	@$(MAKE) --no-print-directory --jobs=3 style types imports

style:
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .

types:
	@$(BIN)/mypy --no-error-summary

imports:
	@$(BIN)/lint-imports > $(VENV)/imports.txt || { cat $(VENV)/imports.txt; false; }

format: $(VENV)/dev.stamp  ## Format the code and fix what ruff can fix
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

# How good the verdicts, intervals and bounds are is measured in studies/; see CONTRIBUTING.md.
bench: $(VENV)/dev.stamp  ## Measure speed and memory (an hour)
	@echo "a large day compared with the bare DuckDB join"
	@$(BIN)/python -m bench.day
	@echo "a backfill and a morning, with and without days to wait"
	@$(BIN)/python -m bench.backfill
	@echo "a morning of 200 models, and what five years of history cost"
	@$(BIN)/python -m bench.fleet
	@echo "a day of a model with 500 segments"
	@$(BIN)/python -m bench.segments
	@echo "one large day with DuckDB, Spark and pandas"
	@$(BIN)/python -m bench.engines
	@echo "a day of files and of PostgreSQL"
	@$(BIN)/python -m bench.databases
	@echo "the measures compared with numpy's sorts; for other packages see python -m bench.metrics --help"
	@$(BIN)/python -m bench.metrics
	@echo "a scrape of 100 models"
	@$(BIN)/python -m bench.scrape
	@echo "verdicts and the daily evaluation of many segments"
	@$(BIN)/python -m bench.verdicts
	@echo "what buckets, watched values and a second detector add to a verdict"
	@$(BIN)/python -m bench.evidence
	@echo "a morning with 188 watched values, and without"
	@$(BIN)/python -m bench.values

docs: $(VENV)/dev.stamp demo-data/reports/index.html  ## Build the site of the documentation into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build  # with --quiet it would not count warnings
	@echo "written: site/index.html; to search in it, run $(BIN)/python -m mkdocs serve"

demo-data/reports/index.html: | $(VENV)/dev.stamp
	@$(BIN)/calibration-monitor demo

paper-tables: $(VENV)/dev.stamp  ## Recompute the paper's tables into docs/paper-tables.md
	@$(BIN)/python -m studies.paper_tables

pages: $(VENV)/dev.stamp  ## Write what is generated from the measures, and the dashboards
	@$(BIN)/python -m tools.pages
	@$(BIN)/python grafana/build.py

dashboards: $(VENV)/dev.stamp  ## Generate grafana/dashboards from grafana/*.py
	@$(BIN)/python grafana/build.py

dashboard-shots: $(VENV)/dev.stamp  ## Take screenshots of the demo's dashboards for docs/ (650 MB of npm packages)
	@sh tools/install-programs chromium
	@cd grafana/shots && npm install --legacy-peer-deps --ignore-scripts --no-audit --no-fund --no-package-lock --silent
	@cd grafana/shots && npm run --silent build -- --logLevel error
	@$(BIN)/python grafana/shots/shoot.py

report-shot: $(VENV)/dev.stamp  ## Take the pictures of the demo's report page and year for the README and the site
	@sh tools/install-programs
	@$(BIN)/python tools/report_shot.py

constraints: $(VENV)/dev.stamp  ## Pin the newest versions that work together
	@$(PIP) install uv
	@$(BIN)/uv pip compile --quiet --python-version 3.11 --no-header --no-annotate \
	    --no-emit-index-url --extra dev --upgrade --output-file constraints.txt pyproject.toml

clean:  ## Remove everything that can be created again
	rm -rf $(VENV) demo-data .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache site
