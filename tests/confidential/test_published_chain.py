"""Each release names the one that its ledger published before it, and what all of them add up to."""

import shutil

import pytest
from tests.conftest import small_rows

import sfumato as sf
from sfumato.confidential import Account, Microdata, Options, run
from sfumato.query.accounts import accounts
from sfumato.query.histories import Stated, histories
from sfumato.release import open_release


@pytest.fixture
def jobs(small_plan, tmp_path):
    """A ledger of epsilon 20 for the small plan, which costs 2, and a way to run it."""
    Account.create(tmp_path / "ledger", "jobs", small_plan.hidden, sf.Approximate(20))

    def made(out, options=None, ledger="ledger"):
        data = Microdata.open(small_rows(100), small_plan.schema)
        return run(small_plan, data, tmp_path / ledger, tmp_path / out, options)

    made.account = Account(tmp_path / "ledger")
    return made


def account(releases):
    (found,) = accounts(histories(Stated.read(one.id, one.manifest) for one in releases))
    return found


def test_each_release_names_the_one_before_it_and_what_all_cost(jobs):
    made = [jobs(name) for name in ("a", "b", "c")]
    anchors = [one.manifest.ledger for one in made]
    assert [one.previous for one in anchors] == ["", made[0].id, made[1].id]
    assert [one.number for one in anchors] == [1, 2, 3]
    assert [one.sums for one in anchors] == [[{"epsilon": cost}] for cost in ("2", "4", "6")]
    assert {one.ledger_id for one in anchors} == {jobs.account.entries[0].hash}
    found = account(made)
    assert (found.problems, found.remarks, found.spent) == ((), (), sf.Approximate(6))


def test_the_release_before_is_the_one_that_was_published_last_and_not_the_one_charged_last(jobs):
    """One run is overtaken between its charge and its commit by another that is charged later."""
    made = []

    def overtaken(stage):
        if stage == "written" and not made:
            made.append(jobs("other"))

    last = jobs("last", Options(progress=overtaken))
    assert last.manifest.ledger.previous == made[0].id
    assert (made[0].manifest.ledger.previous, made[0].manifest.ledger.number) == ("", 1)
    assert account([made[0], last]).problems == ()


@pytest.mark.parametrize("stage", ["reserved", "perturbed", "calibrated", "written"])
def test_a_run_that_failed_after_its_charge_is_in_no_later_chain(jobs, stage):
    def failing(reached):
        if reached == stage:
            raise OSError(28, "No space left on device")

    before = jobs("before")
    with pytest.raises(sf.SfumatoError, match="stays charged"):
        jobs("failed", Options(progress=failing))
    after = jobs("after")
    said, first = after.manifest.ledger, before.manifest.ledger
    assert (said.previous, said.number, said.sums) == (before.id, 2, [{"epsilon": "4"}])
    assert len(jobs.account.ledger.charges) == 3, "the ledger keeps every charge"
    assert set(said.model_dump()) == set(first.model_dump())
    assert account([before, after]).problems == ()


def test_a_ledger_restored_between_runs_shows_from_public_files_alone(jobs, tmp_path, monkeypatch):
    """By somebody who forgets what was written, in a folder of its own; the control is the first test."""
    shutil.copy(tmp_path / "ledger", tmp_path / "backup")
    made = []
    for name in ("a", "b", "c"):
        monkeypatch.setenv("SFUMATO_STATE", str(tmp_path / f"state-{name}"))
        (tmp_path / name).mkdir()
        shutil.copy(tmp_path / "backup", tmp_path / "ledger")
        made.append(jobs(f"{name}/release"))
    assert {one.manifest.ledger.spent["epsilon"] for one in made} == {"2"}
    found = account(made)
    assert found.spent == sf.Approximate(6)
    assert [one.key for one in found.problems] == ["account_fork"]


def test_what_was_committed_and_got_no_name_stands_whole_and_is_counted_as_it_may_be_seen(jobs, tmp_path):
    """The ledger knows its hash, so the next release follows it; a rename publishes it, and nothing is missing."""

    def failing(reached):
        if reached == "committed":
            raise OSError(5, "Input/output error")

    with pytest.raises(sf.SfumatoError, match="got no name: Input/output error") as said:
        jobs("unnamed", Options(progress=failing))
    (part,) = tmp_path.glob(".unnamed*")
    assert str(part) in str(said.value)
    after = jobs("after")
    assert after.manifest.ledger.number == 2
    assert [one.key for one in account([after]).remarks] == ["account_gap_one"]
    part.rename(tmp_path / "named")
    found = account([open_release(tmp_path / "named"), after])
    assert (found.problems, found.remarks, found.spent) == ((), (), sf.Approximate(4))


def test_of_runs_at_the_same_time_each_names_another_one_before_it(jobs, tmp_path, small_plan):
    """A fork needs two copies of a ledger; of one, whoever commits later counts the other."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(jobs, ("a", "b", "c", "d")))
    found = account(made)
    assert (found.problems, found.remarks, found.spent) == ((), (), sf.Approximate(8))
    assert len({one.manifest.ledger.previous for one in made}) == 4
