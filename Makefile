# make run: a first result. make test: all tests. make check: all that CI does. make help: the rest.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TRACE ?=
FORMAT ?=
OUT ?= runs/latest
# Tests wait for programs that they start: one worker more than there are cores keeps these at work.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) + 1)
TRACES ?= ../shared/traces
FORMATS ?=
# A virtual environment that somebody else has activated must not be written to.
unexport VIRTUAL_ENV CONDA_PREFIX

ENGINE_SOURCES := $(shell find crates devices papers schemes -type f) Cargo.toml Cargo.lock pyproject.toml

# Tests start hundreds of Pythons, each of which would compile the package and its libraries again.
test-python long docs-check lint: export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help run serve-deps programs-deps simulators-deps real-programs test test-rust test-python long exercises fuzz histories cuts saves damages mutants check lint format fitted-workloads steady-check trust reproduce bench bench-parts picture gallery simgrid-picture gem5 llm-picture clean

help: ## what can be made
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1\t/' | \
	  awk -F '\t' '{ printf "  make %-15s %s\n", $$1, $$2 }'

run: $(VENV)/.engine ## build if need be, run a built-in workload (or TRACE=file FORMAT=f), save runs/latest
ifeq ($(strip $(TRACE)),)
	@$(BIN)/flashgc run oltp --out "$(OUT)"
else
	@$(BIN)/flashgc run replay --trace "$(TRACE)" $(if $(FORMAT),--format "$(FORMAT)") --out "$(OUT)"
endif

test: test-rust test-python ## all tests, Rust and Python

# Always the whole workspace: a package by itself has other features, and the engine would be built
# again for them.
test-rust: | tools
	cargo test --workspace --quiet --profile tests
ifneq ($(wildcard ../shared/traces),)
	@echo "tests that need the files of ../shared (without them they are listed as ignored)"
	cargo test --workspace --quiet --profile tests --test all -- --ignored
	@scripts/missing_traces ../shared/traces
endif

test-python: $(VENV)/.engine $(VENV)/.dev
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal --durations=12 $(addprefix --ignore=tests/python/,test_site.py test_paper.py test_playground.py)

# The tests that have a long form, from their sources.
LONG_RUST = $(shell grep -rlw is_long crates/*/tests/all | sed -E 's|.*/all/([a-z_]+).*|\1::|' | grep -vx common:: | sort -u)
LONG_PYTHON = $(shell grep -lwE 'LONG|FLASHGC_LONG' tests/python/test_*.py | xargs grep -L '^LONG =') tests/fio
long: $(VENV)/.engine $(VENV)/.dev ## long forms: 100,000 requests a pair of slots, traces and examples in full, 5,000 job files of fio, 100 million rows, exercises, values that the compiler loses
	FLASHGC_LONG=1 cargo test --workspace --quiet --profile tests --test all -- $(LONG_RUST)
	FLASHGC_LONG=1 cargo test --workspace --quiet --profile tests --test flat_memory
	$(MAKE) --no-print-directory saves damages
	FLASHGC_LONG=1 $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal $(LONG_PYTHON)
	$(BIN)/python scripts/exercises
	$(BIN)/python scripts/lost_definitions.py

exercises: | tools ## apply each patch of docs/exercises to a copy, count the files that it touches, and run its tests
	$(PYTHON) scripts/exercises

FUZZ_SECONDS ?= 60
fuzz: | tools ## fuzz readers, our own formats and the configuration (FUZZ_SECONDS=60 each)
	scripts/fuzz $(FUZZ_SECONDS)

SECONDS ?= 600
SEED ?= 1
COUNT ?=
ONE ?=
# Built with an example, which brings the features of tests: then it is the one that they have built.
histories: | tools ## random histories of the engine (SECONDS=600 SEED=1 COUNT=number, or ONE=seed to repeat one)
	cargo build --locked --quiet --profile tests --bin flashgc-histories --example films
	$(or $(CARGO_TARGET_DIR),target)/tests/flashgc-histories \
	  $(if $(ONE),--one $(ONE),--seed $(SEED) $(if $(COUNT),--count $(COUNT),--seconds $(SECONDS)))

cuts: COUNT := $(or $(COUNT),20000)
cuts: | tools ## losses of power of random served drives (COUNT=20000 SEED=1)
	FLASHGC_CUTS=$(COUNT) FLASHGC_SEED=$(SEED) cargo test --workspace --quiet --profile tests --test all -- \
	  --nocapture cuts::what

saves: COUNT := $(or $(COUNT),10000)
saves: | tools ## stores whose writes fail, each in turn, with a kill after it (COUNT=10000 SEED=1)
	FLASHGC_SAVES=$(COUNT) FLASHGC_SEED=$(SEED) cargo test --workspace --quiet --profile tests --test all -- \
	  --nocapture hunts::what

damages: COUNT := $(or $(COUNT),2000)
damages: | tools ## stores with a flipped bit, or cut, anywhere (COUNT=2000 SEED=1)
	FLASHGC_DAMAGES=$(COUNT) FLASHGC_SEED=$(SEED) cargo test --workspace --quiet --profile tests --test all -- \
	  --nocapture hunts::no_damage

SAMPLE ?= 300
ONLY ?=
LONG ?=
MISSED ?=
mutants: $(VENV)/.dev | tools ## mutation score of the engine (SAMPLE=300 SEED=1, ONLY=text in a name, LONG=1, MISSED=1 those of the last run)
	$(BIN)/python scripts/mutants --sample $(SAMPLE) --seed $(SEED) --only "$(ONLY)" \
	  $(if $(LONG),--long) $(if $(MISSED),--missed)

# Everything that CI does, one step after the other.
CHECKS := engine native lint test-rust test-python docs-check histories
check: ## everything that CI does, with the time of each step
	@scripts/check SECONDS=30 $(CHECKS)

.PHONY: engine
engine: $(VENV)/.engine $(VENV)/.dev

DRIVES ?=
EVERY ?= 1
CHECK ?=
.PHONY: validation
validation: $(VENV)/.engine $(VENV)/.dev ## run fitted devices under the loads of measured real drives; tables and pictures of docs/validation.md (DRIVES=names, EVERY=10, CHECK=1 to compare with the record)
	$(BIN)/python scripts/validation $(DRIVES) --every $(EVERY) $(if $(CHECK),--check)

PREFIX ?= /usr/local
.PHONY: install native c-fuzz c-valgrind
install: | tools ## the library for C and C++, with pkg-config and CMake (PREFIX=/usr/local)
	@scripts/install_c "$(PREFIX)"

native: | tools ## the same in the Python package of this folder, for `python -m flashgc.native`
	@PROFILE=people scripts/wheel_native

CALLS ?= 10000000
c-fuzz: | tools ## functions of the C interface in any order, with any values (CALLS=10000000)
	FLASHGC_CALLS=$(CALLS) cargo test --workspace --quiet --profile tests --test all -- \
	  --nocapture any_call_is

c-valgrind: | tools ## the examples in C and C++ under valgrind, and two drives in two threads under helgrind
	@scripts/c_valgrind

PLUGIN := python/flashgc/_nbdkit.so
serve-deps: $(PLUGIN) ## what `flashgc serve` and its tests need: nbdkit, libnbd, fio, e2fsprogs (Debian), and the plugin
	@scripts/serve_deps

programs-deps: serve-deps ## what scripts/programs runs on a served drive: PostgreSQL, RocksDB, MariaDB, sysbench, dbench (Debian)
	@scripts/serve_deps programs

simulators-deps: native ## what tests of the drive as a component need: SimGrid and Go (Debian), and the library
	@scripts/serve_deps simulators

ONLY_PROGRAMS = $(if $(PROGRAMS),--programs $(PROGRAMS))
real-programs: $(VENV)/.engine ## run real programs on served drives, as root (PROGRAMS=sqlite,dbench SCHEMES=greedy,fpgc LENGTH=60 TIME=real)
	$(BIN)/python scripts/programs $(ONLY_PROGRAMS) $(if $(SCHEMES),--schemes $(SCHEMES)) \
	  --seconds $(or $(LENGTH),60) --time $(or $(TIME),real)

$(PLUGIN): $(ENGINE_SOURCES) | tools
	PROFILE=people scripts/wheel_plugin

lint: $(VENV)/.engine $(VENV)/.dev ## formatters, linters and type checker, changing nothing
	@$(MAKE) --no-print-directory --jobs 2 --output-sync lint-rust lint-python

# Clippy is one crate after the other for most of its time.
.PHONY: lint-rust lint-python
lint-rust:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --profile tests --quiet -- -D warnings
	scripts/c_header --check

lint-python:
	$(BIN)/ruff format --check python tests/python tests/fio scripts integrations
	$(BIN)/ruff check python tests/python tests/fio scripts integrations
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest flashgc._engine --ignore-missing-stub
	$(BIN)/python scripts/prose.py
	$(BIN)/python scripts/prose.py --comments
	$(BIN)/codespell *.md docs papers schemes devices scripts python/flashgc crates/*/src --skip "*.svg,*.so,*.a,*.bib,vega.js"

format: $(VENV)/.dev ## put the code into the project's shape
	cargo fmt --all
	$(BIN)/ruff format python tests/python tests/fio scripts integrations
	$(BIN)/ruff check --fix python tests/python tests/fio scripts integrations

fitted-workloads: $(VENV)/.engine ## check the fitted workloads of all traces in TRACES=folder (FORMATS=file names formats)
	@$(BIN)/python scripts/fitted_workloads.py "$(TRACES)" $(if $(FORMATS),--formats "$(FORMATS)")

reproduce: $(VENV)/.engine ## reproduce the papers, with the traces in TRACES=folder; takes minutes
	@$(BIN)/flashgc reproduce --all $(if $(wildcard $(TRACES)),--traces "$(TRACES)")

TRUSTED = oracles separation midas small_model placement:: lifetime:: timelines disksim mqsim ssdsim
trust: | tools ## compare the engine with formulas, second programs and other simulators (docs/trust.md); takes minutes
	cargo test --locked --quiet --profile tests -p flashgc-tests --test all -- $(TRUSTED)

SIZES ?= 8,64,256
SCHEMES ?=
WORKLOADS ?=
RECORD ?=
bench: | tools ## time all presets, and all victims, against a bare event kernel (SIZES=8,64,256 GiB, SCHEMES=greedy,greedy/fifo WORKLOADS=uniform,zipf,trace, RECORD=date to keep)
	@cargo bench --quiet -p flashgc --bench presets -- --sizes=$(SIZES) --schemes=$(SCHEMES) \
	  --workloads=$(WORKLOADS) --record=$(RECORD)

bench-parts: | tools ## the other benchmarks: parts of the engine, whole runs, saved drives, trace formats
	cargo bench -p flashgc --bench parts --bench whole
	cargo bench -p flashgc-drive -p flashgc-trace

STEADY_RUNS = $(or $(RUNS),200) $(or $(SEED),1) $(ALL)
steady-check: | tools ## hold verdicts of balance against runs ten times as long (RUNS=200 SEED=1, ALL=all for "no" too)
	cargo run --quiet --release -p flashgc --example steady_check -- $(STEADY_RUNS)

picture: $(VENV)/.engine ## regenerate the pictures of the README and of docs/placement.md, from runs
	$(BIN)/python scripts/picture.py
	$(BIN)/python scripts/placement_picture.py

gallery: $(VENV)/.engine $(VENV)/.dev ## regenerate the pictures of docs/gallery.md, from its commands; takes minutes
	$(BIN)/python scripts/gallery.py

simgrid-picture: $(VENV)/.engine native ## regenerate the picture of docs/simgrid.md, from runs with SimGrid
	$(BIN)/python scripts/simgrid_picture.py

GEM5 ?=
gem5: $(VENV)/.engine $(VENV)/.dev native ## build gem5 with a drive inside, and test it (GEM5=folder of gem5's source, JOBS=2); takes about an hour
	scripts/gem5 "$(GEM5)"
	GEM5="$(abspath $(GEM5))" $(BIN)/python -m pytest -q tests/python/test_gem5.py

llm-picture: $(VENV)/.engine $(VENV)/.dev ## run the server of docs/llm-serving.md for longer, and regenerate its picture; takes minutes
	$(BIN)/python scripts/llm_picture.py

.PHONY: playground docs paper docs-check wheel wheel-check wheel-aarch64 workflows-check
playground: | tools ## the simulator in a page, target/playground/playground.html (rustup target add wasm32-unknown-unknown)
	@scripts/playground

docs: $(VENV)/.docs ## build the manual as a site, target/site/index.html; it works offline
	@scripts/playground --optional
	@scripts/films --optional
	@$(BIN)/python scripts/site/generate.py
	@echo "target/site/index.html"

paper: $(VENV)/.docs ## build the tool paper, target/paper/flashgc.pdf
	@$(BIN)/python scripts/site/paper.py

docs-check: $(VENV)/.docs $(VENV)/.engine $(VENV)/.dev ## build the site without a warning and check it
	@scripts/playground --optional
	@scripts/films --optional
	$(BIN)/python -m pytest -q $(addprefix tests/python/,test_site.py test_paper.py test_playground.py)

# With MANYLINUX the wheel runs on systems with this glibc or later; zig brings the old one.
MANYLINUX ?=
OLD_GLIBC = --zig --compatibility manylinux_$(MANYLINUX) --target "$$(rustc -vV | sed -n 's/^host: //p')"
wheel: $(VENV)/.run $(if $(MANYLINUX),$(VENV)/.wheel) ## build a wheel for this machine, target/wheels (MANYLINUX=2_17 for older Linux)
	rm -rf target/wheels
	PATH="$(abspath $(BIN)):$$PATH" scripts/wheel_plugin $(MANYLINUX)
	PATH="$(abspath $(BIN)):$$PATH" scripts/wheel_native $(MANYLINUX)
	PATH="$(abspath $(BIN)):$$PATH" maturin build --release --locked --out target/wheels $(if $(MANYLINUX),$(OLD_GLIBC))

wheel-check: wheel $(VENV)/.engine ## install the wheel in an empty environment and run it
	$(BIN)/python scripts/wheel_check.py target/wheels/*.whl --same-as $(BIN)/flashgc

wheel-aarch64: $(VENV)/.engine ## build the wheel for aarch64 on Debian 12, run it under qemu-user, compare results
	scripts/wheel_aarch64 $(BIN)/python

workflows-check: $(VENV)/.publish ## check the workflows of a public host, and CITATION.cff
	scripts/workflows_check $(BIN)

clean: ## remove everything that was made
	rm -rf $(VENV) target runs python/flashgc/*.so python/flashgc/_native

.PHONY: tools
tools:
	@scripts/tools $(PYTHON)

PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
$(VENV)/.maturin: requirements-build.txt | tools
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) --no-compile -r requirements-build.txt
	@touch $@

$(VENV)/.run: requirements.txt $(VENV)/.maturin
	@$(PIP) --no-compile -r requirements.txt
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.run
	@echo "installing the Python packages of requirements-dev.txt"
	@$(PIP) -r requirements-dev.txt
	@touch $@

$(VENV)/.docs $(VENV)/.publish $(VENV)/.wheel: $(VENV)/.%: requirements-%.txt $(VENV)/.run
	@echo "installing the Python packages of $<"
	@$(PIP) -r $<
	@touch $@

PROFILE := people
$(VENV)/.engine: requirements.txt requirements-build.txt $(ENGINE_SOURCES) | tools
	@scripts/build $(VENV) $(PROFILE)
	@touch $@
