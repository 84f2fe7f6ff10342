"""The gate: charged before anything is read, nothing released without its charge, whatever kills it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROUNDS = Path(__file__).with_name("crash_rounds.py")


def rounds(folder: Path, kind: str, count: int, seed: int = 1) -> dict:
    command = [sys.executable, str(ROUNDS), str(folder), kind, str(count), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_killed_at_every_named_stage_no_release_is_uncharged_and_the_other_writer_finishes(tmp_path):
    from sfumato.confidential import STAGES

    outcome = rounds(tmp_path, "stages", len(STAGES))
    assert outcome["violations"] == []
    assert outcome["last_stage"]["published"] == len(STAGES) + 1, "every other writer, and the one killed at the end"


def test_killed_at_random_times_with_two_writers_nothing_is_lost(tmp_path):
    outcome = rounds(tmp_path, "random", 100)
    assert outcome["violations"] == []
    assert len(outcome["last_stage"]) >= 4, "the kills fell on several stages"


@pytest.mark.slow
def test_killed_at_random_times_a_thousand_rounds(tmp_path):
    assert rounds(tmp_path, "random", 1000, seed=2)["violations"] == []


def test_a_measure_by_nothing_is_one_total_that_is_released_and_answered(tmp_path, small_plan):
    from tests.conftest import small_rows

    import sfumato as sf
    from sfumato.confidential import Account, Microdata, run

    whole = sf.Measure("all", sf.Count(), (), sf.Geometric(2))
    plan = sf.Plan("one", small_plan.schema, small_plan.hidden, sf.Approximate(2), (whole,))
    Account.create(tmp_path / "l", "jobs", plan.hidden, plan.limit)
    run(plan, Microdata.open(small_rows(), plan.schema), tmp_path / "l", tmp_path / "release")
    total = sf.open(tmp_path / "release").total()
    assert abs(total.value - 4000) < 15  # noise beyond 15 at epsilon 2 has probability 1e-13


def test_a_gate_that_charges_after_publishing_is_caught(tmp_path):
    assert "uncharged release" in rounds(tmp_path, "late", 1)["violations"]
