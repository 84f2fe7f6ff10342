"""Memory: what a worker lets go goes back to the system, so that it is no larger than what it holds.

Pieces of replies are large and live for as long as their readers take. After the first of them the C library would keep
blocks of their size, and any smaller one above pins it: the more readers are cut off, the more holes, in a heap of each
thread. Blocks from `LARGE` on are asked of the system one by one instead, the threads share one heap, and the pages
of its holes are given back now and then.
"""

import ctypes
import threading
import time
from collections.abc import Callable
from contextlib import suppress

LARGE = 65_536
TRIMS_AFTER = 20.0
"""Seconds between two times that holes are given back, which takes milliseconds."""
_LARGE_FROM, _MOST_HEAPS = -3, -8
"""What glibc's mallopt calls M_MMAP_THRESHOLD and M_ARENA_MAX."""


def ask_one_by_one() -> ctypes.CDLL:
    """Large blocks are asked of the system one by one, by this process and by those that are forked from it."""
    library = ctypes.CDLL(None)
    library.mallopt(_LARGE_FROM, LARGE)
    library.mallopt(_MOST_HEAPS, 1)
    return library


def give_back() -> None:
    """Set it for this process; a system whose C library has no such settings is left as it is."""
    with suppress(OSError, AttributeError, TypeError):
        library = ask_one_by_one()
        # Found now: behind the sandbox nothing of a library can be found any more.
        threading.Thread(target=_trimmed, args=(library.malloc_trim,), name="memory", daemon=True).start()


def _trimmed(trim: Callable[[int], int]) -> None:
    while True:
        time.sleep(TRIMS_AFTER)
        trim(0)
