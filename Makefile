# Each target sets up what it needs in .venv, reuses it, and rebuilds when sources changed.

PYTHON ?= python3
JOBS ?= 2
# ON makes compiler warnings errors.
WERROR ?= OFF

VENV := .venv
BIN := $(VENV)/bin
DEPENDENCIES := $(VENV)/.dependencies
INSTALLED := $(VENV)/.installed
BYTE_CODE := $(VENV)/.byte_code
SOURCES := build/sources.txt
BUILD_DIR := build/python
SANITIZE_DIR := build/sanitize
# Other packages for benchmarks, apart from ours: one of them has our name.
PEERS ?= build/peers

export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)
# Without byte code every process compiles torch and SymPy anew, which takes half of the time of the tests.
unexport PYTHONDONTWRITEBYTECODE
# -qq: errors only.
PIP_INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check
# Byte code is made here, since a container may not write any later; pip would use one core, and compile tests too.
COMPILE := $(BIN)/python -m compileall -qq -j $(JOBS)

# Arguments to Python that print what pyproject.toml asks for: build requirements, dependencies, all extras.
REQUIREMENTS := -c 'import tomllib; t = tomllib.load(open("pyproject.toml", "rb")); p = t["project"]; \
  print(*t["build-system"]["requires"], *p["dependencies"], *sum(p["optional-dependencies"].values(), []))'

PYTHON_SOURCES := $(shell find src -name '*.py')
NATIVE := $(shell find native/core native/ansr native/bind cmake -type f)
CLANG_FORMAT_FILES := $(shell find native -name '*.[ch]pp')
# make_*.py writes files, _*.py is shared: neither times anything.
BENCHMARKS := $(filter-out benchmarks/_% benchmarks/make_%,$(wildcard benchmarks/*.py))

SWEEPS := time noise noise_5s points paper decoding refiner inference_simplifier proposers
# How many searches run at a time, and on how many cores each.
SHARE := --threads 2
SHARE_proposers := --jobs 2 --threads 1
SHARE_refiner := $(SHARE_proposers)
SHARE_inference_simplifier := $(SHARE_proposers)

.PHONY: help venv mine demo test test-all lint format native-test bench results peers table-peers docs prices constraints clean FORCE
.DEFAULT_GOAL := help

help:
	@echo "make demo         find a law in bundled data"
	@echo "make test         the test suite without the markers slow and peer"
	@echo "make test-all     the whole test suite"
	@echo "make lint         ruff, mypy, import-linter, clang-format"
	@echo "make native-test  the C++ tests under ASan and UBSan"
	@echo "make bench        the benchmarks"
	@echo "make results      the rows under results/, with other systems where \`make peers\` put them"
	@echo "make peers        other systems for the benchmarks, in an environment of their own"
	@echo "make table-peers  more of them, which run on tables; needs a C++ compiler"
	@echo "make docs         the documentation as a site, in build/site"
	@echo "make prices       estimate the prices of forms again, and judge them by held-out laws"
	@echo "make mine         discover the simplifier's rules again, and verify them"
	@echo "make format       rewrite Python and C++ in the house style"
	@echo "make venv         only set up .venv"
	@echo "make clean        remove .venv and everything that was built"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "error: Python >= 3.11 is needed, '$(PYTHON)' is $$($(PYTHON) --version 2>&1);" \
	         "name another one with: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@command -v $${CXX:-c++} >/dev/null || \
	  { echo "error: a C++20 compiler is needed (g++ >= 11 or clang++ >= 14)" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(DEPENDENCIES): pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing packages into $(VENV), torch among them: one to three minutes, once"
	@$(PIP_INSTALL) --no-compile -c constraints.txt $$($(BIN)/python $(REQUIREMENTS))
	@$(COMPILE) -x 'site-packages/.*/tests?/' $(VENV)/lib || true # templates in some packages are no valid Python
	@touch $@

# The names of the sources; changes only when one is added, removed or renamed.
$(SOURCES): FORCE
	@mkdir -p $(@D)
	@find native/core native/ansr native/bind src -name '*.[ch]pp' -o -name '*.py' | LC_ALL=C sort > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# Editable: a change to Python needs no new install. --no-build-isolation: compiles are incremental.
$(INSTALLED): $(DEPENDENCIES) $(SOURCES) $(NATIVE) CMakeLists.txt src/simplipy/_version.py
	@echo "building the native core with $(JOBS) jobs: two to four minutes the first time, later only what changed"
	@$(PIP_INSTALL) --no-deps --no-build-isolation -C build-dir=$(BUILD_DIR) \
	  -C cmake.define.SIMPLIPY_WERROR=$(WERROR) --editable .
	@touch $@

# Compiles only what changed.
$(BYTE_CODE): $(INSTALLED) $(PYTHON_SOURCES)
	@$(COMPILE) src
	@touch $@

venv: $(BYTE_CODE)

demo: venv
	$(BIN)/python examples/demo.py

test: venv
	$(BIN)/python -m pytest -n $(JOBS)

test-all: venv
	$(BIN)/python -m pytest -n $(JOBS) -m "" --hypothesis-profile=thorough

lint: venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/clang-format --dry-run --Werror $(CLANG_FORMAT_FILES)

format: venv
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CLANG_FORMAT_FILES)

native-test: $(DEPENDENCIES)
	@$(BIN)/cmake -S . -B $(SANITIZE_DIR) -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
	  -DSIMPLIPY_TESTS=ON -DSIMPLIPY_SANITIZE=ON -DSIMPLIPY_WERROR=ON --log-level=WARNING
	$(BIN)/cmake --build $(SANITIZE_DIR)
	$(SANITIZE_DIR)/native_tests

bench: venv
	@set -e; for script in $(BENCHMARKS); do echo "$$script"; $(BIN)/python $$script; done

# The rows and reports under results/: hours of two quiet cores, after `make peers`. A run that was stopped goes on.
# Rows of `paper` and `proposers` and the figures of all metrics are not committed; see results/README.md.
results: venv
	@set -e; $(foreach sweep,$(SWEEPS), \
	  $(BIN)/flash-ansr bench run --sweep benchmarks/sweeps/$(sweep).yaml $(or $(SHARE_$(sweep)),$(SHARE)) --out results/$(sweep); \
	  $(BIN)/flash-ansr bench report results/$(sweep) --out results/$(sweep)/report; \
	  $(BIN)/python benchmarks/make_small_rows.py results/$(sweep);)
	@$(if $(filter proposers,$(SWEEPS)),$(BIN)/python benchmarks/make_proposers_figure.py)

docs: venv
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "build/site/index.html"

RULES := src/simplipy/data

# The bundled rules: the same bytes on the same platform. Only the times in the provenance differ.
mine: venv
	$(BIN)/simplipy mine --max-length 6 --max-replacement 3 --seed 20260101 --out $(RULES)/mined_rules.json \
	  --hand $(RULES)/hand_rules.txt --rule-file $(RULES)/rules.txt
	rm -r $(RULES)/mined_rules.shards
	$(BIN)/simplipy verify $(RULES)/rules.txt

DEVELOPMENT := benchmarks/textbook_laws.yaml

# The tables of prices and the laws of the prior: the same bytes everywhere. Forms of development problems are not learned.
prices: venv
	$(BIN)/python -m flash_ansr.price.estimate --exclude $(DEVELOPMENT) --out src/flash_ansr/price
	$(BIN)/python -m flash_ansr.data.sources.make_laws $(DEVELOPMENT)

PEER_PACKAGES := numpy==2.4.6 scikit-learn==1.9.1 symengine==0.15.0 simplipy==0.12.0 pyoperon==0.6.2 gplearn==0.4.3

peers:
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install -q --disable-pip-version-check $(PEER_PACKAGES)

TABLE_PEER_PACKAGES := eggp==2.2.2 symregg==1.0.4 sympy==1.14.0
# rils-rols does not say that it needs these to be built
RILS_ROLS_BUILD := pybind11==3.1.0 setuptools==65.5.0 wheel==0.48.0

table-peers: peers
	$(PEERS)/bin/python -m pip install -q --disable-pip-version-check $(TABLE_PEER_PACKAGES) $(RILS_ROLS_BUILD)
	$(PEERS)/bin/python -m pip install -q --disable-pip-version-check --no-build-isolation rils-rols==1.6.7

# New pins: the newest version of everything but torch, which is raised by hand.
constraints:
	rm -rf build/pins && $(PYTHON) -m venv build/pins
	build/pins/bin/python -m pip install -q $$(grep '^torch==' constraints.txt) $$($(PYTHON) $(REQUIREMENTS))
	grep '^#' constraints.txt > build/constraints.txt
	build/pins/bin/python -m pip freeze --all --exclude pip | sed 's/+[a-z0-9.]*$$//' >> build/constraints.txt
	mv build/constraints.txt constraints.txt

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests examples benchmarks -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
