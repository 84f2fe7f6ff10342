"""Memory: what a worker lets go goes back to the system, so that it is no larger than what it holds.

Pieces of replies are large and live for as long as their readers take. After the first of them the C library would keep
blocks of their size, and any smaller one above pins it: the more readers are cut off, the more holes, in a heap of each
thread. Blocks from `LARGE` on are asked of the system one by one instead, and the threads share one heap.
"""

import ctypes
from contextlib import suppress

LARGE = 65_536
_LARGE_FROM, _MOST_HEAPS = -3, -8
"""What glibc's mallopt calls M_MMAP_THRESHOLD and M_ARENA_MAX."""


def give_back() -> None:
    """Set it for this process; a system whose C library has no such settings is left as it is."""
    with suppress(OSError, AttributeError, TypeError):
        set_option = ctypes.CDLL(None).mallopt
        set_option(_LARGE_FROM, LARGE)
        set_option(_MOST_HEAPS, 1)
