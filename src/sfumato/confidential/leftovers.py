"""Leftovers: what a run that was killed left beside the place of the next release, and what to do with it."""

from collections.abc import Iterator
from pathlib import Path

from sfumato.confidential.account import Account
from sfumato.confidential.chain import committed
from sfumato.confidential.fate import PARTIAL, by_hand
from sfumato.errors import ReleaseError, SfumatoError
from sfumato.release import read_manifest


def refuse_unnamed(account: Account, out: Path) -> list[str]:
    """Refuse to make a release a second time that is whole and only lacks its name; what else is left, in words."""
    known, said = set(committed(account.entries).values()), []
    for part, release in _left(out.parent):
        name = _name(part)
        if release not in known:
            said.append(
                f"{part} is what a run for '{name}' left that was stopped, unless it is at work now; nothing of it was "
                "published, what it cost stays charged, and it can be deleted."
            )
            continue
        stands = (
            f"The release {release[:16]} is whole and charged, and its run was stopped before it got its name, unless "
            f"it is at work now: it stands in {part}. {by_hand(part, part.with_name(name))} publishes it."
        )
        if name == out.name:
            raise ReleaseError(f"{stands} Or delete it, to be charged again for another.")
        said.append(stands)
    return said


def _left(folder: Path) -> Iterator[tuple[Path, str]]:
    """The folders in which releases were being written, each with the id of its release where that is whole."""
    for part in sorted(folder.glob(f".*{PARTIAL}")):
        try:
            release = read_manifest(part)[0]
        except (OSError, SfumatoError):
            release = ""
        yield part, release


def _name(part: Path) -> str:
    """The name that a release was to get.

    >>> _name(Path(".jobs.2026.k3x9_a1b.partial"))
    'jobs.2026'
    """
    return part.name.removeprefix(".").removesuffix(PARTIAL).rpartition(".")[0]
