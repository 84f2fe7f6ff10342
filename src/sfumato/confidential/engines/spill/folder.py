"""Spill folder: whether records may be spilled to a folder, told before any is read."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from sfumato.errors import DataError

IN_MEMORY = ("tmpfs", "ramfs", "devtmpfs")
"""Systems of files that are kept in memory, where spilling saves none of it."""
MOUNTS = Path("/proc/self/mounts")


@dataclass(frozen=True)
class SpillFolder:
    """A folder on a disk of this machine."""

    path: Path

    def __post_init__(self) -> None:
        if not self.path.is_dir():
            raise DataError(f"--spill {self.path} is no folder that is there; make it, on a disk of this machine.")
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise DataError(f"--spill {self.path} may not be written to; name a folder that is yours.")
        if kind := _kept_in_memory(self.path):
            raise DataError(
                f"--spill {self.path} is kept in memory ({kind}), where spilling saves none of it; name a folder on a "
                "disk."
            )

    @property
    def free(self) -> int:
        """The bytes that may still be written there."""
        return shutil.disk_usage(self.path).free


def _kept_in_memory(path: Path) -> str:
    """The system of files of a folder, where it is one that is kept in memory."""
    try:
        lines = MOUNTS.read_text(encoding="utf-8").splitlines()
    except OSError:  # where the system does not tell
        return ""
    mounted = [(_spaced(fields[1]), fields[2]) for line in lines if len(fields := line.split()) > 2]
    holding = [(at, kind) for at, kind in mounted if path.resolve().is_relative_to(at)]
    _, kind = max(enumerate(holding), key=lambda one: (len(one[1][0]), one[0]), default=(0, ("", "")))[1]
    return kind if kind in IN_MEMORY else ""


def _spaced(name: str) -> str:
    """A place as it is, where the list of mounts writes its spaces as numbers."""
    return name.replace("\\040", " ").replace("\\011", "\t")
