"""The commands of an agency say with --spill what they say without, and leave nothing in its folder."""

from dataclasses import replace

import pyarrow.parquet as pq
import pytest
from tests.commands import command
from tests.conftest import small_rows

from sfumato.confidential.engines.spill import parted


@pytest.fixture
def jobs(tmp_path, small_plan, monkeypatch):
    """A plan that keeps one row of a firm, two of whose names differ in case alone; its data, and a folder."""
    monkeypatch.setattr(parted, "IN_A_PART", 2000)
    rows = small_rows()
    firms = [f"{'firm' if place % 7 else 'Firm'} {place % 30}" for place in range(len(rows))]
    pq.write_table(rows.append_column("firm", [firms]), tmp_path / "jobs.parquet")
    plan = replace(small_plan, hidden=replace(small_plan.hidden, id="firm", at_most=1))
    (tmp_path / "plan.toml").write_text(plan.to_toml(), encoding="utf-8")
    (tmp_path / "spill").mkdir()
    return tmp_path


def test_check_tells_the_same_of_names_and_of_broken_rules(jobs):
    plain = command("check", "plan.toml", "--data", "jobs.parquet", cwd=jobs)
    spilled = command("check", "plan.toml", "--data", "jobs.parquet", "--spill", "spill", cwd=jobs)
    assert (plain.returncode, plain.stdout) == (spilled.returncode, spilled.stdout)
    assert "differ in upper and lower case alone" in plain.stdout
    assert not list((jobs / "spill").iterdir())


def test_tabulate_and_assess_give_the_same_numbers(jobs):
    told = []
    for place, more in enumerate(([], ["--spill", "spill"])):
        data = ["plan.toml", "--data", "jobs.parquet", *more]
        run = command("run", *data, "--rehearsal", "7", "--out", f"release{place}", cwd=jobs)
        assert run.returncode == 0, run.stderr
        assert ("encrypted part" in run.stderr) == bool(more)
        tables = command("tabulate", *data, "--rows", "trade", "--json", cwd=jobs)
        assert tables.returncode == 0, tables.stderr
        assessed = command("assess", *data, "--release", "release0", "--out", f"report{place}.html", cwd=jobs)
        assert assessed.returncode == 0, assessed.stderr
        told.append(tables.stdout)
    assert told[0] == told[1]
    assert not list((jobs / "spill").iterdir())


def test_records_of_a_cluster_are_never_spilled_here(jobs):
    done = command(
        "check", "plan.toml", "--data", "lake.jobs", "--spark", "sc://localhost:1", "--spill", "spill", cwd=jobs
    )
    assert done.returncode == 1
    assert "leave --spill out" in done.stderr


def test_a_folder_that_is_not_there_is_said(jobs):
    done = command("tabulate", "plan.toml", "--data", "jobs.parquet", "--rows", "trade", "--spill", "none", cwd=jobs)
    assert done.returncode == 1
    assert "no folder that is there" in done.stderr


def test_price_states_memory_and_disk(jobs):
    assert "with --spill DIR about" in command("price", "plan.toml", cwd=jobs).stdout
