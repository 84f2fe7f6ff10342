"""The file of a ledger: one inode under one name, locked around every transaction, whole without any file beside it.

A charge is in the file itself once its transaction is over (rollback journal, synchronous EXTRA), so that a copy of the
file is a copy of the ledger. SQLite's own locks and journals go by the name of a file: under a second name, or mounted
by itself into a container, one ledger would be two, each of which grants the whole limit. So the lock is on the inode,
and a file of several names is refused. A ledger with a write-ahead log, as they were made before, is folded into its
one file when it is first opened, and a copy is kept beside it.
"""

import errno
import fcntl
import os
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sfumato.errors import LedgerError

READ = "BEGIN"
"""How a transaction begins that only reads."""
WAIT = 30.0  # seconds, for another process to finish its entry
_TURN = 0.02
_MOUNTS = Path("/proc/self/mountinfo")
_descriptors: set[int] = set()
"""Of the ledgers that this process holds."""

_READ_ONLY = "it or its folder is read-only, or closed to this user; a ledger needs both to be writable"
_BUSY = f"another process has been writing to it for {WAIT:g} seconds; run again when that one is done"
_FULL = "the disk is full; make room and run again"
_FAILING = "the disk could not be read or written: it is full, over its quota, or failing"
_DAMAGED = (
    "it is damaged, or the disk fails as it is read; verify it again, and if it stays so put back the last good copy "
    "and verify that with the heads in the manifests"
)
_SYSTEM = {errno.ENOSPC: _FULL, errno.EDQUOT: _FULL, errno.EIO: _FAILING}
_REASONS = {
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_IOERR: _FAILING,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_CANTOPEN: f"{_READ_ONLY}; or the disk is failing",
    **dict.fromkeys((sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM), _READ_ONLY),
    **dict.fromkeys((sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL), _BUSY),
}


@contextmanager
def transaction(path: Path, begin: str = READ) -> Iterator[sqlite3.Connection]:
    """One connection for one transaction, rolled back unless all went well; what SQLite refuses is said in words.

    A ledger is read from a disk that cannot be written to as well, such as a backup.
    """
    try:
        if not path.is_file():
            raise LedgerError(f"There is no ledger at {path}; `sfumato ledger open` makes one.")
        place = path.resolve()
        with _held(place, to_read=begin == READ) as writable, closing(_connected(place, writable)) as connection:
            connection.execute(begin)
            yield connection
            connection.commit()
    except (sqlite3.Error, UnicodeDecodeError) as error:  # a damaged schema is quoted in a message that is no text
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        reason = _REASONS.get(code, f"it is not a ledger; or {_DAMAGED}")
        raise LedgerError(f"The ledger {path} cannot be used: {reason}.") from None
    except OSError as error:
        reason = _SYSTEM.get(error.errno or 0, _READ_ONLY)
        raise LedgerError(f"The ledger {path} cannot be used: {reason}.") from None


@contextmanager
def _held(place: Path, *, to_read: bool) -> Iterator[bool]:
    """The lock on the inode, whatever its name, and whether it can be written to.

    It ends with the descriptor, which is closed after SQLite's own.
    """
    (descriptor, writable), until = _opened(place, to_read=to_read), time.monotonic() + WAIT
    _descriptors.add(descriptor)
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise LedgerError(f"The ledger {place} cannot be used: {_BUSY}.") from None
                time.sleep(_TURN)
        _refuse_other_names(descriptor, place)
        yield writable
    finally:
        if descriptor in _descriptors:  # gone already in a process that was forked meanwhile
            _descriptors.remove(descriptor)
            os.close(descriptor)


def _opened(place: Path, *, to_read: bool) -> tuple[int, bool]:
    """The file, and whether it was opened to write: who only reads takes what the system gives."""
    try:
        return os.open(place, os.O_RDWR | os.O_CLOEXEC), True
    except OSError as error:
        if not to_read or error.errno not in {errno.EROFS, errno.EACCES, errno.EPERM}:
            raise
    return os.open(place, os.O_RDONLY | os.O_CLOEXEC), False


def _let_go() -> None:
    """A process that was forked within a transaction holds no lock, which would outlive the transaction."""
    while _descriptors:
        os.close(_descriptors.pop())


os.register_at_fork(after_in_child=_let_go)


def _refuse_other_names(descriptor: int, place: Path) -> None:
    """One ledger has one name, which still is that of the file that was locked."""
    held = os.fstat(descriptor)
    if held.st_nlink != 1:
        raise LedgerError(
            f"The ledger {place} has {held.st_nlink} names (hard links), under each of which it would grant its whole "
            "limit; keep one name, and reach it by that or by a symbolic link."
        )
    if not os.path.samestat(held, place.stat()):
        raise LedgerError(f"The ledger {place} was replaced while it was opened; run again, and verify it.")
    if str(place) in _mounted():
        raise LedgerError(
            f"The ledger {place} is mounted by itself, so that it has another name elsewhere, under which it would "
            "grant its whole limit again; mount the folder that it is in."
        )


def _mounted() -> set[str]:
    """Where something is mounted, as far as the system tells."""
    if not _MOUNTS.is_file():
        return set()
    # A name may hold all that ends a line elsewhere: only the end of a line itself is written in another way.
    named = (line.split(" ")[4] for line in os.fsdecode(_MOUNTS.read_bytes()).split("\n") if line)
    return {re.sub(r"\\([0-7]{3})", lambda one: chr(int(one[1], 8)), name) for name in named}


def _connected(place: Path, writable: bool) -> sqlite3.Connection:
    mode = "rw" if writable else "ro"
    connection = sqlite3.connect(f"{place.as_uri()}?mode={mode}", uri=True, timeout=WAIT, isolation_level=None)
    try:
        # A byte that is no text must fail the chain, not the reader.
        connection.text_factory = lambda text: text.decode(errors="replace")
        if connection.execute("PRAGMA journal_mode").fetchone() == ("wal",):
            _fold_in(connection, place)
        # EXTRA: the journal is gone from the disk's folder before the charge is said to be there.
        connection.execute("PRAGMA synchronous = EXTRA")
    except BaseException:
        connection.close()
        raise
    return connection


def _fold_in(connection: sqlite3.Connection, place: Path) -> None:
    """Take over a ledger with a write-ahead log: a whole copy beside it, then the log folded into the one file."""
    kept, part = (place.with_name(f"{place.name}.before{ending}") for ending in ("", ".part"))
    part.unlink(missing_ok=True)
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        with closing(sqlite3.connect(part)) as copy:
            connection.backup(copy)
        if _switched(connection) != ("delete",):
            raise LedgerError(f"The ledger {place} is open in an older version; end that, and run again.")
        part.replace(kept)
    finally:
        part.unlink(missing_ok=True)


def _switched(connection: sqlite3.Connection) -> Any:
    """The kind of journal after asking for one without a log; unchanged where another connection is open."""
    try:
        return connection.execute("PRAGMA journal_mode = DELETE").fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise
        return None
