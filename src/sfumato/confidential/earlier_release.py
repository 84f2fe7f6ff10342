"""Earlier release: a release named with `--beside`, compared with the ledger that pays for the next release.

Numbers count as public only if the ledger committed their release. A rehearsal withholds by rules that nobody had to
keep, and was never published. Every release of a ledger is in it, so a ledger that lacks one was put back.
"""

from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Self

from sfumato.confidential.account import Account
from sfumato.confidential.chain import committed
from sfumato.confidential.options import Options
from sfumato.errors import LedgerError, ReleaseError
from sfumato.release import Manifest, Suppressed, read_manifest


def check_earlier(options: Options, account: Account | None) -> None:
    """Refuse earlier releases that the ledger did not commit; a trial run notes those that were never published."""
    for release in map(EarlierRelease.read, options.beside):
        if account:
            release.refuse_uncharged(account)
        elif why := release.why_unpublished:
            options.note(f"A run with a ledger refuses --beside {release.folder}: {why}.")


@dataclass(frozen=True)
class EarlierRelease:
    """The folder of a release, its id, and its manifest."""

    folder: Path
    id: str
    manifest: Manifest

    @classmethod
    def read(cls, folder: Path) -> Self:
        return cls(folder, *read_manifest(folder))

    @property
    def withholds_cells(self) -> bool:
        return any(product.kind == Suppressed.kind for product in self.manifest.products)

    @property
    def why_unpublished(self) -> str:
        """Why the release was never published; empty if it was."""
        if self.manifest.rehearsal:
            return "a rehearsal was never published"
        return "" if self.manifest.releasable and self.manifest.ledger else "it is not releasable"

    def refuse_uncharged(self, account: Account) -> None:
        """Refuse a release that the ledger did not commit."""
        if why := self.why_unpublished:
            raise ReleaseError(
                f"--beside {self.folder} takes published releases only, and {why}, so its numbers are no public "
                "knowledge. Leave out --beside, or name the release that was published."
            )
        entries = account.entries
        if self.id not in committed(entries).values():
            raise LedgerError(self._why_unknown(account, entries[0].hash))

    def _why_unknown(self, account: Account, opening: str) -> str:
        anchor = self.manifest.ledger
        if anchor and anchor.ledger_id not in {"", opening}:
            return (
                f"{self.folder} was charged to another ledger, that of '{anchor.population}', so {account.path} does "
                "not know what it published. Charge this run to that ledger with --ledger, or leave out --beside."
            )
        return (
            f"The ledger {account.path} does not know the release in {self.folder}, which names it: the ledger was put "
            "back to an older copy, or the release was altered. Put back the newest copy; or, if that is gone, enter "
            f"the release again: `sfumato ledger confirm {quote(str(account.path))} --release "
            f"{quote(str(self.folder))} --why TEXT`."
        )
