# The project's verbs. Everything runs in .venv, which the first verb makes.
PYTHON ?= python3
BIN := .venv/bin
# Many short processes read the same modules: whatever the machine says, they are compiled once and kept.
export PYTHONDONTWRITEBYTECODE :=
DEMO_FLAGS := $(if $(CHECK),--check,)

.DEFAULT_GOAL := help
.PHONY: help demo serve chromium survey toolkit test check installs wheelhouse letters fuzz mutants golden faults slow bench soak spark lake docs format clean

help: ## list the verbs
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

.venv/agency: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[agency]'
	touch $@

.venv/test: .venv/agency
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[test]'
	touch $@

.venv/docs: .venv/agency
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[docs]'
	touch $@

.venv/bench: .venv/agency
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[bench]'
	touch $@

demo: .venv/agency ## make synthetic microdata, protect them, serve the query tool (CHECK=1: ask one query and exit)
	$(BIN)/sfumato demo $(DEMO_FLAGS)

serve: .venv/agency ## serve the demo's release again
	$(BIN)/sfumato serve demo/release*

# The browser tests drive the system's Chromium; where none can be had they are skipped, and say so.
CHROMIUM := command -v chromium || command -v chromium-browser || command -v google-chrome
chromium:
	@if ($(CHROMIUM)) >/dev/null; then echo "The browser tests use $$($(CHROMIUM))"; \
	elif test "$$(id -u)" = 0 && command -v apt-get >/dev/null; then \
	  echo "Installing Chromium for the browser tests: apt-get install chromium"; \
	  { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy chromium; } >.venv/chromium.log 2>&1 \
	  || echo "Chromium could not be installed, as .venv/chromium.log says; the browser tests are skipped"; \
	else echo "There is no Chromium here, and installing it needs root and apt-get; the browser tests are skipped"; fi

# Two tests run R's packages survey and haven on protected microdata; where these cannot be had they are skipped, and say so.
SURVEY := Rscript -e 'library(survey); library(haven)'
survey:
	@if $(SURVEY) >/dev/null 2>&1; then echo "The tests of microdata in R use $$(command -v Rscript)"; \
	elif test "$$(id -u)" = 0 && command -v apt-get >/dev/null; then \
	  echo "Installing R and its packages survey and haven for two tests: apt-get install r-cran-survey r-cran-haven"; \
	  { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends r-cran-survey r-cran-haven; } \
	  >.venv/survey.log 2>&1 || echo "R's packages could not be installed, as .venv/survey.log says; their tests are skipped"; \
	else echo "There is no R with survey and haven here, and installing these needs root and apt-get; their tests are skipped"; fi

# Two tests read answers with jsonstat-toolkit of npm; where it cannot be had they are skipped, and say so.
toolkit: build/toolkit/ready

build/toolkit/ready:
	@mkdir -p build/toolkit
	@if ! command -v npm >/dev/null; then echo "There is no npm here; the tests of jsonstat-toolkit are skipped"; \
	elif npm install --silent --no-audit --no-fund --prefix build/toolkit jsonstat-toolkit@2.2.2; then touch $@; \
	else echo "jsonstat-toolkit could not be installed; its tests are skipped"; fi

test: .venv/test chromium survey toolkit ## the fast tests, doctests included, the browser's where there is Chromium, R's where there is R
	$(BIN)/python -m pytest -n 3 --dist worksteal -m 'not slow'

# Records in a cluster are tested on a Spark of our own, which is too large to be fetched by `make test`.
spark: build/spark/ready ## a Spark for the tests and the benchmark of clusters, in build/spark (500 MB); it needs Java 17

build/spark/ready:
	test -x build/spark/bin/python || $(PYTHON) -m venv build/spark
	build/spark/bin/python -m pip install --quiet pyspark==4.3.0 && touch $@ \
	|| echo "Spark could not be installed; the tests of records in a cluster are skipped"

# The jars by which Spark knows Delta, Iceberg and stores of objects are in no package of Python; Sail reads them by its own code.
lake: build/lake/ready ## Sail, a server of Spark Connect that knows Delta and Iceberg, for tests of both, in build/lake (700 MB)

build/lake/ready:
	test -x build/lake/bin/python || $(PYTHON) -m venv build/lake
	build/lake/bin/python -m pip install --quiet pysail==0.7.2 deltalake==1.6.6 pyarrow==24.0.0 'pyiceberg[sql-sqlite]==0.12.0' \
	'moto[server,s3]==5.2.5' && touch $@ || echo "Sail could not be installed; the tests of Delta and Iceberg are skipped"

slow: .venv/test chromium spark lake ## the long simulations
	$(BIN)/python -m pytest -n 2 --dist worksteal -m slow

bench: .venv/bench ## ours beside peers and limits, one table (ONLY=http: one of them; docs/benchmarks.md says how)
	$(BIN)/python -m bench $(ONLY)

soak: .venv/bench ## a server under load among slow, idle and rude readers, for MINUTES (30), into docs/assurance.md
	$(BIN)/python -m bench.soak --minutes $(or $(MINUTES),30) --page

check: .venv/test ## format, lint, types, layers and names
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python checks/names.py src

installs: .venv/test ## the core and the agency install in environments of their own, without the packages of the tests
	rm -rf build/installs
	$(BIN)/python checks/installs.py build/installs

docs: .venv/docs ## these pages as a site with a search, the commands and the Python names, in build/docs
	$(BIN)/python -m sphinx -q -n -W --keep-going -b html docs build/docs
	@echo "The pages are at build/docs/index.html"

fuzz: .venv/test ## ten thousand requests, plans and releases that were damaged, and a thousand flips; half an hour
	$(BIN)/python -m pytest -n 0 -m slow -k ten_thousand_requests tests/serve/test_fuzz.py
	$(BIN)/python -W ignore -m tests.fuzz

faults: .venv/test ## kills, full and failing disks, torn pages, jumping clocks in the way of whole runs, into docs/assurance.md
	$(BIN)/python -m tests.faults --page

mutants: .venv/test ## mutants of the code that carries guarantees, tried by their tests (ONLY=plan/price, COUNT, SECONDS)
	$(BIN)/python -m tests.mutants --only '$(ONLY)' --count $(or $(COUNT),320) --seconds $(or $(SECONDS),5)

golden: .venv/test ## compute the golden hashes of what is published and served again, and print which moved
	$(BIN)/python -m tests.golden

wheelhouse: .venv/agency ## every wheel of the agency's install with its verified hash, and an install of it without a network
	rm -rf build/wheelhouse
	$(BIN)/python checks/wheelhouse.py build/wheelhouse

letters: .venv/test ## cut the letters of the pages from their packages anew
	rm -rf build/letters
	$(BIN)/python checks/letters.py build/letters

format: .venv/test ## format and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean: ## remove what was made
	rm -rf .venv demo dist build .mypy_cache .ruff_cache .pytest_cache
