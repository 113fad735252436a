# Everything a person types. Needs make and Python 3.11 or newer; all else goes into .venv.
#   make lab     make test

PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.14 python3 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo $$p; break; }; done)
UV ?= uv
BIN = .venv/bin
READY = .venv/.ready
DEV = .venv/.ready-dev

# Many images of Python forbid it to keep what it compiled: every process of a test would compile all packages anew.
unexport PYTHONDONTWRITEBYTECODE

SEED ?= 1
CONFIGS ?= 24
CHAPTERS ?=
MINUTES ?= 20
JSON ?= out/validate.json

STRIPPED = --keep-id --extra-keys "metadata.papermill cell.metadata.papermill" notebooks/*.ipynb tests/*/*.ipynb
PINNED = --generate-hashes --universal --python-version 3.11 --no-header --quiet

.DEFAULT_GOAL := help
.PHONY: help lab book test check format bench faults pages validate clean lock

help: ## show this list
	@echo "Readahead: storage I/O and database throughput, modeled, measured and published."
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|' 2>/dev/null \
		|| sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1: \2/p' $(MAKEFILE_LIST)

lab: $(READY) ## open the workbook in JupyterLab
	@$(BIN)/python -m readahead lab

book: $(READY) ## write the chapters, run here, as pages that need no kernel: build/book/index.html
	@$(BIN)/python -m readahead book --out build/book

test: check ## check, then every test: the library, the notebooks, the panel in a real browser
	@$(BIN)/python -m tools.every_test

check: $(DEV) ## lint, format, types, imports, notebooks without outputs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/nbstripout --verify $(STRIPPED)

format: $(DEV) ## mend what the linter and the formatter can mend by themselves
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format .
	$(BIN)/nbstripout $(STRIPPED)

bench: $(DEV) ## measure the workbook itself: its emulated device, its models, its panel (PARTS="models disk" for some)
	$(BIN)/python -m tools.bench $(PARTS)

faults: $(DEV) ## kill, fill, cut and race, over and over, and count what survives: make faults MINUTES=20 SEED=1
	@$(BIN)/python -m tools.faults --minutes $(MINUTES) --seed $(SEED) --json docs/faults.json; \
		code=$$?; $(BIN)/python -m tools.pages; exit $$code

pages: $(DEV) ## write the tables of README, INSTRUCTORS and docs/published.md anew from the chapters
	$(BIN)/python -m tools.pages

validate: $(READY) ## hold the models to measurements: make validate SEED=7 CONFIGS=24 (CHAPTERS=all for each chapter's own knobs)
	@mkdir -p "$(dir $(JSON))"
	$(BIN)/python -m tools.validate --seed $(SEED) --configs $(CONFIGS) --json "$(JSON)" \
		$(if $(CHAPTERS),--chapter $(CHAPTERS))

clean: ## remove .venv and everything built (not what you wrote)
	rm -rf .venv data/cache build out .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find lib tools tests -name __pycache__ -type d -prune -exec rm -rf {} +

lock: ## write the two locks anew from pyproject.toml: learners', developers' (needs uv; UV=path/to/uv)
	$(UV) pip compile pyproject.toml --group build $(PINNED) --output-file requirements.lock
	$(UV) pip compile pyproject.toml --group dev $(PINNED) --constraints requirements.lock \
		--output-file requirements-dev.lock

# --no-compile: Python compiles a module when it is first imported; the rest would be a fifth of .venv.
$(READY): requirements.lock pyproject.toml
	@if [ -z "$(PYTHON)" ]; then \
		echo "Readahead needs Python 3.11 or newer, and none is on the PATH. Install one," >&2; \
		echo "or say where it is: make PYTHON=/path/to/python3.11" >&2; exit 1; fi
	@$(PYTHON) -c 'import sys; v = sys.version.split()[0]; sys.exit(None if sys.version_info >= (3, 11) else \
		f"Readahead needs Python 3.11 or newer; $(PYTHON) is {v}. Say where a newer one is: make PYTHON=/path/to/python3.11")'
	@test -x $(BIN)/python || { echo "Making .venv with $(PYTHON) ..."; $(PYTHON) -m venv .venv; }
	@echo "Installing the packages of requirements.lock (about a minute the first time) ..."
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-compile --no-deps --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-build-isolation --no-deps -e .
	@echo "Compiling the models ..."
	@$(BIN)/python -c "from readahead.models.schedule import warm; warm()"
	@touch $(READY)

$(DEV): $(READY) requirements-dev.lock
	@echo "Installing the packages of requirements-dev.lock: what checks and tests need besides ..."
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-compile --no-deps --require-hashes \
		-r requirements-dev.lock
	@touch $(DEV)
