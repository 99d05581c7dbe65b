# Needs Python 3.11+ and make; everything else is set up here.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint bench kernels counts fuzz docs clean record formats
.DEFAULT_GOAL := demo

.venv/installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "saddlescope needs Python 3.11 or newer; set PYTHON=…")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q --disable-pip-version-check -e '.[dev]'
	touch $@

demo: .venv/installed
	$(BIN)/saddlescope run simplicity.fig1b --quick --out demo --quiet
	$(BIN)/saddlescope run valleys.fig1 --quick --out demo --quiet
	$(BIN)/saddlescope run escape.example1 --quick --out demo --quiet
	$(BIN)/saddlescope run meanfield.two_step --quick --out demo --quiet
	@echo "Open demo/index.html"

test: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pytest -n 2 --dist worksteal

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

# Results are collected aside and copied at the end, so that each comes from a clean commit. ROUNDS=2 tries it out.
ROUNDS ?= 9

bench: .venv/installed
	$(BIN)/pip install -q --disable-pip-version-check torch==2.13.0
	mkdir -p .bench
	cp benchmarks/*.json .bench
	for name in engine adam growth moments mlp logs sweeps end_to_end; do \
	  $(BIN)/python benchmarks/$$name.py --rounds $(ROUNDS) --json .bench/$$name.json || exit 1; done
	for name in escape meanfield paper_sweeps counts; do \
	  $(BIN)/python benchmarks/$$name.py --json .bench/$$name.json || exit 1; done
	cp .bench/*.json benchmarks
	rm -r .bench
	$(BIN)/python tests/test_docs.py

# The fused kernel of both precisions, compiled for this machine: else each process of the tests compiles its own.
kernels: .venv/installed
	$(BIN)/python -c 'from saddlescope.engines.fused.compiling import make_ready; list(map(make_ready, ("float32", "float64")))'

counts: .venv/installed
	$(BIN)/python benchmarks/counts.py --check

fuzz: .venv/installed
	$(BIN)/python tools/fuzz.py 2>/dev/null

docs: .venv/installed
	$(BIN)/pip install -q --disable-pip-version-check -e '.[docs]'
	$(BIN)/sphinx-build -q -W docs docs/_build
	@echo "Open docs/_build/index.html"

record: .venv/installed
	$(BIN)/python tools/record.py

# The tools whose logs we read. torch comes first: the CPU build keeps the rest from a download of gigabytes.
.venv-formats/installed:
	$(PYTHON) -m venv .venv-formats
	.venv-formats/bin/pip install -q --disable-pip-version-check torch==2.13.0
	.venv-formats/bin/pip install -q --disable-pip-version-check tensorboard wandb lightning transformers accelerate trackio mlflow
	touch $@

formats: .venv-formats/installed
	.venv-formats/bin/python tools/write_logs.py

clean:
	rm -rf .venv .venv-formats .bench demo docs/_build saddlescope-results .pytest_cache .ruff_cache .hypothesis
