"""A run refuses a ledger that was put back to an older copy; what was lost is entered again before it goes on."""

import shutil
import stat
import sys

import pytest
from tests.conftest import small_rows

import sfumato as sf
from sfumato.cli.main import main
from sfumato.confidential import Account, Microdata, Options, run
from sfumato.confidential.account import problems, uncharged
from sfumato.confidential.remembered import lost, remember
from sfumato.errors import LedgerError
from sfumato.query.accounts import accounts
from sfumato.query.histories import Stated, histories


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("SFUMATO_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def jobs(small_plan, tmp_path):
    """A ledger of epsilon 20 for the small plan, which costs 2, and a way to run it into a folder of its own."""
    Account.create(tmp_path / "ledger", "jobs", small_plan.hidden, sf.Approximate(20))

    def made(out, options=None, ledger="ledger", apart=True):
        place = tmp_path / f"of-{out}" if apart else tmp_path / "together"
        place.mkdir(exist_ok=True)
        data = Microdata.open(small_rows(100), small_plan.schema)
        return run(small_plan, data, tmp_path / ledger, place / out, options)

    return made


@pytest.fixture
def put_back(jobs, tmp_path):
    """A ledger put back to the copy after its first release, where a second was published and a third failed."""

    def failing(stage):
        if stage == "perturbed":
            raise OSError(28, "No space left on device")

    made = [jobs("first")]
    shutil.copy(tmp_path / "ledger", tmp_path / "backup")
    made.append(jobs("second"))
    with pytest.raises(sf.SfumatoError):
        jobs("third", Options(progress=failing))
    shutil.copy(tmp_path / "backup", tmp_path / "ledger")
    return made


@pytest.fixture
def sfumato(capsys, monkeypatch):
    def done(*arguments):
        monkeypatch.setattr(sys, "argv", ["sfumato", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        told = capsys.readouterr()
        return left.value.code or 0, told.out + told.err

    return done


def test_a_ledger_put_back_is_refused_before_anything_is_charged(put_back, jobs, tmp_path):
    before = Account(tmp_path / "ledger").entries
    with pytest.raises(LedgerError, match=r"it lacks entry 4 of .*, and 2 more") as refused:
        jobs("again")
    assert "sfumato ledger confirm" in str(refused.value)
    assert Account(tmp_path / "ledger").entries == before


def test_without_a_memory_it_would_be_charged_again(put_back, jobs, state):
    """The control: on the code that remembers nothing, the limit is granted twice and the ledger is whole."""
    shutil.rmtree(state)
    assert jobs("again").manifest.ledger.spent == {"epsilon": "4"}


def test_the_memory_is_the_users_own_and_not_beside_the_ledger_with_which_it_would_be_put_back(tmp_path, jobs, state):
    jobs("first")
    assert not list(tmp_path.glob("ledger?*"))
    (kept,) = (state / "ledgers").iterdir()
    assert kept.name == Account(tmp_path / "ledger").entries[0].hash
    assert (stat.S_IMODE(kept.stat().st_mode), stat.S_IMODE(kept.parent.stat().st_mode)) == (0o600, 0o700)


def test_two_copies_in_turn_are_refused(jobs, tmp_path):
    jobs("first")
    shutil.copy(tmp_path / "ledger", tmp_path / "copy")
    jobs("second")
    with pytest.raises(LedgerError, match="another copy of it is in use"):
        jobs("third", ledger="copy")


def test_a_ledger_that_moved_or_came_back_whole_needs_no_word(jobs, tmp_path, sfumato):
    jobs("first")
    shutil.copy(tmp_path / "ledger", tmp_path / "backup")
    (tmp_path / "ledger").unlink()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "backup").rename(tmp_path / "elsewhere" / "renamed")
    assert jobs("second", ledger="elsewhere/renamed").manifest.ledger.number == 2
    code, told = sfumato("ledger", "confirm", tmp_path / "elsewhere" / "renamed", "--why", "moved")
    assert (code, "there is nothing to confirm" in told) == (0, True)


def test_what_was_lost_is_entered_again_and_the_public_chain_goes_on(put_back, jobs, tmp_path, sfumato):
    """The second release and the failed third are charged again: 6 of 20, and the fourth makes 8."""
    code, told = sfumato("ledger", "confirm", tmp_path / "ledger", "--why", "the disk died")
    assert (code, "Entered again: 2 charges" in told) == (0, True)
    account = Account(tmp_path / "ledger")
    assert account.ledger.spent(2026) == sf.Approximate(6)
    assert [one.finished for one in account.ledger.charges] == [True, True, False]
    assert account.entries[-1].body["why"] == "the disk died"
    fourth = jobs("fourth")
    assert (fourth.manifest.ledger.previous, fourth.manifest.ledger.number) == (put_back[1].id, 3)
    assert account.ledger.spent(2026) == sf.Approximate(8)
    (found,) = accounts(histories(Stated.read(one.id, one.manifest) for one in [*put_back, fourth]))
    assert (found.problems, found.remarks, found.spent) == ((), (), sf.Approximate(6))
    assert problems(tmp_path / "ledger", [one.manifest.ledger.head for one in put_back]) == []
    assert all(uncharged(account, one) == [] for one in [*put_back, fourth])


def test_where_nothing_is_remembered_a_release_tells_what_was_charged(put_back, jobs, tmp_path, state, sfumato):
    shutil.rmtree(state)
    second = tmp_path / "of-second" / "second"
    code, _ = sfumato("ledger", "confirm", tmp_path / "ledger", "--why", "another machine", "--release", second)
    account = Account(tmp_path / "ledger")
    assert (code, account.ledger.spent(2026)) == (0, sf.Approximate(4))
    assert uncharged(account, put_back[1]) == []
    assert jobs("third-again").manifest.ledger.previous == put_back[1].id


def test_a_charge_of_an_earlier_year_is_entered_again_in_its_year(small_plan, tmp_path):
    from datetime import UTC, datetime

    path = tmp_path / "yearly"
    account = Account.create(path, "jobs", small_plan.hidden, sf.Approximate(3), per_year=True)
    shutil.copy(path, tmp_path / "backup")
    entry = account.reserve("old", sf.Approximate(2), small_plan.hidden, "plan", datetime(2025, 5, 1, tzinfo=UTC))
    remember(account.ledger.id, entry)
    shutil.copy(tmp_path / "backup", path)
    assert lost(account) == (entry,)
    account.confirm("lost", lost(account))
    assert (account.ledger.spent(2025), account.ledger.spent(2026)) == (sf.Approximate(2), sf.Approximate(0))
    assert lost(account) == ()


def test_a_release_of_another_ledger_is_not_entered(jobs, small_plan, tmp_path):
    Account.create(tmp_path / "other", "jobs", small_plan.hidden, sf.Approximate(20))
    foreign = jobs("foreign", ledger="other")
    with pytest.raises(LedgerError, match="was not charged to this ledger"):
        Account(tmp_path / "ledger").confirm("why", (), [foreign])


def test_a_release_beside_the_next_one_that_the_ledger_does_not_know_is_refused(jobs, tmp_path, state):
    shutil.copy(tmp_path / "ledger", tmp_path / "backup")
    jobs("first", apart=False)
    shutil.rmtree(state)
    shutil.copy(tmp_path / "backup", tmp_path / "ledger")
    with pytest.raises(LedgerError, match=r"does not know the release in .*first"):
        jobs("second", apart=False)


def test_a_second_ledger_of_a_population_is_said(jobs, small_plan, tmp_path):
    Account.create(tmp_path / "other", "jobs", small_plan.hidden, sf.Approximate(20))
    said = []
    jobs("first", Options(note=said.append), apart=False)
    assert not any("grant its limit twice" in one for one in said)
    jobs("second", Options(note=said.append), "other", apart=False)
    assert any("grant its limit twice" in one for one in said)


@pytest.mark.parametrize(("population", "same"), [("Jobs ", True), ("other jobs", False)])
def test_a_second_ledger_is_said_whatever_the_spelling_of_its_population(jobs, small_plan, tmp_path, population, same):
    Account.create(tmp_path / "other", population, small_plan.hidden, sf.Approximate(20))
    said = []
    jobs("first", apart=False)
    jobs("second", Options(note=said.append), "other", apart=False)
    assert any("grant its limit twice" in one for one in said) == same


def test_verify_says_what_is_gone(put_back, tmp_path, sfumato):
    code, told = sfumato("ledger", "verify", tmp_path / "ledger")
    assert (code, told.count("written from here, is gone")) == (1, 3)


def test_a_line_that_a_crash_cut_off_hides_no_other(jobs, tmp_path, state):
    shutil.copy(tmp_path / "ledger", tmp_path / "backup")
    jobs("first")
    (kept,) = (state / "ledgers").iterdir()
    with kept.open("a") as file:
        file.write('[4, "2026-11')
    jobs("second")
    shutil.copy(tmp_path / "backup", tmp_path / "ledger")
    assert len(lost(Account(tmp_path / "ledger"))) == 4


def test_a_memory_that_cannot_be_written_is_said_and_stops_no_run(jobs, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("SFUMATO_STATE", str(tmp_path / "file"))
    said = []
    jobs("first", Options(note=said.append))
    assert any("could not be remembered" in one for one in said)
