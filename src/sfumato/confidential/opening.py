"""Opening: a new ledger, remembered, and what is said where this user has another ledger of the same population."""

from collections.abc import Iterator
from pathlib import Path

from sfumato.confidential.account import Account
from sfumato.confidential.chain import Entry
from sfumato.confidential.remembered import memories, refuse_unwritable_memory, remember
from sfumato.errors import LedgerError, SfumatoError
from sfumato.privacy.loss import Loss
from sfumato.privacy.neighbours import Neighbours
from sfumato.privacy.notation import hidden_from_dict
from sfumato.schema.spelling import read_alike

_MAGIC = b"SQLite format 3\0"


def open_ledger(
    path: Path, population: str, hidden: Neighbours, limit: Loss, per_year: bool = False, *, memory: bool = True
) -> tuple[Account, list[str]]:
    """Open a ledger, and list other ledgers that may be of the same population."""
    if memory:
        refuse_unwritable_memory()
    rivals = list(_rivals(path, population, hidden))
    account = Account.create(path, population, hidden, limit, per_year, memory=memory)
    if memory:
        remember(account.ledger.id, account.entries[0])
    return account, rivals


def _rivals(path: Path, population: str, hidden: Neighbours) -> Iterator[str]:
    """A sentence for each ledger, remembered or in the same folder, of a population that reads alike."""
    openings = {entry.hash: entry for entry in (*memories(), *_openings(path.parent))}
    for entry in openings.values():
        name = entry.body["population"]
        if read_alike(name) != read_alike(population) or (name == population and not _same_relation(entry, hidden)):
            continue
        alike = "of this population" if name == population else f"of '{name}', which differs in spaces or case alone"
        yield (
            f"A ledger {alike}, was opened on {entry.time[:10]}: two ledgers of one population grant its limit twice. "
            f"If it is the same population, delete {path} and charge the other ledger."
        )


def _same_relation(entry: Entry, hidden: Neighbours) -> bool:
    """Whether a ledger has this relation; one that needs a plug-in which is not installed has another."""
    try:
        return hidden_from_dict(entry.body["hidden"]).relation() == hidden.relation()
    except SfumatoError:
        return False


def _openings(folder: Path) -> Iterator[Entry]:
    """The openings of the ledgers in a folder."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        try:
            with path.open("rb") as file:
                is_ledger = file.read(len(_MAGIC)) == _MAGIC
            if is_ledger:
                yield Account(path).entries[0]
        except (OSError, LedgerError):
            continue  # no ledger, or none that this user may read
