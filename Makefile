# Two commands are enough: `make demo` and `make test`. Each sets up what it needs, in one environment.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BASE := $(VENV)/.ready-base
READY := $(VENV)/.ready
WORKERS := $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)  # one more than cores: tests wait for what they start
PYTEST := $(BIN)/python -m pytest -n $(strip $(WORKERS)) --dist worksteal -q
export PYTHONDONTWRITEBYTECODE :=  # where it is set, every process of the tests would compile every module again

.DEFAULT_GOAL := help
.PHONY: help demo test suite test-fast test-all coverage cascade tables bench experiments fuzz lint types clean docs figures wheel-test

help:
	@echo "make demo       compile the 2R arm, prove it, sweep it, draw it (files in out/)"
	@echo "make test       lint, types and the suite (about ten minutes in a fresh checkout on two idle cores)"
	@echo "make test-fast  the suite without what takes seconds"
	@echo "make test-all   the suite with every arm, source, target and word length (an hour)"
	@echo "make coverage   the suite, and the lines of bddtorque it did not run (Numba's compiled code is not seen)"
	@echo "make cascade    plan every built-in arm again and rewrite cascade/"
	@echo "make tables     compile the paper's ten terms again and rewrite tables/planar2r_terms/"
	@echo "make bench      time words beside float peers, and the first torque of a new process (a quiet machine, minutes)"
	@echo "make experiments  run every script of experiments/ (up to 20 minutes on two cores; results in experiments/results/)"
	@echo "make fuzz       read 120,000 mutated files of every kind, in processes with limits (minutes; findings in out/fuzz/)"
	@echo "make figures    measure again, and rewrite, the tables of figures in README.md and docs/ (minutes, on an"
	@echo "                idle machine); make figures TABLES=pc writes one of arms, chips, pc, speed, calls"
	@echo "make wheel-test  build the wheel, install it in an environment of its own, run README's ten lines from it"
	@echo "make docs       build the pages of docs/ into site/, strictly, and the reports of the gallery"
	@echo "make clean      remove the environment and what was made"

$(BASE): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || \
	  { echo "bddtorque needs CPython 3.11, 3.12 or 3.13; $$($(PYTHON) --version) is $(PYTHON). Try: make PYTHON=python3.12"; exit 2; }
	@echo "Setting up $(VENV) with bddtorque, Numba, dd and Matplotlib: a minute or two, once."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --editable ".[plots]"
	@touch $@

$(READY): $(BASE)
	@echo "Adding what the tests need (pinocchio, MuJoCo, dask, mypy, ruff; 1.5 GB): some minutes, once."
	$(BIN)/python -m pip install --editable ".[test]"
	@touch $@

demo: $(BASE)
	@mkdir -p out
	@echo "Compiling the two-joint arm. The first time, Numba compiles bddtorque's kernels too: up to a minute."
	$(BIN)/bddtorque compile planar2r --bits 12 -o out/planar2r.bdt
	@echo
	@echo "Comparing it with Newton-Euler on 100,000 states and drawing the errors."
	$(BIN)/bddtorque sweep out/planar2r.bdt --states 100000 --csv out/planar2r_errors.csv --plot out/planar2r_errors.png
	@echo
	@echo "The compiled arm is out/planar2r.bdt; its errors beside the proved bound are out/planar2r_errors.png and .csv."
	@echo "Try: $(BIN)/bddtorque eval out/planar2r.bdt --q 0.3,-1.2 --qd 0.5,0   or   $(BIN)/bddtorque --help"

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo
	cd experiments && $(abspath $(BIN))/lint-imports --no-logo
	$(BIN)/python tests/plain_english.py

types: $(READY)
	$(BIN)/mypy

test: lint  # types are checked beside the suite: they keep one core busy, and the suite waits for processes at times
	@$(MAKE) --no-print-directory --jobs 2 types suite

suite: $(READY)
	$(PYTEST)

test-fast: $(READY)
	$(PYTEST) -m "not slow and not everything"

test-all: lint types
	BDDTORQUE_TEST_ALL=1 $(PYTEST) -m ""

coverage: $(READY)
	$(PYTEST) --cov --cov-report=term-missing

bench: $(READY)
	$(BIN)/python experiments/bench_words.py
	$(BIN)/python experiments/first_torque.py

cascade: $(READY)
	$(BIN)/python cascade/write.py

tables: $(READY)
	$(BIN)/python cascade/write_terms.py

experiments: $(READY)
	$(BIN)/python experiments/run_all.py

fuzz: $(READY)
	$(BIN)/python tests/fuzz/run.py

figures: $(READY)
	$(BIN)/python docs/figures.py $(TABLES)

docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir site
	$(BIN)/python docs/gallery.py site/reports

wheel-test:
	$(PYTHON) tests/wheel_trial.py

clean:
	rm -rf $(VENV) out build dist site
