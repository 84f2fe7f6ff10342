"""A ledger per year trusts the clock, so far; and no process that was forked keeps its lock."""

import fcntl
import os
from datetime import UTC, datetime, timedelta

import pytest

import sfumato as sf
from sfumato.confidential import Account, chain, ledger_file
from sfumato.confidential.ledger_file import transaction

HIDDEN = sf.AddRemove("job")


def charged(account, **told):
    return account.reserve("jobs", sf.Approximate(1), HIDDEN, "0" * 64, **told)


@pytest.fixture
def clock(monkeypatch):
    """A clock that can be set ahead by days."""
    ahead = [0]

    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) + timedelta(days=ahead[0])

    monkeypatch.setattr(chain, "datetime", Clock)
    return lambda days: ahead.__setitem__(0, days)


def test_a_leap_of_more_than_a_year_is_refused_until_it_is_confirmed(tmp_path, clock):
    account = Account.create(tmp_path / "ledger", "jobs", HIDDEN, sf.Approximate(1), per_year=True)
    charged(account)
    clock(400)
    year = (datetime.now(UTC) + timedelta(days=400)).year
    with pytest.raises(sf.LedgerError, match=f"say so with --year {year}"):
        charged(account)
    with pytest.raises(sf.LedgerError, match="more than a year"):
        charged(account, year=year - 1)
    assert len(account.entries) == 2
    assert charged(account, year=year).year == year


def test_without_the_check_the_clock_opens_a_year_and_a_limit_for_life_does_not_care(tmp_path, clock, monkeypatch):
    yearly = Account.create(tmp_path / "yearly", "jobs", HIDDEN, sf.Approximate(1), per_year=True)
    life = Account.create(tmp_path / "life", "jobs", HIDDEN, sf.Approximate(1))
    for account in (yearly, life):
        charged(account)
    clock(400)
    with pytest.raises(sf.PromiseError, match="for life"):
        charged(life)
    monkeypatch.setattr(chain, "refuse_leap", lambda *_: None)
    assert charged(yearly), "the attack: a whole limit of a year that has not begun"


def test_leaps_of_less_than_a_year_each_are_not_noticed(tmp_path, clock):
    """What the page of assurance says lies outside the promise: no entry can tell them from years that passed."""
    account = Account.create(tmp_path / "ledger", "jobs", HIDDEN, sf.Approximate(3), per_year=True)
    first = charged(account).year
    for days in (360, 720):
        clock(days)
        last = charged(account)
    assert last.year > first


def forked(wait: int) -> int:
    """A process that lives until its pipe is closed."""
    child = os.fork()
    if not child:
        os.read(wait, 1)
        os._exit(0)
    return child


def test_a_fork_within_a_transaction_does_not_keep_the_lock(tmp_path, monkeypatch):
    account = Account.create(tmp_path / "ledger", "jobs", HIDDEN, sf.Approximate(9))
    monkeypatch.setattr(ledger_file, "WAIT", 0.5)
    read, write = os.pipe()
    with transaction(account.path):
        child = forked(read)
    try:
        assert charged(account)
    finally:
        os.write(write, b".")
        os.waitpid(child, 0)


def test_a_fork_that_is_not_told_does(tmp_path, monkeypatch):
    account = Account.create(tmp_path / "ledger", "jobs", HIDDEN, sf.Approximate(9))
    monkeypatch.setattr(ledger_file, "WAIT", 0.5)
    read, write = os.pipe()
    held = os.open(account.path, os.O_RDWR)
    fcntl.flock(held, fcntl.LOCK_EX)
    child = forked(read)
    os.close(held)
    try:
        with pytest.raises(sf.LedgerError, match="another process"):
            charged(account)
    finally:
        os.write(write, b".")
        os.waitpid(child, 0)
    assert charged(account)
