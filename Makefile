# `make run` shows a first report, `make test` checks everything; both set up what they need.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PLUGINS := $(wildcard plugins/*)
INSTALLED := $(VENV)/.installed
WORKERS ?= 2

.PHONY: run test lint types tests test-gpu overhead drill fuzz clean

run: $(INSTALLED)
	$(BIN)/benchfw run quickstart

test: lint types tests

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(INSTALLED)
	$(BIN)/mypy

tests: $(INSTALLED)
	$(BIN)/python -m pytest -n $(WORKERS)

# only on a machine with an NVIDIA GPU and the extra cuda12 or cuda13
test-gpu: $(INSTALLED)
	$(BIN)/python -m pytest tests/gpu

overhead: $(INSTALLED)
	$(BIN)/python suites/tracked/overhead.py

# runs killed at random moments, ten minutes at most; and hostile input, about as long
drill: $(INSTALLED)
	$(BIN)/python suites/tracked/drill.py

fuzz: $(INSTALLED)
	$(BIN)/python suites/tracked/fuzz.py

$(INSTALLED): pyproject.toml $(PLUGINS:%=%/pyproject.toml)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]" $(PLUGINS:%=--editable ./%)
	touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
