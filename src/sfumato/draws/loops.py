"""Which loops look up leads: the compiled ones where they are worth loading, else their twins in plain numpy."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from types import ModuleType

WORTH_LOADING = 50_000_000  # fewer draws do not pay for loading numba, a second or more where the plain loops take half


def loops(n: int = 0) -> ModuleType:
    """The compiled loops where numba is loaded already or n draws pay for it; both give the same numbers."""
    return compiled() if sys.modules.get("numba") or n >= WORTH_LOADING else import_module("sfumato.kernels.draws")


@cache
def compiled() -> ModuleType:
    """The compiled loops where numba is installed and finds a place to keep them, else the plain ones."""
    try:
        return import_module("sfumato.kernels.draws_compiled")
    except (ImportError, RuntimeError):
        return import_module("sfumato.kernels.draws")
