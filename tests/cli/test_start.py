"""A command loads what it needs and nothing else: modules are counted here, seconds in `make bench`."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec

import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from tests.conftest import SMALL, small_rows

from sfumato.confidential import Account

HEAVY = ("duckdb", "fastapi", "numba", "pandas", "scipy", "shapely", "xlsxwriter")
"""What some command needs and most do not; all of it is installed here, so that to be without it says something."""
LISTED = """
import atexit, json, os, pathlib, sys
atexit.register(lambda: pathlib.Path(os.environ["LISTED"]).write_text(json.dumps(sorted(sys.modules))))
"""
SFUMATO = "from sfumato.cli import main; main()"


@pytest.fixture
def agency(tmp_path, small_plan):
    (tmp_path / "small.toml").write_text(SMALL)
    pq.write_table(small_rows(), tmp_path / "jobs.parquet")
    pyarrow.csv.write_csv(small_rows(), tmp_path / "jobs.csv")
    Account.create(tmp_path / "l", "jobs", small_plan.hidden, small_plan.limit)
    return tmp_path


def loaded(folder, *words, program=SFUMATO):
    """The modules that a program had loaded at its end."""
    listed = folder / "modules.json"
    command = [sys.executable, "-c", LISTED + program, *map(str, words)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | {"LISTED": str(listed)}
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(listed.read_text()))


def run_words(folder, data):
    return [
        "run",
        folder / "small.toml",
        "--data",
        folder / data,
        "--ledger",
        folder / "l",
        "--out",
        folder / "release",
    ]


@pytest.mark.parametrize("name", HEAVY)
def test_what_is_not_loaded_could_have_been(name):
    assert find_spec(name)


def test_help_loads_no_numbers_and_nothing_of_what_it_lists(tmp_path):
    found = loaded(tmp_path, "--help")
    assert not found & {*HEAVY, "numpy", "pyarrow", "urllib.request"}
    assert {name.split(".")[1] for name in found if name.startswith("sfumato.")} == {"cli", "errors"}


def test_a_price_loads_no_reader_of_data(agency):
    found = loaded(agency, "price", agency / "small.toml")
    assert not found & {*HEAVY, "cryptography", "pyarrow", "urllib.request"}
    assert not found & {"sfumato.calibrate.rake", "sfumato.confidential", "sfumato.query", "sfumato.serve"}


def test_a_run_on_parquet_loads_arrow_and_its_files_and_no_other_engine(agency):
    found = loaded(agency, *run_words(agency, "jobs.parquet"))
    assert "pyarrow.parquet" in found
    assert not found & {*HEAVY, "pyarrow.compute", "pyarrow.dataset", "urllib.request"}
    assert "cryptography.hazmat.primitives.ciphers" in found
    assert not found & {"cryptography.hazmat.primitives.serialization", "sfumato.query", "sfumato.serve"}


def test_a_run_on_csv_loads_the_engine_that_reads_it(agency):
    assert "duckdb" in loaded(agency, *run_words(agency, "jobs.csv"))


def test_the_server_starts_without_what_only_a_download_needs(tmp_path):
    found = loaded(tmp_path, program="import sfumato.serve")
    assert "fastapi" in found
    assert not found & set(HEAVY) - {"fastapi"}


def test_a_program_ends_in_silence_whatever_it_loaded(agency):
    command = [sys.executable, "-c", SFUMATO, *map(str, run_words(agency, "jobs.csv"))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "leaked" not in done.stderr
