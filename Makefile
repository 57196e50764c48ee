# `make run` shows a first report, `make test` is the quick check, `make test-all` the whole one; each sets up
# what it needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PLUGINS := $(wildcard plugins/*)
INSTALLED := $(VENV)/.installed
ASV := $(BIN)/asv
# one more than the cores, since tests wait for the processes that they start; at most 8, for memory
WORKERS ?= $(shell $(PYTHON) -c "import os; print(min((os.cpu_count() or 1) + 1, 8))")
# a thread each: workers that share the cores would wait for one another, at twice the processor time;
# with bytecode, whatever the shell says of it: else each of a thousand processes compiles all it imports
PYTEST = OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

.PHONY: run test test-all lint types tests test-gpu test-torch docs reference dist-check findings gallery frozen bundles performance overhead lines drill fuzz benchmarks asv asv-check asv-publish clean

run: $(INSTALLED)
	$(BIN)/benchfw run quickstart

# side by side: mypy uses one core, and tests wait for the processes that they start
test: $(INSTALLED)
	$(MAKE) --no-print-directory --jobs 3 lint types tests

# everything: what `make test` runs, then what that leaves out
test-all: test
	$(PYTEST) --rest

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(INSTALLED)
	$(BIN)/mypy

tests: $(INSTALLED)
	$(PYTEST)

# only on a machine with an NVIDIA GPU and the extra cuda12 or cuda13
test-gpu: $(INSTALLED)
	$(BIN)/python -m pytest tests/gpu plugins/*/tests/gpu

# PyTorch is large: only this target installs it
test-torch: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --editable "plugins/benchfw-bridges[torch]"
	$(PYTEST) --all plugins/benchfw-bridges/tests/from_torch plugins/benchfw-bridges/tests/test_conformance.py
	$(PYTEST) --all tests/docs/test_pages.py -k pytorch

# what the manual says of code, written into its pages; a test fails if one is out of date
reference: $(INSTALLED)
	$(BIN)/python docs/_build/generated.py

# the manual: a dead link or a page outside the navigation is an error
docs: $(INSTALLED)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "page: reports/docs/index.html"

# every package as it would be published, into dist/: metadata, contents, the same without npm, installed
dist-check: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --group dist
	rm -rf dist
	$(BIN)/python .ci/dist_check.py dist

# docs/findings.md from the bundles in findings/ alone: nothing is run
findings: $(INSTALLED)
	rm -rf docs/findings
	$(BIN)/benchfw findings findings --documents findings/documents.toml -o docs/findings.md

# the site reports/gallery and docs/gallery.md from the bundles in findings/ and gallery/ alone: nothing is run
gallery: $(INSTALLED)
	rm -rf docs/gallery reports/gallery
	$(BIN)/benchfw publish findings gallery --to reports/gallery --markdown docs/gallery.md

# the record that tests compare with: what bundles decide, what suites run, what others build on
frozen: $(INSTALLED)
	$(BIN)/python tests/test_frozen.py
	$(BIN)/python tests/test_mistakes.py
	PYTHONPATH=tests $(BIN)/python tests/testing/test_broken_plugins.py
	$(BIN)/python tests/test_public_names.py > tests/public_names.txt

# those bundles, by runs on this machine: only of suites that have changed since theirs
bundles: $(INSTALLED)
	$(BIN)/python suites/tracked/bundles.py

# the tables of docs/performance.md from suites/tracked/measured alone: nothing is run
performance: $(INSTALLED)
	$(BIN)/python suites/tracked/performance_page.py

overhead: $(INSTALLED)
	$(BIN)/python suites/tracked/overhead.py

# files and lines of Python by room; BASE=REVISION puts those of another revision beside them
lines:
	@$(PYTHON) suites/tracked/lines.py $(if $(BASE),--base $(BASE))

# runs killed at random moments, random edits, random leftovers, ten minutes at most each; and hostile input
drill: $(INSTALLED)
	$(BIN)/python suites/tracked/drill.py
	$(BIN)/python suites/tracked/drill_changes.py

fuzz: $(INSTALLED)
	$(BIN)/python suites/tracked/fuzz.py

# kernels by pytest-benchmark: bodies and backends side by side
benchmarks: $(INSTALLED)
	$(BIN)/python -m pytest tests/benchmarks --benchmark-only

# this commit against the one before, each in an environment of its own: what changed
asv: $(INSTALLED)
	$(ASV) machine --yes >/dev/null
	$(ASV) continuous --only-changed HEAD^ HEAD

# does every benchmark load, and each kind still work? Once each, here; of kernels and commands, which are many and
# alike, some
ONCE = --bench '^(estimators|optimizers)' --bench '^harness.track_(overhead|report)' \
	--bench '^harness.track_start.*help' --bench '^kernels\.C.*10,000'
asv-check: $(INSTALLED)
	$(ASV) machine --yes >/dev/null
	$(ASV) check --python=same
	$(ASV) run --quick --python=same --launch-method forkserver $(ONCE)

asv-publish: $(INSTALLED)
	$(ASV) publish
	$(BIN)/python suites/tracked/asv_page.py reports/asv/html
	@echo "page: reports/asv/html/index.html (asv preview serves it)"

# packages are built here rather than in a new environment each; bytecode is made by all cores, and not of the
# tests of libraries: by pip alone it takes longer than all the rest
$(INSTALLED): pyproject.toml $(PLUGINS:%=%/pyproject.toml)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip hatchling editables
	$(BIN)/python -m pip install --quiet --no-build-isolation --no-compile --group dev --editable . $(PLUGINS:%=--editable ./%)
	$(BIN)/python -m compileall -qq -j 0 -x '/tests?/' $(VENV)/lib || true
	touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
