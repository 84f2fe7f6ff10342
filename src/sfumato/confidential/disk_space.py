"""Disk space: whether the release, the ledger and what a run remembers fit their disks, asked before the charge."""

import shutil
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sfumato.draws.lasting import state_folder
from sfumato.errors import ReleaseError

LEDGER_BYTES = 2**20
"""What an entry of a ledger takes at most, with the journal of its transaction; as much for what is remembered."""


@dataclass(frozen=True)
class DiskNeed:
    """The bytes that a part of a run writes to a folder."""

    what: str
    folder: Path
    bytes: int


def needed_space(out: Path, release_bytes: int, ledger: Path | str | None) -> tuple[DiskNeed, ...]:
    """What a run writes: its release, and an entry of its ledger with what is remembered of it."""
    release = DiskNeed("the release", out.parent, release_bytes)
    if ledger is None:
        return (release,)
    memory = DiskNeed("what is remembered of the ledger", _folder_above(state_folder()), LEDGER_BYTES)
    return (release, DiskNeed("the ledger", _folder_above(Path(ledger).resolve().parent), LEDGER_BYTES), memory)


def _folder_above(path: Path) -> Path:
    """The folder itself, or the first above it that is there."""
    return next(folder for folder in (path, *path.absolute().parents) if folder.is_dir())


def refuse_full(needs: Iterable[DiskNeed]) -> None:
    """Refuse a run that does not fit the free space of a disk; parts on one disk share its space."""
    for shared in _by_disk(needs).values():
        free, wanted = free_bytes(shared[0].folder), sum(need.bytes for need in shared)
        if wanted > free:
            parts = " and ".join(f"{need.what} in {need.folder}" for need in shared)
            raise ReleaseError(
                f"Up to {_megabytes(wanted)} are written for {parts}, and {_megabytes(free)} are free there. Nothing "
                "is charged; make room, or choose another --out."
            )


def bytes_by_disk(needs: Iterable[DiskNeed]) -> dict[int, int]:
    """The bytes that are written to each disk, by its device."""
    return {disk: sum(need.bytes for need in shared) for disk, shared in _by_disk(needs).items()}


def _by_disk(needs: Iterable[DiskNeed]) -> dict[int, list[DiskNeed]]:
    by_disk: defaultdict[int, list[DiskNeed]] = defaultdict(list)
    for need in needs:
        by_disk[need.folder.stat().st_dev].append(need)
    return by_disk


def free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.1f} MB"
