# Two commands: `make run` opens the desk on a sample workspace, `make test` runs the tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
SAMPLE := sample/payments-api

.PHONY: run test coverage check bench soak screenshots schemas lock clean

run: $(READY)
ifdef ARGS
	@$(BIN)/memdesk $(ARGS)
else
	@$(BIN)/memdesk demo $(SAMPLE)
endif

test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not soak" $(T)

coverage: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not soak" --cov --cov-report=term:skip-covered $(T)

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(READY)
	$(BIN)/python -m benchmarks $(ARGS)

soak: $(READY)
	$(BIN)/python -m pytest -m soak -x tests

screenshots: $(READY)
	$(BIN)/python screenshots/make.py

schemas: $(READY)
	$(BIN)/memdesk schemas export schemas/json

lock:
	$(BIN)/pip freeze --exclude-editable --all | grep -viE '^(pip|setuptools|wheel)==' > requirements.lock

$(READY): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "memdesk needs Python 3.11 or newer: make PYTHON=python3.11 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-virtualenv --compile -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --compile --no-deps --no-build-isolation -e .
	@touch $(READY)

clean:
	rm -rf $(VENV) sample .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage*
