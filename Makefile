# Two commands do everything: `make demo` and `make test`. Both make .venv and install into it what they need.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := build/demo-vault
# The CPU build of torch; asked for first, so that sentence-transformers does not bring a CUDA build of several gigabytes.
TORCH := torch==2.13.0

.PHONY: demo test lint types tests golden bench clean

demo: $(VENV)/.installed
	@$(BIN)/python benchmarks/demo.py $(DEMO)

test: lint types tests

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

tests: $(VENV)/.installed-dev
	$(BIN)/pytest -n 2 --dist worksteal $(PYTEST_ARGS)

golden: $(VENV)/.installed-dev
	VAULTBRAIN_WRITE_GOLDEN=1 $(BIN)/pytest tests/test_golden.py tests/test_cli.py -k "golden or session"
	$(BIN)/python docs/generate.py

bench: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/run.py

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	@echo "Installing vaultbrain into $(VENV) (once; about a minute)..."
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml $(VENV)/.installed
	@echo "Installing what the tests need (once; some minutes)..."
	$(BIN)/python -m pip install --quiet "$(TORCH)"
	$(BIN)/python -m pip install --quiet --editable ".[dev,sentence-transformers]"
	@touch $@

clean:
	rm -rf $(VENV) build dist
