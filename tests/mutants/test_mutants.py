"""The mutation run: its mutants are the changes that it says, it tells killed from surviving, and new ones fail."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.mutants.__main__ import ACCEPTED, ROOT, accepted, table
from tests.mutants.chosen import all_mutants, chosen, targets
from tests.mutants.operators import compiles, mutants

SOURCE = '''"""Words 1 < 2 are left alone."""

LIMIT: int = 8


def guarded(value: int, at_most: int = 3) -> int:
    """Neither is 1 + 1 here."""
    if value < 0 or not value:
        raise ValueError(f"{value + 1} is too small") from None
    with locked():
        noted(value)
    return max(scrubbed(clipped, value, (at_most + 1) * 2), sorted(value, key=abs))
'''
SAID = {
    "LIMIT: int = 8 -> LIMIT: int = 9": "constant",
    "if value < 0 or not value: -> if value <= 0 or not value:": "boundary",
    "if value < 0 or not value: -> if value >= 0 or not value:": "comparison",
    "if value < 0 or not value: -> if ((value < 0) and (not value)):": "boolean",
    "if value < 0 or not value: -> if ((not value)):": "guard dropped",
    "if value < 0 or not value: -> if False:": "guard dropped",
    'raise ValueError(f"{value + 1} is too small") from None -> pass': "guard dropped",
    'raise ValueError(f"{value + 1} is too small") from None -> raise ValueError(f"{value + 1} is too small")': "context kept",  # noqa: E501
    "with locked(): -> with __import__('contextlib').nullcontext():": "call removed",
    "noted(value) -> pass": "call removed",
    "scrubbed(clipped, value, (at_most + 1) * 2) -> clipped(value, (at_most + 1) * 2)": "call removed",
    "(at_most + 1) * 2 -> (at_most - 1) * 2": "arithmetic",
    "(at_most + 1) * 2 -> (at_most + 1) / 2": "arithmetic",
    "max( -> min(": "arithmetic",
    "sorted(value, key=abs) -> sorted(value)": "argument dropped",
}


@pytest.mark.parametrize("said", SAID)
def test_every_kind_of_change_is_made(said):
    before, after = said.split(" -> ")
    found = mutants(SOURCE, "module")
    made = [one for one in found if before in one.before and one.after == one.before.replace(before, after)]
    assert {one.kind for one in made} == {SAID[said]}
    assert all(compiles(one.of(SOURCE.encode())) for one in made)


def test_words_and_annotations_are_left_alone_and_no_change_is_made_twice():
    found = mutants(SOURCE, "module")
    assert not any("is too small" in one.after and "value - 1" in one.after for one in found)
    assert not any(one.line in {1, 7} for one in found)
    assert max(Counter(one.of(SOURCE.encode()) for one in found).values()) == 1


def test_a_mutant_keeps_its_key_whatever_is_written_above_it():
    below = mutants(f"import os\n\n{SOURCE}", "module")
    assert [one.key for one in below] == [one.key for one in mutants(SOURCE, "module")]
    assert len({one.key for one in below}) == len(below)


def test_a_mutant_keeps_its_key_when_names_and_words_change():
    words = {"guarded": "refuse_small", "value": "count", "at_most": "limit", "Neither": "None", "is too": "was too"}
    renamed = SOURCE
    for old, new in words.items():
        renamed = renamed.replace(old, new)
    assert [mutant.key for mutant in mutants(renamed, "other/module")] == [one.key for one in mutants(SOURCE, "module")]


def test_a_mutant_of_changed_code_has_another_key():
    changed = mutants(SOURCE.replace("value < 0", "value < 1"), "module")
    kept = {mutant.key for mutant in changed} & {mutant.key for mutant in mutants(SOURCE, "module")}
    assert {key.split()[0] for key in kept} == {mutants(SOURCE, "module")[0].shape}


def test_the_sample_is_the_same_for_everybody_and_has_some_of_each_module_and_kind():
    found = all_mutants(ROOT / "src" / "sfumato", "privacy")
    modules = targets(ROOT / "src" / "sfumato", "privacy")
    sample = chosen(found, modules, 60, lambda one: one.line % 7 > 0)
    assert sample == chosen(found, modules, 60, lambda one: one.line % 7 > 0)
    assert not any(one.line % 7 == 0 for one in sample)
    assert {one.module for one in sample} == {name for name, of in found.items() if of}
    assert {one.kind for one in sample} >= {"boundary", "comparison", "constant", "guard dropped", "call removed"}


def test_what_is_killed_hangs_or_survives_is_told_apart(tmp_path):
    """A guard with tests of one of its sides: what drops it is killed, what moves it by one survives.

    What breaks a file of tests as it is read, here by the names of its cases, is killed as well.
    """
    (tmp_path / "copy" / "src").mkdir(parents=True)
    (tmp_path / "copy" / "src" / "guard.py").write_text(
        "def refused(value: int) -> bool:\n    while value > 9:\n        value = 3\n    return value < 2\n"
        "def named(value: int) -> str:\n    return str(10 // (value - 1))\n",
        "utf-8",
    )
    claim = "from guard import refused\n\ndef test_claim():\n    assert refused(0) and not refused(12)\n"
    (tmp_path / "copy" / "test_guard.py").write_text(claim, "utf-8")
    named = "@pytest.mark.parametrize('value', [2], ids=named)\ndef test_named(value):\n    assert value\n"
    (tmp_path / "copy" / "test_named.py").write_text(f"import pytest\nfrom guard import named\n\n{named}", "utf-8")
    words = [sys.executable, "-c", TRIAL, str(tmp_path)]
    found = json.loads(subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    assert found["return value < 2 -> return value >= 2"] == ["killed", "test_guard.py::test_claim"]
    assert found["value = 3 -> value = 4"] == ["survived", ""]
    assert found["while value > 9: -> while value <= 9:"] == ["hung", ""]
    assert found["return str(10 // (value - 1)) -> return str(10 // (value - 2))"] == ["killed", ""]


TRIAL = """
import json, sys
from pathlib import Path
from tests.mutants import trial
from tests.mutants.operators import mutants
copy = Path(sys.argv[1]) / "copy"
path = copy / "src" / "guard.py"
trial.preload(("pytest",))
graces = {"return value >= 2": 60, "value = 4": 60, "while value <= 9:": 1, "return str(10 // (value - 2))": 60}
told, tests = {}, ["test_guard.py::test_claim", "test_named.py::test_named[10]"]
for one in [one for one in mutants(path.read_text(), "guard") if one.after in graces]:
    trial.GRACE, run = graces[one.after], tests[-1:] if "str" in one.after else tests[:1]
    told[f"{one.before} -> {one.after}"] = trial.tried(one, copy, path, run, 0)
print(json.dumps(told))
"""


def test_a_survivor_counts_as_new_unless_it_is_accepted():
    one, other = mutants("LARGEST = 8\n", "privacy/loss")
    outcomes = {one.name: {"outcome": "survived"}, other.name: {"outcome": "killed"}}
    assert table([one, other], outcomes, {}).splitlines()[-1] == "| all | 2 | 1 | 0 | 0 | 1 |"
    assert table([one, other], outcomes, {one.key: "why"}).splitlines()[-1] == "| all | 2 | 1 | 0 | 1 | 0 |"


def test_every_accepted_survivor_has_a_reason():
    reasons = accepted()
    assert all(len(reason.split()) >= 4 for reason in reasons.values())
    assert len(reasons) == Path(ACCEPTED).read_text("utf-8").count("[[survivor]]")
