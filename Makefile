# Groundling: `make demo` and `make test` work from a bare clone; `make help` lists the rest.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

# Small L-BFGS steps are slower with threaded linear algebra.
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help install demo test soak versions wheel lint types bench bench-scale defaults docs pictures parser-versions clean

help:
	@echo "make demo     train on a generated maze world and follow instructions in a new maze"
	@echo "make test     run the test suite (real corpora: set GROUNDLING_CORPORA)"
	@echo "make soak     run the tests of the promises for an hour (SOAK=seconds)"
	@echo "make versions try the lowest and the newest dependencies (PYTHONS='3.11 3.12 3.13')"
	@echo "make wheel    build a wheel into dist/ and try it in an environment of its own"
	@echo "make install  make .venv with everything for development"
	@echo "make lint     check style;  make types: check types"
	@echo "make docs     build the site into site/ (runs the notebook of the tour)"
	@echo "make pictures draw the pictures and screenshots of the pages anew (needs Chromium)"
	@echo "make bench    compare speed with PyTorch and NumPy (installs torch)"
	@echo "make bench-scale  training on workers and out of core, up to SIZE=500000 demonstrations"
	@echo "make defaults compare Follower() with settings chosen by hand, for docs/choosing.md"
	@echo "make parser-versions  measure the parser with the lowest and the newest spaCy"
	@echo "              (TREEBANKS=folder with en_ewt-ud-test.conllu; installs both apart)"

$(VENV)/.base: pyproject.toml
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	$(BIN)/pip install --quiet --editable '.[dev]'
	@touch $@

$(VENV)/.bench: $(VENV)/.dev
	$(BIN)/pip install --quiet --editable '.[bench]'
	@touch $@

$(VENV)/.docs: $(VENV)/.base
	$(BIN)/pip install --quiet --editable '.[docs]'
	@touch $@

install: $(VENV)/.dev

demo: $(VENV)/.base
	$(BIN)/groundling demo

test: $(VENV)/.dev
	$(BIN)/pytest -n auto --dist worksteal

# The figures go into soak.json, from which docs/reliability.md takes them.
SOAK ?= 3600
soak: $(VENV)/.dev
	rm -f soak.json
	GROUNDLING_SOAK=$(SOAK) $(BIN)/pytest tests/promises -p no:cacheprovider

# Environments of their own, made with uv; nothing of them stays.
PYTHONS ?= 3.11 3.12 3.13
RESOLUTIONS ?= lowest-direct highest
versions: $(VENV)/.dev
	$(BIN)/python -m tools.versions $(PYTHONS:%=--python %) $(RESOLUTIONS:%=--resolution %)

wheel: $(VENV)/.dev
	rm -rf dist
	$(BIN)/python -m uv build --quiet --wheel --out-dir dist
	$(BIN)/python -m tools.versions --wheel dist/*.whl --python 3.11 --resolution highest

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

pictures: $(VENV)/.dev
	$(BIN)/python docs/make_pictures.py
	$(BIN)/python docs/make_screenshots.py

# Version 0.1.0 is taken from the history and installed beside this one, to be compared with.
BASE := .base-0.1.0
bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks.run --base $(BASE)

# The figures go into scale.json, from which docs/scale.md takes them; what is there is kept.
SIZE ?= 500000
bench-scale: $(VENV)/.dev
	$(BIN)/python -m benchmarks.scale --size $(SIZE)

defaults: $(VENV)/.dev
	$(BIN)/python -m benchmarks.defaults --docs

parser-versions: $(VENV)/.base
	@test -n "$(TREEBANKS)" || { echo "Give the folder of the treebanks: make parser-versions TREEBANKS=…"; exit 1; }
	$(BIN)/python -m tools.parser.versions --treebanks "$(TREEBANKS)" --out results/parser-versions.json

clean:
	-git worktree remove --force $(BASE) 2>/dev/null
	rm -rf $(VENV) $(BASE) demo site bench.json scale.json soak.json .pytest_cache .mypy_cache .ruff_cache .hypothesis
