"""`run --beside`: an earlier release counts only if the ledger that pays committed it; formal releases count too."""

import shutil

import pytest
from tests.confidential.test_suppressed_run import TABLES, read, told, world  # noqa: F401 - a fixture
from tests.confidential.test_suppressed_twice import FORCED, SENSITIVE, second
from tests.conftest import small_rows

import sfumato as sf
from sfumato.confidential import Account, Microdata, Options, run
from sfumato.errors import LedgerError, PlanError, ReleaseError

COUNTS = """
[limit]
epsilon = "1"
[[measure]]
name = "shops"
of = "count"
by = ["trade", "place"]
with = { mechanism = "geometric", epsilon = "1" }
"""
WEAK = TABLES.replace("minimum = 3", 'minimum = 3\nwaived = ["D"]')
"""Withholds nothing: the firm of the sensitive cell has agreed."""


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("SFUMATO_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def ledger(world):  # noqa: F811
    path = world / "ledger"
    Account.create(path, "shops", read(world).hidden, sf.Approximate(8))
    return path


def entry_count(ledger):
    return len(Account(ledger).entries)


def is_withheld(release):
    """Whether a release withholds the cell whose three shops belong to one firm."""
    return told(release)[SENSITIVE] == "D"


def test_a_rehearsal_is_not_public_knowledge(world, ledger):  # noqa: F811
    """It published the sensitive cell, so that a run which takes it as known publishes that cell as well."""
    rehearsal = second(world, WEAK, out="rehearsal")
    assert not is_withheld(rehearsal)
    with pytest.raises(ReleaseError, match=r"rehearsal was never published, .* Leave out --beside"):
        second(world, TABLES, "rehearsal", ledger=ledger)
    assert entry_count(ledger) == 1
    assert is_withheld(second(world, TABLES, ledger=ledger))


def test_a_trial_beside_a_trial_says_that_a_run_would_refuse_it(world):  # noqa: F811
    second(world, WEAK, out="rehearsal")
    notes = []
    plan = read(world)
    options = Options(2, beside=(world / "rehearsal",), note=notes.append)
    run(plan, Microdata.open(world / "shops.parquet", plan.schema), None, world / "trial", options)
    assert any("A run with a ledger refuses --beside" in words for words in notes)


def test_a_release_of_another_ledger_is_refused_in_words(world, ledger):  # noqa: F811
    other = world / "other"
    Account.create(other, "shops elsewhere", read(world).hidden, sf.Approximate(8))
    second(world, WEAK, ledger=other, out="foreign")
    with pytest.raises(LedgerError, match=r"foreign was charged to another ledger, that of 'shops elsewhere'"):
        second(world, TABLES, "foreign", ledger=ledger)
    assert entry_count(ledger) == 1


def test_a_charged_release_whose_commit_the_ledger_lacks_is_refused(world, ledger, state):  # noqa: F811
    shutil.copy(ledger, world / "backup")
    second(world, WEAK, ledger=ledger, out="first")
    shutil.copy(world / "backup", ledger)
    shutil.rmtree(state)
    (world / "elsewhere").mkdir()
    with pytest.raises(LedgerError, match=r"does not know the release in .*first.*`sfumato ledger confirm"):
        second(world, TABLES, "first", ledger=ledger, out="elsewhere/second")
    assert entry_count(ledger) == 1


@pytest.fixture
def jobs(small_plan, tmp_path):
    """A formal release of the small plan in a folder of its own, charged to a ledger."""
    for name in ("jobs.ledger", "elsewhere.ledger"):
        Account.create(tmp_path / name, name, small_plan.hidden, sf.Approximate(20))

    def run_beside(out, *beside, ledger="jobs.ledger", options=None):
        place = tmp_path / f"of-{out}"
        place.mkdir()
        data = Microdata.open(small_rows(100), small_plan.schema)
        earlier = tuple(tmp_path / f"of-{name}" / name for name in beside)
        return run(small_plan, data, tmp_path / ledger, place / out, options or Options(beside=earlier))

    return run_beside


def test_a_formal_release_finds_a_ledger_that_was_put_back_without_its_memory(jobs, tmp_path, state):
    shutil.copy(tmp_path / "jobs.ledger", tmp_path / "backup")
    jobs("first")
    jobs("second", "first")
    shutil.copy(tmp_path / "backup", tmp_path / "jobs.ledger")
    shutil.rmtree(state)
    for name in ("first", "second"):
        with pytest.raises(LedgerError, match=rf"does not know the release in .*{name}.*put back to an older copy"):
            jobs(f"third-{name}", name)
    assert entry_count(tmp_path / "jobs.ledger") == 1
    jobs("third")  # the control: without --beside nothing tells that the limit is granted again


def test_a_formal_release_of_another_ledger_or_a_rehearsal_is_refused(jobs, tmp_path):
    jobs("foreign", ledger="elsewhere.ledger")
    with pytest.raises(LedgerError, match=r"charged to another ledger, that of 'elsewhere.ledger'"):
        jobs("second", "foreign")
    jobs("rehearsal", options=Options(rehearsal=1))
    with pytest.raises(ReleaseError, match="rehearsal was never published"):
        jobs("third", "rehearsal")
    assert [entry_count(tmp_path / name) for name in ("jobs.ledger", "elsewhere.ledger")] == [1, 3]


def test_a_rehearsal_has_no_ledger_to_compare_a_release_with(jobs, tmp_path):
    jobs("first")
    with pytest.raises(PlanError, match="this run is charged to none; leave out --beside"):
        jobs("trial", options=Options(rehearsal=1, beside=(tmp_path / "of-first" / "first",)))


def test_formal_releases_and_those_that_withhold_cells_are_named_together(world, ledger):  # noqa: F811
    """The formal release only proves the ledger; the other is protected jointly."""
    counts = TABLES[: TABLES.index("[limit]")] + COUNTS
    second(world, counts, ledger=ledger, out="formal")
    first = second(world, TABLES, "formal", ledger=ledger, out="first")
    assert is_withheld(first)
    again = second(world, TABLES, "first", "formal", ledger=ledger, out="again")
    assert again.products["pay"].withheld.tolist() == first.products["pay"].withheld.tolist()
    second(world, counts, "first", "formal", ledger=ledger, out="last")
    assert len(Account(ledger).ledger.charges) == 4


def test_two_runs_at_once_cannot_both_publish_withheld_cells(world, ledger):  # noqa: F811
    """The second run starts and ends while the first one works: neither ledger check before the charge sees it."""
    plan = read(world)

    def run_another(stage):
        if stage == "written" and not (world / "quick").exists():
            second(world, FORCED, ledger=ledger, out="quick")

    data = Microdata.open(world / "shops.parquet", plan.schema)
    with pytest.raises(ReleaseError, match=r"of the same period withholds cells too, .* stays charged"):
        run(plan, data, ledger, world / "slow", Options(progress=run_another))
    assert (world / "quick").exists()
    assert not (world / "slow").exists()
