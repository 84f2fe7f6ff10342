"""Kept: where compiled loops are kept between runs, a folder that nobody else can write to.

What numba loads from it is run as it is. Left to itself it keeps loops beside their source, or wherever the environment
says, which may be open to others.
"""

import os
import stat
from pathlib import Path
from typing import Any

import numba
from numba.core import config

numba_config: Any = config


def own_folder() -> Path:
    """The folder of this user's loops, made where it is not there; one that others may write to is refused."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sfumato" / "kernels"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        held = folder.lstat()
    except OSError as error:
        raise RuntimeError(f"compiled loops cannot be kept in {folder}: {error.strerror}") from None
    if not stat.S_ISDIR(held.st_mode) or held.st_uid != os.geteuid() or held.st_mode & 0o077:
        raise RuntimeError(f"{folder} is not this user's alone, so no compiled loop is loaded from it: chmod 700")
    return folder


def njit(**told: Any) -> Any:
    """As numba's own, with what it compiled kept in our folder; where others keep theirs stays as it is."""

    def made(function: Any) -> Any:
        told_before, numba_config.CACHE_DIR = numba_config.CACHE_DIR, str(own_folder())
        try:
            return numba.njit(**told)(function)
        finally:
            numba_config.CACHE_DIR = told_before

    return made
