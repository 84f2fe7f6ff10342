"""Remembered: the entries that this user wrote to ledgers, kept apart from them, so that a ledger put back is noticed.

Beside the ledger the memory would be put back with it. It is a file a ledger, named by the hash of its opening, so that
a ledger may move. It stands in `$SFUMATO_STATE`, or in `sfumato` in the user's folder of state; it is only appended to.
"""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import astuple
from pathlib import Path
from tempfile import TemporaryFile

from sfumato.confidential.account import Account
from sfumato.confidential.chain import Entry, committed
from sfumato.draws.lasting import state_folder
from sfumato.errors import LedgerError, SfumatoError
from sfumato.privacy.ledger import Ledger
from sfumato.privacy.notation import hidden_from_dict
from sfumato.release import Anchor, read_manifest
from sfumato.release.manifest import NAME
from sfumato.schema.spelling import read_alike


def remember(opening: str, entry: Entry) -> str:
    """Keep an entry of the ledger that was opened so; why it could not be kept, or nothing."""
    folder = state_folder() / "ledgers"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(folder / opening, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
        try:
            # A line of its own, also after one that a crash cut off.
            os.write(file, f"\n{json.dumps(astuple(entry))}\n".encode())
            os.fsync(file)
        finally:
            os.close(file)
    except OSError as error:
        return (
            f"What was written to the ledger could not be remembered in {folder} ({error.strerror}), so that a ledger "
            "put back to an older copy is not noticed here; name a folder that can be written in $SFUMATO_STATE."
        )
    return ""


def refuse_unwritable_memory(opening: str = "") -> None:
    """Refuse to go on where what is written to a ledger cannot be remembered, before anything is written to it."""
    folder = state_folder() / "ledgers"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
        if (folder / opening).is_file():
            os.close(os.open(folder / opening, os.O_APPEND | os.O_WRONLY))
    except OSError as error:
        raise LedgerError(
            f"What is written to the ledger cannot be remembered in {folder} ({error.strerror}), so that a ledger put "
            "back to an older copy would grant again what was spent. Nothing is charged; name a folder that can be "
            "written in $SFUMATO_STATE."
        ) from None


def memories() -> Iterator[Entry]:
    """The openings of the ledgers that this user opened, as far as they are remembered."""
    folder = state_folder() / "ledgers"
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        yield from (entry for entry in _entries(path) if entry.kind == "open")


def lost(account: Account) -> tuple[Entry, ...]:
    """The remembered entries that a ledger no longer holds, and nobody has confirmed as lost."""
    remembered = _entries(state_folder() / "ledgers" / account.ledger.id)
    known = set[str]()
    for entry in account.entries:  # read after the memory: whatever that holds was in the ledger before
        known.update((entry.hash, *entry.body.get("lost", ())))
    gone = {entry.hash: entry for entry in remembered if entry.hash not in known}
    return tuple(sorted(gone.values(), key=lambda one: one.sequence))


def _entries(path: Path) -> list[Entry]:
    """The entries of a memory, but for lines that were cut off."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
    return [entry for entry in map(_entry, lines) if entry]


def _entry(line: str) -> Entry | None:
    """The entry of a line; none of one that was cut off."""
    try:
        entry = Entry(*json.loads(line))
        return entry if entry.hash == entry.sealed() else None
    except (TypeError, ValueError):
        return None


def refuse_older(account: Account, beside: Path | None = None) -> str:
    """Refuse a ledger that lacks what was written to it from here, or a release beside which the next one will stand.

    What is to be said of a release there that was charged to another ledger of the same population, or nothing.
    """
    if gone := lost(account):
        first, more = gone[0], f", and {len(gone) - 1} more" if len(gone) > 1 else ""
        raise LedgerError(
            f"The ledger {account.path} was put back to an older copy, or another copy of it is in use: it lacks entry "
            f"{first.sequence} of {first.time[:19]}, which was written from here{more}, and would grant again what was "
            f"spent. Put back its newest copy; or, if that is gone, `sfumato ledger confirm {account.path} --why TEXT` "
            "enters again what is known to have been charged."
        )
    ledger, found = account.ledger, list(_charged(beside, account.ledger)) if beside else []
    _refuse_unknown(account, found)  # which reads the ledger after the folder
    return _elsewhere(ledger, found)


def _refuse_unknown(account: Account, found: Sequence[tuple[Path, str, Anchor]]) -> None:
    """A release that was charged to this very ledger, which does not know it."""
    entries = account.entries
    known = set(committed(entries).values())
    for place, name, anchor in found:
        if anchor.ledger_id == entries[0].hash and name not in known:
            raise LedgerError(
                f"The ledger {account.path} does not know the release in {place}, which was charged to it: it was put "
                f"back to an older copy. Put back its newest; or, if that is gone, `sfumato ledger confirm "
                f"{account.path} --release {place} --why TEXT` enters it again."
            )


def _elsewhere(ledger: Ledger, found: Sequence[tuple[Path, str, Anchor]]) -> str:
    known = {charge.id for charge in ledger.charges}
    for place, name, anchor in found:
        if anchor.ledger_id != ledger.id and name not in known:
            return (
                f"{place} is about {ledger.population} too and was charged to another ledger, or this one was put "
                "back: two ledgers of one population grant its limit twice, and every reader of both will see it."
            )
    return ""


def _charged(folder: Path, ledger: Ledger) -> Iterator[tuple[Path, str, Anchor]]:
    """The releases in a folder about a ledger's population and the same neighbours, each with its id and its charge."""
    whose = [read_alike(one) for one in (ledger.population, *ledger.hidden.relation())]
    for path in sorted(folder.glob(f"[!.]*/{NAME}")):  # a hidden one is not published yet
        try:
            name, manifest = read_manifest(path.parent)
            account = manifest.ledger.account if manifest.ledger else {}
            hidden = hidden_from_dict(account or manifest.promise.hidden).relation()
        except (OSError, SfumatoError):
            continue
        anchor = manifest.ledger
        if anchor and [read_alike(one) for one in (anchor.population, *hidden)] == whose:
            yield path.parent, name, anchor
