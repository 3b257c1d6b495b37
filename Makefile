# Groundling: `make demo` and `make test` work from a bare clone; `make help` lists the rest.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

# Small L-BFGS steps are slower with threaded linear algebra.
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help install demo test home-assistant home-models versions wheel lint types bench bench-scale defaults docs pictures parser-versions clean

help:
	@echo "make demo     train on a generated maze world and follow instructions in a new maze"
	@echo "make test     run the test suite (real corpora: set GROUNDLING_CORPORA)"
	@echo "make soak     run the long tests of the promises (SOAK=seconds for each part); parts:"
	@echo "              soak-requests, -imports, -files, -homes, -models, -kills, -stops, -clusters, -memory"
	@echo "make home-assistant  test the custom component in Home Assistant (in a separate environment, 4 min)"
	@echo "make home-models  train the models of homes (requires GROUNDLING_CORPORA)"
	@echo "make versions test with the lowest and the newest dependencies (PYTHONS='3.11 3.12 3.13')"
	@echo "make wheel    build a wheel in dist/ and test it in a clean environment"
	@echo "make install  create .venv with all dependencies"
	@echo "make lint     check style;  make types: check types"
	@echo "make docs     build the site into site/ (runs the notebook of the tour)"
	@echo "make pictures update the pictures and screenshots of the pages (requires Chromium)"
	@echo "make bench    compare speed with PyTorch and NumPy (installs torch)"
	@echo "make bench-scale  training on workers and out of core, up to SIZE=500000 demonstrations"
	@echo "make defaults compare Follower() with settings chosen by hand, for docs/choosing.md"
	@echo "make parser-versions  measure the parser with the lowest and the newest spaCy"
	@echo "              (TREEBANKS=folder with en_ewt-ud-test.conllu; in separate environments)"

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

# Each part writes its own section of soak.json; `make soak-page` writes the table in
# docs/reliability.md from it. Parts can run separately and at the same time; `soak` runs all.
SOAK ?= 600
P := tests/promises
SOAK_requests := $P/test_no_raw_errors.py -k 'requests or schemathesis'
SOAK_imports := $P/test_no_raw_errors.py -k 'imports or project_files'
SOAK_files := $P/test_formats_run_no_code.py -k 'not home'
SOAK_homes := $P/test_formats_run_no_code.py -k home
SOAK_models := $P/test_bounded_hostile_files.py $P/test_bounded_dialogue_tables.py
SOAK_kills := $(addprefix $P/test_,atomic_saves.py exact_resume.py resume_across_hash_seeds.py \
	studio_for_long.py::test_studio_killed_while_people_teach_and_edit)
SOAK_stops := $P/test_commands_stop.py $P/test_stops_soon.py
SOAK_clusters := $P/test_dask_workers_may_die.py
SOAK_memory := $(addprefix $P/test_,flat_memory.py threads_and_forks.py long_texts.py \
	studio_for_long.py::test_studio_service_memory_stays_flat)
SOAK_PARTS := requests imports files homes models kills stops clusters memory
.PHONY: soak soak-page $(SOAK_PARTS:%=soak-%)
soak:
	rm -f soak.json
	$(MAKE) $(SOAK_PARTS:%=soak-%)
	$(MAKE) soak-page

soak-page: $(VENV)/.dev
	$(BIN)/python -m tools.soak soak.json

$(SOAK_PARTS:%=soak-%): soak-%: $(VENV)/.dev
	GROUNDLING_SOAK=$(SOAK) GROUNDLING_SOAK_PART=$* \
		$(BIN)/pytest -q -p no:cacheprovider $(SOAK_$*)

# Tests of the custom component, with Home Assistant in a separate environment.
HASS := .home-assistant
HASS_PYTHON ?= 3.13
$(HASS)/.ready: $(VENV)/.dev
	$(BIN)/uv venv --quiet --python $(HASS_PYTHON) $(HASS)
	$(BIN)/uv pip install --quiet --python $(HASS)/bin/python homeassistant==2025.4.4 \
		pytest-homeassistant-custom-component hassil home-assistant-intents --editable .
	@touch $@

home-assistant: $(HASS)/.ready
	cd integrations/home_assistant && $(CURDIR)/$(HASS)/bin/python -m pytest -q -p no:cacheprovider \
		-c /dev/null --rootdir=. --asyncio-mode=auto tests

HOME_LANGUAGES ?= en de fr es nl pl it ar ko
home-models: $(VENV)/.dev
	for code in $(HOME_LANGUAGES); do \
		$(BIN)/groundling home train --language $$code --out src/groundling/home/models/$$code || exit 1; \
	done

# Temporary environments, created with uv.
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
	$(BIN)/codespell src docs research tools README.md CONTRIBUTING.md CHANGELOG.md

types: $(VENV)/.dev
	$(BIN)/mypy

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

pictures: $(VENV)/.dev
	$(BIN)/python docs/make_pictures.py
	$(BIN)/python docs/make_screenshots.py

# For comparison, version 0.1.0 is checked out from the history and installed separately.
BASE := .base-0.1.0
bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks.run --base $(BASE) --before $(BASE)-later

# Writes the figures to scale.json and into docs/scale.md; parts that are already in the file are reused.
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
	rm -rf $(VENV) $(BASE) $(BASE)-later $(HASS) demo site bench.json scale.json soak.json .pytest_cache .mypy_cache .ruff_cache .hypothesis
