"""Files that must stay inside: written whole or not at all, and readable by their owner alone."""

import os
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp

from sfumato.errors import ReleaseError


def refuse_place(out: Path) -> None:
    """Stop before any work is done for a file that could not be written."""
    if out.is_dir() or not out.parent.is_dir():
        raise ReleaseError(
            f"{out} cannot be written: its folder is not there, or it is a folder itself; make the folder first, or "
            "name another file."
        )


def written_privately(out: Path, content: str) -> None:
    """Write a file whole or not at all, readable by its owner alone from its first byte on."""
    handle, part = mkstemp(prefix=f".{out.name}.", suffix=".partial", dir=out.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(content)
        Path(part).replace(out)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(part).unlink()
        raise
