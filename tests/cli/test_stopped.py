"""Ctrl-C in a process of its own: what is charged, what to do, and that nothing is where nothing was."""

import signal
import subprocess
import sys
import time

import pyarrow.parquet as pq
import pytest
from tests.conftest import SMALL, small_rows

from sfumato.confidential import Account

SLOW = """
import pathlib, sys, time
import sfumato.confidential.gate as gate
def slowly(*_, **__):
    pathlib.Path("reached").touch()
    time.sleep(60)
gate.{stage} = slowly
from sfumato.cli import main
main()
"""


@pytest.fixture
def stopped(tmp_path, small_plan):
    """What a run says that is stopped where it is slow, and the account that it was charged to."""
    (tmp_path / "small.toml").write_text(SMALL)
    pq.write_table(small_rows(), tmp_path / "jobs.parquet")
    account = Account.create(tmp_path / "l", "jobs", small_plan.hidden, small_plan.limit)

    def stop(stage):
        words = ["run", "small.toml", "--data", "jobs.parquet", "--ledger", "l", "--out", "release"]
        command = [sys.executable, "-c", SLOW.format(stage=stage), *words]
        process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 60
        while not (tmp_path / "reached").exists():
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
        assert not (tmp_path / "release").exists()
        return process.returncode, said, account

    return stop


def test_after_the_charge_it_says_what_is_charged_and_what_to_do(stopped):
    code, said, account = stopped("_measured")
    assert code == 130
    assert "What this run costs, epsilon 2, stays charged to l" in said
    assert "`sfumato ledger show l` lists the charge" in said
    assert "To run again is charged again." in said
    assert "Traceback" not in said
    assert len(account.unfinished()) == 1


def test_before_the_charge_it_says_that_nothing_is(stopped):
    code, said, account = stopped("Tabulation")
    assert code == 130
    assert said.splitlines()[-1] == "Stopped; nothing was charged."
    assert not account.ledger.charges
