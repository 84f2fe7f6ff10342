"""Fate: what is said of a run that did not go through: whether it is charged, and where its release stands.

A disk that fails, or a user who stops, while the ledger is written leaves in doubt whether it was: the ledger is read
again, and where that fails as well nothing is deleted, and the words say how to tell.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from tempfile import mkdtemp
from types import TracebackType
from typing import Self

from sfumato.confidential.account import Account
from sfumato.confidential.chain import Entry, committed
from sfumato.errors import LedgerError, ReleaseError, SfumatoError
from sfumato.privacy import Loss, Unbounded
from sfumato.privacy.ledger import Ledger

PARTIAL = ".partial"
"""How the name of a folder ends in which a release is being written; it begins with a dot and the release's name."""
Words = Callable[[], str]


@contextmanager
def adding(what: Words, words: Words) -> Iterator[None]:
    """Whatever fails says what failed, and what became of the run."""
    try:
        yield
    except SfumatoError as error:
        raise type(error)(f"{error} {words()}".rstrip()) from None
    except OSError as error:
        said = f"{what()}: {error.strerror or type(error).__name__}. {words()}"
        raise ReleaseError(said.rstrip()) from None
    except BaseException as error:
        error.add_note(f"Stopped. {words() or 'Nothing is charged.'}")
        raise


@dataclass(frozen=True)
class Reservation:
    """A charge that is on disk, and the account in which it stands."""

    account: Account
    entry: Entry
    loss: Loss

    def words(self, why: str = "") -> str:
        """What is said of it where nothing came of the run."""
        ledger = self.account.path
        seen = "what was to be published" if isinstance(self.loss, Unbounded) else "noise"
        why = why or f"as {seen} may have been seen"
        return (
            f"What this run costs, {self.loss.words()}, stays charged to {ledger}, {why}; nothing was published. "
            f"`sfumato ledger show {ledger}` lists the charge and what is left. To run again is charged again."
        )

    def came(self, release: str) -> bool | None:
        """Whether the ledger knows that this release came of it; None where the ledger cannot be read."""
        try:
            return committed(self.account.entries).get(self.entry.hash) == release
        except LedgerError:
            return None


def charged_words(account: Account, loss: Loss) -> str:
    """What is said where the charge itself failed: nothing if it is not in the ledger."""
    tried = account.tried
    try:
        there = tried is not None and tried in account.entries
    except LedgerError:
        return (
            f"Whether the run was charged cannot be told while the ledger cannot be read: `sfumato ledger show "
            f"{account.path}` will list the charge if it was. Nothing was drawn."
        )
    return Reservation(account, tried, loss).words("though nothing was drawn") if there and tried else ""


@dataclass
class Unnamed:
    """A hidden folder beside the place of a release; it is gone unless the release came, or may have come."""

    out: Path
    charge: Reservation | None
    path: Path = field(init=False)
    came: bool | None = False

    def __enter__(self) -> Self:
        self.path = Path(mkdtemp(prefix=f".{self.out.name}.", suffix=PARTIAL, dir=self.out.parent))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is not None and self.came is False:
            shutil.rmtree(self.path, ignore_errors=True)

    def commit(self, release: str, counted: Ledger) -> Entry | None:
        """Tell the ledger that the release came; the folder is kept from here on, unless it surely did not."""
        if self.charge is None:
            raise LedgerError("A run that is not charged has nothing to commit.")
        self.came = None
        try:
            entry = self.charge.account.commit(self.charge.entry, release, counted)
        except BaseException:
            self.came = self.charge.came(release)
            raise
        self.came = entry is not None
        return entry

    def what(self) -> str:
        return "The release got no name" if self.came else "The release could not be written"

    def words(self) -> str:
        """What became of the release, and what to do."""
        if self.came is False:
            return self.charge.words() if self.charge else ""
        if self.came:
            return f"The release is whole and stands in {self.path}: {by_hand(self.path, self.out)} publishes it."
        ledger = self.charge.account.path if self.charge else ""
        return (
            f"Whether the ledger was told of the release cannot be seen while it cannot be read. The release stands in "
            f"{self.path}: if `sfumato ledger show {ledger}` lists it with its id, {by_hand(self.path, self.out)} "
            "publishes it; if it is listed as unfinished, delete it: it stays charged."
        )


def by_hand(part: Path, out: Path) -> str:
    """The command that gives a release its name, or another that is free, open to all."""
    free, more = out, 1
    while free.exists():
        free, more = out.with_name(f"{out.name}-{more}"), more + 1
    return f"`mv {quote(str(part))} {quote(str(free))} && chmod -R a+rX {quote(str(free))}`"
