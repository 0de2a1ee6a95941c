# Two commands for a newcomer: `make demo` and `make test`. Each sets up .venv on its first run.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The stamp is newer than everything that an install depends on, so a second run skips the install.
STAMP := $(VENV)/.installed

.PHONY: demo test test-slow docs package coverage mutation memory lint format clean

demo: $(STAMP)
	$(BIN)/pine demo

# Two processes of one thread each: two of two threads would wait for each other on two cores.
test: lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m "not slow" --numprocesses 2 --dist worksteal

test-slow: $(STAMP)
	$(BIN)/python -m pytest -m slow

# The site, into build/site: open build/site/index.html.
docs: $(STAMP)
	NO_MKDOCS_2_WARNING=true $(BIN)/mkdocs build --quiet
	@echo "The site: build/site/index.html"

# The wheel and the source archive, into dist/; with the setuptools of .venv, so that nothing is downloaded.
package: $(STAMP)
	$(BIN)/python -m build --no-isolation
	@ls dist

# Compiled loops are not seen. In one process: a quarter of an hour.
coverage: $(STAMP)
	mkdir -p build
	OMP_NUM_THREADS=1 $(BIN)/python -m coverage run -m pytest -q -m "not slow" --junitxml build/tests.xml
	$(BIN)/python -m coverage report --include '*/pine/nn/*,*/pine/model/*,*/pine/graph/*,*/pine/evaluation/*,*/pine/labels.py,*/pine/metrics.py,*/pine/propagation.py'

# One small change of the code at a time, which a test must notice; after make coverage: hours.
mutation: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/python scripts/mutate.py

# Measured peaks of fits beside what is counted before them: minutes, 5 GB.
memory: $(STAMP)
	$(BIN)/python benchmarks/memory.py --most-nodes 1000000

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("PINE needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; try make PYTHON=python3.12") if sys.version_info < (3, 11) else None'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing PINE and what it needs into $(VENV), some minutes on a first run ..."
	@$(BIN)/python scripts/install.py --constraint constraints.txt --editable '.[dev]'
	@touch $(STAMP)

clean:
	rm -rf $(VENV) demo
