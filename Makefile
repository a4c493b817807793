# `make demo` and `make test` work from a fresh clone with python 3.11+, make, git and a package index.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
SOURCES := render overlays releases pipelines tests benchmarks docs tools
DEMO := build/demo
# The one that comes with the `kustomize` extra, whatever else is on PATH.
POOLWRIGHT_KUSTOMIZE ?= $(abspath $(BIN)/kubectl)
export POOLWRIGHT_KUSTOMIZE

.PHONY: demo test check docs bench oracle cmp-live clean
.DEFAULT_GOAL := help

help:
	@echo "make demo   render the example fleet, build every folder with real Kustomize, say who fits, try Argo CD's plugin, release"
	@echo "make test   all tests"
	@echo "make check  lint, formatting, strict types, imports go one way, reference docs up to date"
	@echo "make docs   write the reference docs from the code"
	@echo "make bench  compare with real Kustomize, with Kubernetes' allocator and with ourselves (prints ratios)"
	@echo "make oracle compare with upstream Go code (needs Go; its modules are fetched)"
	@echo "make cmp-live CMP_SERVER=PATH  compare \`cmp test\` with the argocd-cmp-server there, and record what it said"

$(VENV)/installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "poolwright needs Python 3.11 or newer; PYTHON=... names one")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(VENV)/installed
	@rm -rf $(DEMO)
	$(BIN)/poolwright check --project examples/fleet --as-of 2026-11-30
	$(BIN)/poolwright render --project examples/fleet --out $(DEMO) --verify
	$(BIN)/poolwright plan --project examples/fleet --cluster east
	$(BIN)/poolwright cmp test --project examples/fleet --repo examples/fleet --app lab-alpha-guard-1b7 \
	  --trust pipelines/argocd/trust.yaml
	PATH="$(abspath $(BIN)):$$PATH" examples/release/show
	@echo
	@echo "The specs:            examples/fleet/specs/"
	@echo "What they give:       $(DEMO)/overlays/ (and committed: examples/fleet/overlays/)"
	@echo "One unit, finished:   $(BIN)/poolwright generate --project examples/fleet --cluster east --unit chat-70b"
	@echo "Who fits without...:  $(BIN)/poolwright plan --project examples/fleet --cluster east --loss zone --loss family"
	@echo "Why a field is so:    $(BIN)/poolwright explain east/chat-70b/Deployment/chat-70b --project examples/fleet"
	@echo "Start your own:       $(BIN)/poolwright init my-fleet"

test: $(VENV)/installed
	$(BIN)/python -m pytest -q -n auto

check: $(VENV)/installed
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_import_direction.py
	$(BIN)/python docs/write_reference.py --check
	$(BIN)/python tools/write_argocd_cm.py --check

docs: $(VENV)/installed
	$(BIN)/python docs/write_reference.py
	$(BIN)/python tools/write_argocd_cm.py

bench: $(VENV)/installed
	$(BIN)/python benchmarks/generate.py
	$(BIN)/python benchmarks/applications.py
	$(BIN)/python benchmarks/fleet.py
	$(BIN)/python benchmarks/allocate.py
	$(BIN)/python benchmarks/plan.py
	$(BIN)/python benchmarks/pricing.py
	$(BIN)/python benchmarks/diff.py
	$(BIN)/python benchmarks/release.py
	$(BIN)/python benchmarks/page.py
	$(BIN)/python benchmarks/plugin_memory.py

oracle: $(VENV)/installed
	POOLWRIGHT_REQUIRE=go $(BIN)/python -m pytest -q -m oracle

# An argocd-cmp-server, or an argocd, that can be run here; nothing builds or fetches one.
cmp-live: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[cmp-live]'
	$(BIN)/python tests/argocd/compare_live.py $(CMP_SERVER)

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
