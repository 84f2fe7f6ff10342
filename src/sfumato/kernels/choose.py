"""Choose: which loops are run, the compiled ones where they are worth loading, else their twins in plain numpy."""

import sys
import warnings
from functools import cache
from importlib import import_module
from types import ModuleType


def loops(kernel: str, *, worth: bool = False) -> ModuleType:
    """The loops of a kernel: compiled where numba is loaded already or worth it; both give the same numbers."""
    return compiled(kernel) if worth or sys.modules.get("numba") else _plain(kernel)


@cache
def compiled(kernel: str) -> ModuleType:
    """The compiled loops where numba is installed and finds a place to keep them, else the plain ones."""
    try:
        return import_module(f"sfumato.kernels.{kernel}_compiled")
    except ImportError:
        return _plain(kernel)
    except RuntimeError as refused:
        warnings.warn(f"Loops run slower, and give the same numbers: {refused}.", stacklevel=2)
        return _plain(kernel)


def _plain(kernel: str) -> ModuleType:
    return import_module(f"sfumato.kernels.{kernel}")
