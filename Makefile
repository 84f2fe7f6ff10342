# The project's verbs. Everything runs in .venv, which the first verb makes.
PYTHON ?= python3
BIN := .venv/bin
DEMO_FLAGS := $(if $(CHECK),--check,)

.DEFAULT_GOAL := help
.PHONY: help demo serve test check slow bench format clean

help: ## list the verbs
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

.venv/agency: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[agency]'
	touch $@

.venv/test: .venv/agency
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[test]'
	touch $@

demo: .venv/agency ## make synthetic microdata, protect them, serve the query tool (CHECK=1: ask one query and exit)
	$(BIN)/sfumato demo $(DEMO_FLAGS)

serve: .venv/agency ## serve the demo's release again
	$(BIN)/sfumato serve demo/release*

test: .venv/test ## the fast tests, doctests included
	$(BIN)/python -m pytest -n 2 --dist worksteal -m 'not slow'

slow: .venv/test ## the long simulations
	$(BIN)/python -m pytest -n 2 --dist worksteal -m slow

bench: .venv/test ## ours beside peers and limits, one table (ONLY=http: one of them; wrk gives the load)
	$(BIN)/python -m bench $(ONLY)

check: .venv/test ## format, lint, types and layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/test ## format and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean: ## remove what was made
	rm -rf .venv demo dist build .mypy_cache .ruff_cache .pytest_cache
