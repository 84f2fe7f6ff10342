"""The ledger's file: what it charges, what it refuses, and what no one who holds the file can do unseen."""

import errno
import hashlib
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction
from pathlib import Path

import pytest

import sfumato
from sfumato.confidential import account as module
from sfumato.confidential import chain, ledger_file
from sfumato.confidential.account import Account, problems
from sfumato.errors import LedgerError, PlanError, PromiseError
from sfumato.privacy.ledger import not_counted
from sfumato.privacy.loss import Approximate, Concentrated, Gaussian, Unbounded
from sfumato.privacy.neighbours import AddRemove, ReplaceOne

HIDDEN = AddRemove("establishment", "establishment_id", 8)
ONE, TENTH = Approximate(1), Approximate("0.1")
FIELDS = ("sequence", "time", "kind", "body", "previous", "hash")


def opened(path, limit=ONE, **more):
    return Account.create(path, "establishments", HIDDEN, limit, **more)


def charge(account, loss=TENTH, **more):
    return account.reserve("release", loss, HIDDEN, "plan-hash", **more)


def raw(path, *statements):
    """What an insider does with the file and the sqlite3 command."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        return [connection.execute(*statement).fetchall() for statement in statements][-1]


def unlocked(path, *statements):
    """The same, the triggers taken off first and put back after."""
    names = [name for (name,) in raw(path, ("SELECT name FROM sqlite_master WHERE type = 'trigger'",))]
    made = [sql for name, sql in module._MADE.items() if name.startswith("trigger")]
    raw(path, *[(f"DROP TRIGGER {name}",) for name in names], *statements, *[(sql,) for sql in made])


def rows_of(path):
    return raw(path, ("SELECT sequence, time, kind, body, previous, hash FROM entries ORDER BY sequence",))


def sealed(sequence, time, kind, body, previous):
    said = json.dumps([sequence, time, kind, json.loads(body), previous], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(said.encode()).hexdigest()


def forged(path, kind, body):
    """Append an entry with a right hash, as one could who knows this file's rules."""
    sequence, time, _, _, _, previous = rows_of(path)[-1]
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    row = (sequence + 1, time, kind, text, previous, sealed(sequence + 1, time, kind, text, previous))
    raw(path, ("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", row))


HANGING = 4 * 60 * 60
"""Seconds after which processes hang: a thousand kills take seven minutes of CPU, and on busy cores over forty."""


def writers(*arguments):
    """What the processes of account_writers.py report."""
    script = Path(__file__).with_name("account_writers.py")
    environment = os.environ | {"PYTHONPATH": str(Path(sfumato.__file__).parents[1])}
    command = [sys.executable, str(script), *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=HANGING)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ors.ledger"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """An account with three charges, two of them finished."""
    path = tmp_path_factory.mktemp("model") / "model.ledger"
    one = opened(path)
    for place in range(3):
        reservation = charge(one)
        if place < 2:
            one.commit(reservation, f"manifest-{place}")
    return path


@pytest.fixture
def account(model, path):
    shutil.copy(model, path)
    return Account(path)


# what it charges


def test_a_charge_and_its_commit_are_in_the_file(path):
    account = opened(path, Approximate("1.5", "1e-6"))
    reservation = account.reserve("ors-2026", Approximate("1/3", "1e-7"), HIDDEN, "plan-hash")
    assert account.head == reservation.hash
    assert account.unfinished() == (reservation,)
    commit = account.commit(reservation, "manifest-hash")
    again = Account(str(path))
    assert [entry.kind for entry in again.entries] == ["open", "reserve", "commit"]
    assert again.entries[1:] == (reservation, commit)
    assert again.unfinished() == ()
    assert again.verify([reservation.hash, commit.hash]) == []
    ledger = again.ledger
    assert (ledger.population, ledger.hidden, ledger.limit) == ("establishments", HIDDEN, Approximate("1.5", "1e-6"))
    (only,) = ledger.charges
    assert (only.release, only.loss, only.finished) == ("ors-2026", Approximate("1/3", "1e-7"), True)
    assert reservation.body["plan_hash"] == "plan-hash"
    assert commit.body["manifest_hash"] == "manifest-hash"
    assert datetime.fromisoformat(reservation.time).utcoffset() == timedelta(0)


def test_the_hash_is_sha256_over_the_entry_and_the_one_before(account, path):
    before = "0" * 64
    for sequence, time, kind, body, previous, written in rows_of(path):
        assert previous == before
        assert written == sealed(sequence, time, kind, body, previous)
        before = written
    assert account.head == before


@pytest.mark.parametrize(
    ("limit", "loss", "grain"),
    [
        (Approximate(1), TENTH, Approximate("1e-30")),
        (Approximate(1, "1e-6"), Approximate("0.1", "1e-7"), Approximate(0, "1e-30")),
        (Gaussian(1), Gaussian(squared=Fraction(1, 10)), Gaussian("1e-30")),
        (Concentrated(1), Concentrated("0.1"), Concentrated("1e-30")),
    ],
    ids=["epsilon", "delta", "mu", "rho"],
)
def test_ten_tenths_fit_exactly_and_not_a_grain_more(path, limit, loss, grain):
    account = opened(path, limit)
    for _ in range(10):  # ten times 0.1 is 0.9999999999999999 in floats
        charge(account, loss)
    assert account.ledger.spent(2026) == limit
    for more in (loss, grain):
        with pytest.raises(PromiseError, match=r"is spent .* is left. Nothing more fits"):
            charge(account, more)
    assert len(account.entries) == 11


def test_a_refusal_says_what_was_asked_spent_and_left(path):
    account = opened(path)
    charge(account, Approximate("0.7"))
    with pytest.raises(PromiseError) as refusal:
        account.reserve("ors-2026", Approximate("0.5"), HIDDEN, "plan-hash")
    for word in ("'ors-2026'", "epsilon 0.5", "epsilon 1 for life", "epsilon 0.7 is spent", "At most epsilon 0.3 fits"):
        assert word in str(refusal.value)
    charge(account, Approximate("0.3"))


def test_a_loss_without_bound_is_entered_and_counted_apart_from_all_others(path):
    account = opened(path)
    charge(account, Approximate("0.7"))
    charge(account, Unbounded("suppressed"))
    ledger = account.ledger
    assert ledger.spent(2026) == Approximate("0.7")
    assert [one.loss for one in ledger.unbounded] == [Unbounded("suppressed")]
    assert "1 release of this population has no bound" in not_counted(1)
    assert "2 releases of this population have no bound" in not_counted(2)
    assert not not_counted(0)
    with pytest.raises(PromiseError, match=r"At most epsilon 0.3 fits"):
        charge(account, Approximate("0.4"))


def test_a_loss_without_bound_counts_in_every_year(path):
    account = opened(path, per_year=True)
    charge(account, Unbounded("suppressed"), when=datetime(2026, 5, 1, tzinfo=UTC))
    charge(account, when=datetime(2027, 5, 1, tzinfo=UTC))
    assert len(account.ledger.unbounded) == 1
    assert account.ledger.spent(2027) == TENTH


def test_a_loss_without_bound_is_entered_only_where_the_same_units_are_hidden(path):
    with pytest.raises(LedgerError, match="never add"):
        opened(path).reserve("release", Unbounded("suppressed"), AddRemove("person"), "plan-hash")


def test_a_failed_run_stays_charged(path):
    account = opened(path)
    charge(account, Approximate(1))
    with pytest.raises(PromiseError):
        charge(account)
    assert [charge.finished for charge in account.ledger.charges] == [False]


# years and times


def test_a_yearly_limit_counts_the_charges_of_that_year(path):
    account = opened(path, per_year=True)
    charge(account, Approximate(1), when=datetime(2030, 12, 31, 23, tzinfo=UTC))
    with pytest.raises(PromiseError, match=r"epsilon 1 in 2030, .*; the limit starts anew in 2031"):
        charge(account, when=datetime(2030, 12, 31, 23, 59, tzinfo=UTC))
    charge(account, Approximate(1), when=datetime(2031, 1, 1, tzinfo=UTC))
    with pytest.raises(PromiseError):
        charge(account, when=datetime(2031, 6, 1, tzinfo=UTC))
    assert [one.year for one in account.ledger.charges] == [2030, 2031]


def test_a_limit_for_life_counts_all_years(path):
    account = opened(path)
    charge(account, Approximate(1), when=datetime(2030, 1, 1, tzinfo=UTC))
    with pytest.raises(PromiseError, match="for life"):
        charge(account, when=datetime(2031, 1, 1, tzinfo=UTC))


def test_the_year_of_a_charge_is_that_of_utc(path):
    east = timezone(timedelta(hours=5))
    entry = charge(opened(path), when=datetime(2031, 1, 1, 3, tzinfo=east))
    assert (entry.time, entry.year) == ("2030-12-31T22:00:00.000000+00:00", 2030)


def test_no_charge_is_laid_into_a_year_that_is_over(path):
    account = opened(path, per_year=True)
    charge(account, when=datetime(2300, 1, 1, tzinfo=UTC))
    with pytest.raises(LedgerError, match="order of time"):
        charge(account, when=datetime(2299, 12, 31, tzinfo=UTC))
    # The clock of this machine is long before 2300: an entry without a time of its own is not dated back either.
    assert charge(account).year == 2300


def test_a_time_without_a_zone_is_refused(path):
    with pytest.raises(LedgerError, match="time zone"):
        charge(opened(path), when=datetime(2030, 1, 1))  # noqa: DTZ001


# whom it is for


@pytest.mark.parametrize(
    "other",
    [
        AddRemove("worker", "establishment_id", 8),
        AddRemove("establishment", "establishment_id", 9),
        ReplaceOne("establishment", "establishment_id", 8),
        ReplaceOne("establishment", "establishment_id", 8, fixed=("place",)),
    ],
)
def test_a_plan_that_hides_others_is_refused(path, other):
    account = opened(path)
    with pytest.raises(
        LedgerError, match=r"is for add-remove, unit 'establishment', id a column, at_most 8; the plan hides"
    ):
        account.reserve("release", TENTH, other, "plan-hash")
    assert len(account.entries) == 1


def test_what_is_fixed_is_part_of_the_relation_and_its_order_is_not(path):
    account = Account.create(path, "people", ReplaceOne("person", "id", 2, ("place", "year")), Approximate(1))
    account.reserve("release", TENTH, ReplaceOne("person", "pid", 2, ("year", "place")), "plan-hash")
    with pytest.raises(LedgerError, match=r"fixed .place., .year.; the plan hides .* fixed .place.\."):
        account.reserve("release", TENTH, ReplaceOne("person", "pid", 2, ("place",)), "plan-hash")


def test_the_name_of_the_id_column_may_differ(path):
    opened(path).reserve("release", TENTH, AddRemove("establishment", "estab", 8), "plan-hash")


# commits


def test_a_reservation_is_committed_once(account):
    reservation = account.unfinished()[0]
    account.commit(reservation, "manifest")
    with pytest.raises(LedgerError, match="committed already"):
        account.commit(reservation, "manifest")


def test_a_manifest_that_does_not_count_what_was_committed_meanwhile_is_not_committed(account):
    one, other = charge(account), charge(account)
    counted = account.ledger
    assert account.commit(one, "first", counted)
    assert account.commit(other, "second", counted) is None
    assert [two.finished for two in account.ledger.charges][-2:] == [True, False]
    charge(account)  # a charge that nothing came of is known to the ledger alone
    assert account.commit(other, "second", account.ledger)


def test_what_was_not_reserved_here_cannot_be_committed(account, tmp_path):
    other = opened(tmp_path / "other.ledger")
    reservation = account.unfinished()[0]
    unknown = [charge(other), account.entries[0], account.entries[2], replace(reservation, time=reservation.time + " ")]
    for entry in unknown:
        with pytest.raises(LedgerError, match="no such reservation"):
            account.commit(entry, "manifest")
    assert account.unfinished() == (reservation,)


@pytest.mark.parametrize("nothing", ["", "  "])
def test_an_entry_without_its_names_is_refused(account, nothing):
    for ask in (
        lambda: account.reserve(nothing, TENTH, HIDDEN, "plan"),
        lambda: account.reserve("release", TENTH, HIDDEN, nothing),
        lambda: account.commit(account.unfinished()[0], nothing),
    ):
        with pytest.raises(LedgerError, match="as text"):
            ask()


# the file


def test_a_ledger_is_one_file_that_only_its_owner_can_read(path):
    account = opened(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("SELECT * FROM entries").fetchall()
        charge(account)
        assert {one.name: one.stat().st_mode & 0o777 for one in path.parent.iterdir()} == {"ors.ledger": 0o600}


def test_an_entry_is_on_the_disk_before_it_is_reported(account, path):
    with ledger_file.transaction(path, "BEGIN IMMEDIATE") as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (3,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_a_copy_of_the_file_is_a_copy_of_the_ledger(account, path, tmp_path):
    for _ in range(3):
        charge(account)
        assert Account(shutil.copy(path, tmp_path / "copy")).entries == account.entries


# one ledger, one name


def both_begin(one, other):
    """Whether two processes can be writing at once, each under its name of a file."""
    begin = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('BEGIN IMMEDIATE')"
    with closing(sqlite3.connect(one, isolation_level=None)) as first:
        first.execute("BEGIN IMMEDIATE")
        return (
            subprocess.run([sys.executable, "-c", begin, str(other)], capture_output=True, check=False).returncode == 0
        )


def test_under_two_names_a_ledger_is_refused_by_both(account, path, tmp_path):
    charge(account)
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "other.ledger"
    link.hardlink_to(path)
    for name in (path, link):
        with pytest.raises(LedgerError, match="2 names"):
            Account(name)
        with pytest.raises(LedgerError, match="2 names"):
            charge(account)
        assert "2 names" in problems(name)[0]
    link.unlink()
    link.symlink_to(path)
    before = len(account.entries)
    charge(Account(link))
    assert len(account.entries) == before + 1
    assert not both_begin(path, link)


def test_a_write_ahead_log_would_let_both_names_write(tmp_path):
    """What the refusal is against: SQLite's log and its locks lie beside the name of a file, not at the file."""
    file, link = tmp_path / "file", tmp_path / "link"
    raw(file, ("PRAGMA journal_mode = WAL",), ("CREATE TABLE charges (loss)",))
    assert not both_begin(file, file)
    link.hardlink_to(file)
    assert both_begin(file, link)


def test_a_ledger_mounted_by_itself_is_refused_and_one_in_a_mounted_folder_is_not(account, path, tmp_path, monkeypatch):
    mounts = tmp_path / "mountinfo"
    monkeypatch.setattr(ledger_file, "_MOUNTS", mounts)
    line = "36 35 98:0 /mnt1 {} rw,noatime master:1 - ext3 /dev/root rw\n"
    mounts.write_text(line.format(path.parent))
    charge(account)
    mounts.write_text(line.format(str(path.resolve()).replace(" ", r"\040")))
    with pytest.raises(LedgerError, match="mounted by itself"):
        charge(account)
    odd = Path(os.fsdecode(os.fsencode(path) + b"\xff\x0c"))  # a name that is no text, with what ends lines elsewhere
    path.rename(odd)
    mounts.write_bytes(os.fsencode(line.format(odd.resolve())))
    with pytest.raises(LedgerError, match="mounted by itself"):
        Account(odd)


def test_a_ledger_with_a_log_is_taken_over_with_all_its_charges_and_a_copy_is_kept(path, tmp_path):
    """A version with a write-ahead log writes one more charge, and its machine stops before the log is folded in."""
    entry, crashed = charge(opened(path)), tmp_path / "crashed"
    raw(path, ("PRAGMA journal_mode = WAL",))
    with closing(sqlite3.connect(path)) as still_open:
        still_open.execute("SELECT * FROM entries").fetchall()
        forged(path, "reserve", entry.body | {"release": "late"})
        crashed.mkdir()
        for name in (path.name, f"{path.name}-wal"):
            shutil.copy(path.with_name(name), crashed / name)
    alone = shutil.copy(path.parent / "crashed" / path.name, tmp_path / "alone")
    assert [row[2] for row in rows_of(alone)] == ["open", "reserve"]  # without its log the charge is lost
    taken = Account(crashed / path.name)
    assert [one.body["release"] for one in taken.entries[1:]] == ["release", "late"]
    assert sorted(one.name for one in crashed.iterdir()) == [path.name, f"{path.name}.before"]
    assert Account(crashed / f"{path.name}.before").entries == taken.entries
    charge(taken)
    assert len(taken.ledger.charges) == 3


def test_a_file_that_is_there_is_never_touched(path):
    path.write_bytes(b"precious")
    with pytest.raises(LedgerError, match="File exists"):
        opened(path)
    assert path.read_bytes() == b"precious"


def test_a_ledger_that_cannot_be_meant_leaves_no_file(path):
    with pytest.raises(PlanError, match="unbounded"):
        opened(path, Unbounded("why"))
    with pytest.raises(LedgerError, match="population"):
        Account.create(path, " ", HIDDEN, Approximate(1))
    assert not path.exists()


def test_a_ledger_that_could_not_be_laid_out_leaves_no_file(path, monkeypatch):
    monkeypatch.setattr(module, "_MADE", {"table entries": "CREATE TABLE nonsense"})
    with pytest.raises(LedgerError):
        opened(path)
    assert list(path.parent.iterdir()) == []


def test_a_ledger_that_vanishes_is_not_made_anew(account, path, monkeypatch):
    path.unlink()
    with pytest.raises(LedgerError, match="There is no ledger"):
        charge(account)
    monkeypatch.setattr(Path, "is_file", lambda _: True)  # it vanishes after it was seen
    with pytest.raises(LedgerError, match="closed to this user"):
        charge(account)
    assert not path.exists()


def test_what_is_no_ledger_is_refused(tmp_path):
    (tmp_path / "text").write_text("no ledger " * 1000)
    (tmp_path / "empty").touch()
    raw(tmp_path / "database", ("CREATE TABLE entries (a, b)",))
    raw(tmp_path / "other", ("CREATE TABLE notes (a, b)",))
    for name in ("text", "empty", "database", "other"):
        with pytest.raises(LedgerError, match="not a ledger"):
            Account(tmp_path / name)
    for name in ("missing", "."):
        with pytest.raises(LedgerError, match="There is no ledger at"):
            Account(tmp_path / name)
    assert not (tmp_path / "missing").exists()
    with pytest.raises(LedgerError, match="No such file or directory"):
        opened(tmp_path / "no" / "folder")


def test_nothing_is_open_or_locked_between_calls(account, path):
    held = {os.path.realpath(f"/proc/self/fd/{one}") for one in os.listdir("/proc/self/fd")}  # noqa: PTH208
    assert not [one for one in held if one.startswith(str(path))]
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")


def test_a_lock_held_too_long_is_a_ledger_error_and_reading_goes_on(account, path, monkeypatch):
    monkeypatch.setattr(ledger_file, "WAIT", 0.2)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="another process has been writing"):
            charge(account)
        assert len(account.ledger.charges) == 3
        assert account.verify() == []
    charge(account)


def test_one_account_serves_many_threads(path):
    account = opened(path)

    def ask(_):
        try:
            return charge(account).hash
        except PromiseError:
            return None

    with ThreadPoolExecutor(8) as threads:
        got = [one for one in threads.map(ask, range(24)) if one]
    assert len(got) == len(set(got)) == 10
    assert account.verify(got) == []


def test_a_full_disk_is_a_ledger_error_that_says_so(path, monkeypatch):
    account = opened(path)
    connect = sqlite3.connect

    def no_room(*given, **named):
        connection = connect(*given, **named)
        connection.execute("PRAGMA max_page_count = 1")  # SQLite keeps the pages that are there
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(module.sqlite3, "connect", no_room)
        with pytest.raises(LedgerError, match="the disk is full"):
            account.reserve("a" * 10_000, TENTH, HIDDEN, "plan-hash")
    assert "the disk could not be read or written: it is full" in writers("small-disk", path)
    assert len(account.entries) == 1
    charge(account)


def test_a_ledger_on_read_only_media_is_read_and_not_written(path, monkeypatch):
    real, asked = os.open, []
    account = opened(path)

    def read_only_disk(place, flags, *rest, **named):
        if flags & (os.O_RDWR | os.O_WRONLY):
            raise OSError(errno.EROFS, "Read-only file system")
        asked.append(place)
        return real(place, flags, *rest, **named)

    with monkeypatch.context() as patch:
        patch.setattr(ledger_file.os, "open", read_only_disk)
        assert len(account.entries) == 1
        assert asked
        with ledger_file.transaction(path) as connection, pytest.raises(sqlite3.OperationalError, match="readonly"):
            connection.execute("DROP TRIGGER no_delete")
        with pytest.raises(LedgerError, match="read-only, or closed to this user"):
            charge(account)
    charge(account)


@pytest.mark.parametrize(("folder", "file"), [("555", "666"), ("555", "444"), ("777", "444"), ("000", "666")])
def test_a_place_that_cannot_be_written_is_a_ledger_error_that_says_so(folder, file):
    with tempfile.TemporaryDirectory() as top:
        Path(top).chmod(0o755)
        place = Path(top, "inside", "ors.ledger")
        place.parent.mkdir()
        account = opened(place)
        charged, made, read = writers("no-rights", place, folder, file)
        place.parent.chmod(0o700)
        assert "read-only, or closed to this user" in charged
        assert "Permission denied" in made or folder == "777"
        # A ledger on a disk that cannot be written to, as of a backup, is read as any other.
        assert ("it went through" in read) == (folder != "000")
        assert len(account.entries) == 1


# the insider with the file


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET body = '{}' WHERE sequence = 2",
        "DELETE FROM entries WHERE sequence = 6",
        "DELETE FROM entries",
        "INSERT OR REPLACE INTO entries SELECT sequence, time, kind, '{}', previous, hash FROM entries LIMIT 2",
        "REPLACE INTO entries SELECT sequence, time, kind, '{}', previous, hash FROM entries WHERE sequence = 6",
        "INSERT INTO entries SELECT 9, time, kind, body, previous, hash FROM entries WHERE sequence = 6",
        "INSERT INTO entries (time, kind, body, previous, hash) SELECT time, kind, body, previous, hash FROM entries",
        "INSERT INTO entries SELECT * FROM entries WHERE true ON CONFLICT (sequence) DO UPDATE SET body = '{}'",
    ],
)
def test_the_table_is_only_appended_to(account, path, statement):
    before = rows_of(path)
    with pytest.raises(sqlite3.IntegrityError, match="only appended to"):
        raw(path, (statement,))
    assert rows_of(path) == before
    unlocked(path, (statement,))  # the statement does harm where no trigger stands
    assert rows_of(path) != before
    assert account.verify()


@pytest.mark.parametrize("name", ["in_turn", "no_update", "no_delete"])
def test_a_missing_trigger_is_named_and_nothing_is_charged(account, path, name):
    raw(path, (f"DROP TRIGGER {name}",))
    (problem,) = account.verify()
    assert f"{name} (missing)" in problem
    assert len(Account(path).ledger.charges) == 3
    with pytest.raises(LedgerError, match=name):
        charge(account)
    with pytest.raises(LedgerError, match=name):
        account.commit(account.unfinished()[0], "manifest")


def test_a_trigger_that_no_longer_refuses_is_named(account, path):
    raw(path, ("DROP TRIGGER no_update",), ("CREATE TRIGGER no_update BEFORE UPDATE ON entries BEGIN SELECT 1; END",))
    assert "trigger no_update (altered or foreign)" in account.verify()[0]
    with pytest.raises(LedgerError, match="no_update"):
        charge(account)


def test_a_foreign_trigger_never_fires(account, path):
    raw(path, ("CREATE TRIGGER entries AFTER INSERT ON entries BEGIN UPDATE sqlite_sequence SET seq = 0; END",))
    assert "trigger entries (altered or foreign)" in account.verify()[0]
    with pytest.raises(LedgerError, match="altered or foreign"):
        charge(account)
    assert len(rows_of(path)) == 6


EDITS = {
    "sequence": "sequence + 100",
    "time": "'2020' || substr(time, 5)",
    "kind": "CASE kind WHEN 'reserve' THEN 'commit' ELSE 'reserve' END",
    "body": "replace(replace(body, '\"epsilon\":\"', '\"epsilon\":\"0'), 'manifest', 'Manifest')",
    "previous": "'g' || substr(previous, 2)",
    "hash": "'g' || substr(hash, 2)",
}


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("sequence", range(1, 7))
def test_every_edit_of_one_field_is_found(account, path, field, sequence):
    before = rows_of(path)
    unlocked(path, (f"UPDATE entries SET {field} = {EDITS[field]} WHERE sequence = {sequence}",))
    assert rows_of(path) != before
    assert any(f"ntry {sequence}" in problem or f"ntry {sequence + 100}" in problem for problem in account.verify())
    assert problems(path) == account.verify()
    for ask in (lambda: Account(path), lambda: account.ledger, lambda: charge(account)):
        with pytest.raises(LedgerError, match="not as it was written"):
            ask()


@pytest.mark.parametrize("value", ["7", "x'ff00'", "CAST(x'ff' AS TEXT)", "''", "'[]'", "'null'", "{} || ' '"])
@pytest.mark.parametrize("field", ["time", "kind", "body", "previous", "hash"])
def test_a_field_of_another_form_is_found(account, path, field, value):
    unlocked(path, (f"UPDATE entries SET {field} = {value.format(field)} WHERE sequence = 2",))
    assert "Entry 2 was altered after it was written." in account.verify()
    with pytest.raises(LedgerError, match="Entry 2 was altered"):
        Account(path)


def test_a_body_that_only_reads_the_same_is_found(account, path):
    body = rows_of(path)[1][3]
    for edited in (
        body + " ",
        body.replace('"epsilon":"0.1"', '"epsilon":"0","epsilon":"0.1"'),
        body.replace("r", "\\u0072", 1),
    ):
        assert json.loads(edited) == json.loads(body)
        unlocked(path, ("UPDATE entries SET body = ? WHERE sequence = 2", (edited,)))
        assert account.verify() == ["Entry 2 was altered after it was written."]
    unlocked(path, ("UPDATE entries SET body = ? WHERE sequence = 2", (body,)))
    assert account.verify() == []


@pytest.mark.parametrize("sequence", range(1, 7))
def test_an_edited_entry_with_its_hash_made_right_breaks_the_next_or_an_anchor(account, path, sequence):
    anchors = [entry.hash for entry in account.entries]
    _, time, kind, body, previous, _ = rows_of(path)[sequence - 1]
    edited = body.replace('"mark":"', '"mark":"0')
    fresh = sealed(sequence, time, kind, edited, previous)
    unlocked(path, ("UPDATE entries SET body = ?, hash = ? WHERE sequence = ?", (edited, fresh, sequence)))
    if sequence < 6:
        assert f"Entry {sequence + 1} does not follow from the entry before it" in " ".join(account.verify())
    else:
        assert account.verify() == []  # the chain alone cannot know
    assert any(anchors[sequence - 1][:12] in problem for problem in account.verify(anchors))


@pytest.mark.parametrize("sequence", range(1, 6))
def test_a_deleted_entry_is_found(account, path, sequence):
    unlocked(path, (f"DELETE FROM entries WHERE sequence = {sequence}",))
    assert f"Entry {sequence} is missing" in " ".join(account.verify())
    with pytest.raises(LedgerError):
        Account(path)


def test_the_last_entry_deleted_is_found_by_the_counter_and_by_an_anchor(account, path):
    head = account.head
    unlocked(path, ("DELETE FROM entries WHERE sequence = 6",))
    assert "its counter says another number" in " ".join(account.verify())
    raw(path, ("UPDATE sqlite_sequence SET seq = 5",))
    assert account.verify() == []  # now it is a shorter, whole ledger: only a release can tell
    assert head[:12] in account.verify([head])[0]


def test_all_entries_deleted_is_found(account, path):
    unlocked(path, ("DELETE FROM entries",))
    assert "It holds no entry." in account.verify()
    with pytest.raises(LedgerError, match="no entry"):
        Account(path)


def test_a_rollback_to_an_older_copy_is_found_by_an_anchor(account, path, tmp_path):
    older = tmp_path / "older"
    shutil.copy(path, older)
    published = charge(account).hash
    assert account.verify([published]) == []
    shutil.copy(older, path)
    assert account.verify() == []
    (problem,) = account.verify([published])
    assert "rolled back" in problem
    assert account.verify(published) == [problem]  # one anchor, not 64 letters


def test_a_copy_spent_twice_is_found_by_an_anchor_even_at_the_same_instant(account, path, tmp_path):
    shutil.copy(path, tmp_path / "copy")
    copy, when = Account(tmp_path / "copy"), datetime(2300, 1, 1, tzinfo=UTC)
    published = [charge(account, when=when).hash, charge(copy, when=when).hash]
    assert len(account.verify(published)) == len(copy.verify(published)) == 1
    assert account.verify(published[:1]) == []


FORGERIES = {
    "a second opening": ("open", {"population": "p", "limit": {"epsilon": "9"}}, "out of place"),
    "an unknown kind": ("refund", {"release": "r"}, "out of place"),
    "a commit of nothing": ("commit", {"reservation": "0" * 64}, "not reserved before it"),
    "a commit of no text": ("commit", {"reservation": ["a"]}, "not reserved before it"),
    "a commit without": ("commit", {}, "not reserved before it"),
    "a loss unknown": ("reserve", {"release": "r", "loss": {"zeta": "1"}}, "does not read"),
    "a loss below 0": ("reserve", {"release": "r", "loss": {"epsilon": "-1"}}, "does not read"),
    "a loss of a list": ("reserve", {"release": "r", "loss": [1]}, "does not read"),
    "no loss": ("reserve", {"release": "r"}, "does not read"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_an_entry_that_makes_no_sense_is_found_though_its_hash_is_right(account, path, name):
    kind, body, words = FORGERIES[name]
    forged(path, kind, body)
    assert words in " ".join(account.verify())
    with pytest.raises(LedgerError, match=words):
        Account(path)


def test_a_second_commit_is_found_though_its_hash_is_right(account, path):
    forged(path, "commit", {"reservation": account.unfinished()[0].hash, "manifest_hash": "m"})
    assert account.verify() == []  # the control: the first one is in order
    forged(path, "commit", {"reservation": account.entries[1].hash, "manifest_hash": "m"})
    assert "Entry 8 commits" in " ".join(account.verify())


def test_a_ledger_of_a_later_format_is_refused(path, monkeypatch):
    monkeypatch.setattr(chain, "FORMAT", 2)
    opened(path)
    monkeypatch.undo()
    with pytest.raises(LedgerError, match="form that this version does not read"):
        Account(path)


# the damaged file


def flipped(whole: bytes, bits: Iterator[int]) -> Iterator[bytes]:
    for bit in bits:
        yield whole[: bit // 8] + bytes([whole[bit // 8] ^ 1 << bit % 8]) + whole[bit // 8 + 1 :]


def written_alone(path, content):
    for ending in ("-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    path.write_bytes(content)


def naive(path):
    try:
        return rows_of(path)
    except (sqlite3.Error, UnicodeDecodeError):
        return None


def test_a_flipped_bit_is_refused_or_changes_nothing(path, tmp_path):
    account = opened(path)
    for _ in range(9):
        account.commit(charge(account), "manifest")
    whole, ledger, rows = path.read_bytes(), account.ledger, rows_of(path)
    damaged, refused, fooled = tmp_path / "damaged", 0, 0
    dice = random.Random(20261115)
    for content in flipped(whole, (dice.randrange(8 * len(whole)) for _ in range(200))):
        written_alone(damaged, content)
        fooled += naive(damaged) not in (None, rows)
        try:
            read = Account(damaged)
            assert read.ledger == ledger
            if not read.verify() and dice.random() < 0.2:
                charge(read)
                assert len(read.ledger.charges) == 10
        except LedgerError:
            assert problems(damaged) or naive(damaged) == rows  # else it could be read and not be written
            refused += 1
    assert refused > 50
    assert fooled > 20  # the control: a reader without the chain takes these for the truth


def test_a_row_hidden_by_one_bit_is_found(path):
    account = opened(path)
    charge(account)
    head = account.head
    whole = bytearray(path.read_bytes())
    page = 4096  # the table's leaf: its header counts the rows in bytes 3 and 4
    assert whole[page] == 0x0D
    assert whole[page + 4] == 2
    charge(account)
    whole = bytearray(path.read_bytes())
    assert whole[page + 4] == 3
    whole[page + 4] = 2
    written_alone(path, bytes(whole))
    assert naive(path)[-1][-1] == head  # a shorter chain, whole in itself
    assert account.verify()
    with pytest.raises(LedgerError, match="damaged"):
        Account(path)


def test_a_schema_that_is_no_text_is_refused(account, path):
    whole, ledger = path.read_bytes(), account.ledger
    start = whole.index(b"CREATE TRIGGER no_delete")
    refused = 0
    for content in flipped(whole, (8 * place + 7 for place in range(start, start + 60))):
        written_alone(path, content)
        assert account.verify()
        try:
            assert account.ledger == ledger
        except LedgerError:
            refused += 1
    assert refused > 20


def test_a_truncated_file_is_refused(account, path):
    whole = path.read_bytes()
    for length in (0, 1, 15, 16, 99, 100, 511, 4095, 4096, 8192, len(whole) - 4096, len(whole) - 1):
        written_alone(path, whole[:length])
        with pytest.raises(LedgerError):
            Account(path)
        assert account.verify()
    written_alone(path, whole)
    assert account.verify() == []


# races and crashes


def test_thirty_two_processes_race_for_the_last_of_the_budget(path):
    account = opened(path, Approximate(2))
    charge(account, Approximate("1.25"))
    assert writers("race", path, 32, "careful") == {"charged": 7, "refused": 25, "failed": 0}
    assert account.verify() == []
    assert account.ledger.spent(2026) == Approximate("1.95")


def test_the_race_catches_writers_who_look_first_and_write_later(path):
    account = opened(path, Approximate(1))
    assert writers("race", path, 32, "careless")["charged"] > 10, "the budget has ten tenths"
    assert not account.ledger.spent(2026).within(Approximate(1))


@pytest.mark.slow
def test_nothing_reported_is_lost_when_writers_are_killed(tmp_path):
    rounds = 1_000
    report = writers("kill", tmp_path, rounds, "careful")
    assert report["problems"] == []
    assert report["reported"] > rounds  # they did write
    assert report["outlived"] > rounds / 3  # and one went on after the other was killed
    assert report["unfinished"] > 0  # and some died between a charge and its commit


@pytest.mark.slow
def test_the_kill_catches_writers_who_report_too_early(tmp_path):
    report = writers("kill", tmp_path, 12, "careless")
    assert any("No entry has the hash" in problem for problem in report["problems"])
