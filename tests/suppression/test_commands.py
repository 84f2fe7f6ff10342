"""`sfumato suppress audit` and `sfumato suppress table` as they are typed."""

import csv
import json

import pytest
from typer.testing import CliRunner

from sfumato.cli.main import app
from sfumato.errors import DataError

TABLE = "TRADE,PLACE,JOBS,FIRMS,MAX\n"
CELLS = {("a", "x"): (50, 2, 40), ("a", "y"): (60, 5, 20), ("b", "x"): (70, 6, 20), ("b", "y"): (80, 9, 20)}


@pytest.fixture
def table(tmp_path):
    rows = {cell: list(numbers) for cell, numbers in CELLS.items()}
    for (trade, place), (jobs, firms, largest) in CELLS.items():
        for cell in ((trade, "Total"), ("Total", place), ("Total", "Total")):
            sums = rows.setdefault(cell, [0, 0, 0])
            sums[0], sums[1], sums[2] = sums[0] + jobs, sums[1] + firms, max(sums[2], largest)
    lines = [f"{trade},{place},{jobs},{firms},{largest}\n" for (trade, place), (jobs, firms, largest) in rows.items()]
    path = tmp_path / "jobs.csv"
    path.write_text(TABLE + "".join(lines), encoding="utf-8")
    return path


def asked(*words):
    return CliRunner().invoke(app, ["suppress", *map(str, words)])


def test_a_table_is_protected_and_its_audit_passes(table, tmp_path):
    out = tmp_path / "out.csv"
    by = ("--by", "TRADE,PLACE", "--value", "JOBS")
    done = asked("table", table, *by, "--count", "FIRMS", "--largest", "MAX", "--rounds", "5", "--out", out, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["primary"], told["secondary"], told["cost"]) == (1, 3, 210)
    assert told["lower bound"] <= 210
    with out.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["status"]: row["value"] for row in rows}["primary"] == ""
    found = asked(
        "audit", out, "--by", "TRADE,PLACE", "--value", "value", "--flag", "status", "--hidden", "primary,secondary"
    )
    assert found.exit_code == 0, found.output
    assert found.stdout.startswith("CONFIDENTIAL")


def test_a_cell_that_is_known_exactly_is_an_error_of_the_command(table):
    text = table.read_text(encoding="utf-8").replace("a,x,50,", "a,x,,")
    table.write_text(text, encoding="utf-8")
    found = asked("audit", table, "--by", "TRADE,PLACE", "--value", "JOBS", "--json")
    assert found.exit_code == 1
    told = json.loads(found.stdout)
    assert (told["exactly known"], told["safe"], told["intervals"][0]["low"]) == (1, False, "50")


def test_totals_that_are_no_sums_are_refused(table):
    text = table.read_text(encoding="utf-8").replace("a,x,50,", "a,x,51,")
    table.write_text(text, encoding="utf-8")
    found = asked("audit", table, "--by", "TRADE,PLACE", "--value", "JOBS")
    assert isinstance(found.exception, DataError)
    assert "are not their sum" in str(found.exception)
