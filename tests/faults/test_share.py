"""A share of `make faults`: whatever stops a run, nothing is uncharged or lost, and the next command says so."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faults.__main__ import loaded

ROOT = Path(__file__).parents[2]
compiled = pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler (cc) to build what fails calls")
# All in one process, as loading takes longer than most of the cases; the last two are gates as they were.
TRIED = """
import errno, json
from unittest.mock import patch
from tests.faults.cases import *
from tests.faults.trial import *
from sfumato.confidential import gate
from sfumato.confidential.fate import Unnamed

def tried(cases):
    ended = [case(place) for case in cases]
    return [how for hows, _ in ended for how in hows], [one for _, found in ended for one in found]

def commit_and_clean_up(part, *given):
    return part.charge.account.commit(part.charge.entry, *given)

with placed() as place:
    told = {"killed or torn": tried([*map(killed, range(2_000, 2_006)), *pages()[::9], no_right])}
    if library.there:
        told["struck"] = tried([*(case for one in calls(150).values() for case in one), *clocks()[::6]])
        with patch.object(Unnamed, "commit", commit_and_clean_up):
            told["cleaned up"] = tried([struck(SYNCS, FAIL, errno.EIO, at) for at in range(23, 29)])
        with patch.object(gate, "refuse_unnamed", lambda *_: []):
            told["unsaid"] = tried([struck(NAMES, KILL, 0, 4)])
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """How the runs of some cases ended and what was wrong, from a process into which the library is loaded."""
    environment = loaded(tmp_path_factory.mktemp("library")) | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", TRIED]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=ROOT)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


@compiled
def test_calls_that_fail_or_kill_and_clocks_that_jump(told):
    hows, found = told["struck"]
    assert found == []
    assert {"refused in words", "killed"} <= set(hows)


def test_writers_killed_in_pairs_and_pages_torn(told):
    hows, found = told["killed or torn"]
    assert found == []
    assert {"refused in words", "killed"} <= set(hows)


@compiled
@pytest.mark.parametrize(
    ("gate", "words"), [("cleaned up", "the ledger knows is lost"), ("unsaid", "left and not said")]
)
def test_gates_that_do_wrong_are_caught(told, gate, words):
    assert any(words in one for one in told[gate][1])


def test_where_there_is_no_compiler_it_is_said_and_the_rest_is_tried(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "LD_PRELOAD" not in loaded(tmp_path) or "LD_PRELOAD" in os.environ
    assert "No C compiler" in capsys.readouterr().err


@pytest.mark.slow
def test_every_fault():
    done = subprocess.run([sys.executable, "-m", "tests.faults"], capture_output=True, text=True, check=False, cwd=ROOT)
    assert not done.returncode, done.stdout
