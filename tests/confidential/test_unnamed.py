"""Whatever stops a run, it says truly what became of it, and a release that the ledger knows is never lost."""

import os
import re
import subprocess
import sys

import pytest
from tests.conftest import small_rows

import sfumato as sf
from sfumato.confidential import Account, Microdata, Options, gate, run
from sfumato.confidential.fate import Unnamed
from sfumato.errors import LedgerError, ReleaseError
from sfumato.release import verify


@pytest.fixture
def jobs(small_plan, tmp_path):
    """A ledger of epsilon 20 for the small plan, which costs 2, and a way to run it."""
    Account.create(tmp_path / "ledger", "jobs", small_plan.hidden, sf.Approximate(20))
    (tmp_path / "out").mkdir()

    def made(out, **options):
        data = Microdata.open(small_rows(100), small_plan.schema)
        return run(small_plan, data, tmp_path / "ledger", tmp_path / "out" / out, Options(**options))

    made.account = Account(tmp_path / "ledger")
    return made


def breaking(monkeypatch, name, error, *, before=False, unreadable=False):
    """A ledger whose disk fails as an entry is written: before it is there, or after."""
    real, entries = getattr(Account, name), Account.entries

    def broken(account, *given, **named):
        if not before:
            account.came_of_it = real(account, *given, **named)
        if unreadable:
            monkeypatch.setattr(Account, "entries", property(lambda _: (_ for _ in ()).throw(LedgerError("Dead."))))
        raise error

    monkeypatch.setattr(Account, name, broken)
    return lambda: [monkeypatch.setattr(Account, name, real), monkeypatch.setattr(Account, "entries", entries)]


def failing(stage, error):
    def progress(reached):
        if reached == stage:
            raise error

    return progress


FAILS = LedgerError("The ledger cannot be used: the disk fails.")


def test_a_charge_that_failed_and_is_there_all_the_same_is_said(jobs, monkeypatch):
    mended = breaking(monkeypatch, "reserve", FAILS)
    with pytest.raises(LedgerError, match=r"epsilon 2, stays charged .* though nothing was drawn"):
        jobs("one")
    mended()
    assert len(jobs.account.unfinished()) == 1


def test_a_charge_that_failed_and_is_not_there_is_not_said(jobs, monkeypatch):
    breaking(monkeypatch, "reserve", FAILS, before=True)
    with pytest.raises(LedgerError, match=r"the disk fails.$"):
        jobs("one")
    assert jobs.account.unfinished() == ()


def test_a_charge_in_doubt_says_how_to_tell(jobs, monkeypatch):
    breaking(monkeypatch, "reserve", FAILS, unreadable=True)
    with pytest.raises(LedgerError, match=r"`sfumato ledger show .*ledger` will list the charge if it was"):
        jobs("one")


def test_who_stops_a_run_while_it_is_charged_is_told_of_the_charge(jobs, monkeypatch):
    breaking(monkeypatch, "reserve", KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt) as stopped:
        jobs("one")
    assert "stays charged" in stopped.value.__notes__[0]


@pytest.mark.parametrize("error", [FAILS, KeyboardInterrupt()], ids=["disk", "by hand"])
def test_a_release_that_the_ledger_knows_is_kept_and_published_as_the_words_say(jobs, monkeypatch, tmp_path, error):
    mended = breaking(monkeypatch, "commit", error)
    with pytest.raises(type(error)) as failed:
        jobs("one")
    mended()
    said = "".join(getattr(failed.value, "__notes__", [str(failed.value)]))
    assert "The release is whole and stands in" in said
    subprocess.run(re.search(r"`(mv .*?)`", said)[1], shell=True, check=True)
    assert not verify(tmp_path / "out" / "one").problems
    assert jobs("two").manifest.ledger.previous == sf.open(tmp_path / "out" / "one").release.id


def test_a_gate_that_cleans_up_after_every_failure_loses_it(jobs, monkeypatch, tmp_path):
    """The control: as it was, the ledger names a release that nobody has."""
    monkeypatch.setattr(Unnamed, "commit", lambda part, *given: part.charge.account.commit(part.charge.entry, *given))
    mended = breaking(monkeypatch, "commit", FAILS)
    with pytest.raises(LedgerError, match="nothing was published"):
        jobs("one")
    mended()
    assert list((tmp_path / "out").iterdir()) == []
    assert [one.finished for one in jobs.account.ledger.charges] == [True]


def test_a_commit_that_surely_failed_leaves_nothing_but_the_charge(jobs, monkeypatch, tmp_path):
    mended = breaking(monkeypatch, "commit", FAILS, before=True)
    with pytest.raises(LedgerError, match="stays charged"):
        jobs("one")
    mended()
    assert list((tmp_path / "out").iterdir()) == []
    assert jobs.account.ledger.charges[0].finished is False


def test_a_commit_in_doubt_keeps_the_release_and_says_how_to_tell(jobs, monkeypatch, tmp_path):
    mended = breaking(monkeypatch, "commit", FAILS, unreadable=True)
    with pytest.raises(LedgerError, match=r"if `sfumato ledger show .*` lists it with its id, `mv .*` publishes it"):
        jobs("one")
    mended()
    assert len(list((tmp_path / "out").glob(".one.*.partial/manifest.json"))) == 1


@pytest.fixture
def killed(jobs, monkeypatch, tmp_path):
    """What a run leaves that was killed between its commit and its name."""
    with monkeypatch.context() as patch:
        patch.setattr(gate, "named", lambda *_: sys.exit())
        with pytest.raises(SystemExit):
            jobs("one")
    return next((tmp_path / "out").glob(".one.*.partial"))


def test_after_a_kill_the_same_command_is_refused_and_says_how_to_publish(jobs, killed, tmp_path):
    with pytest.raises(ReleaseError, match="whole and charged, and its run was stopped before it got its name") as said:
        jobs("one")
    assert len(jobs.account.ledger.charges) == 1
    subprocess.run(re.search(r"`(mv .*?)`", str(said.value))[1], shell=True, check=True)
    assert oct((tmp_path / "out" / "one").stat().st_mode & 0o777) == "0o755"
    assert jobs("two").manifest.ledger.number == 2


def test_after_a_kill_another_run_says_so_and_goes_on(jobs, killed):
    notes = []
    jobs("two", note=notes.append)
    assert any(str(killed) in one and "publishes it" in one for one in notes)


def test_what_a_run_left_that_was_killed_earlier_is_said_and_may_be_deleted(jobs, tmp_path):
    notes, left = [], tmp_path / "out" / ".one.abc_1234.partial"
    left.mkdir()
    assert jobs("one", note=notes.append).manifest.ledger.number == 1
    assert any(f"{left} is what a run for 'one' left" in one for one in notes)


def test_a_release_that_cannot_be_read_again_is_said_to_be_published(jobs, tmp_path):
    with pytest.raises(ReleaseError, match=r"could not be read again: Input/output error. It is published in .*one"):
        jobs("one", progress=failing("published", OSError(5, "Input/output error")))
    assert not verify(tmp_path / "out" / "one").problems


def test_a_name_that_was_taken_meanwhile_is_not_moved_into(jobs, tmp_path):
    def taken(stage):
        if stage == "committed":
            (tmp_path / "out" / "one").mkdir()

    with pytest.raises(ReleaseError, match=r"`mv \S+ \S+out/one-1 && chmod -R a\+rX \S+out/one-1` publishes it"):
        jobs("one", progress=taken)


def test_a_folder_that_cannot_be_written_is_refused_before_the_charge(jobs, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(ReleaseError, match="is read-only, or closed to this user; choose another --out"):
        jobs("one")
    assert jobs.account.ledger.charges == ()
