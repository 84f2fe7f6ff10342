"""Buckets: what each client may still ask, known to one worker, or to all workers of a server together.

Workers that are forked share a piece of memory, so that a client who meets another worker is still the same client.
It is locked by the system, which takes the lock from a worker that dies. Replicas on other machines share nothing: the
balancer before them sends a client to one of them.
"""

import fcntl
import mmap
import os
import secrets
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import Protocol

import numpy as np

MOST_CALLERS = 10_000
_SETS, _WAYS = 2_048, 8
_ROW = np.dtype([("name", np.uint64), ("left", np.float64), ("then", np.float64)])
Bucket = tuple[float, float]
"""The calls that are left, and when that was counted, by a clock that all workers read."""


class Buckets(Protocol):
    """The buckets of clients by their names; the one that was asked for longest ago is dropped first."""

    @contextmanager
    def held(self) -> Iterator[None]:
        """While nobody else may change a bucket."""
        yield

    def find(self, name: str) -> Bucket | None:
        """The bucket of a client that is known."""

    def keep(self, name: str, bucket: Bucket) -> None:
        """What a client has left now."""


class OwnBuckets:
    """The buckets of one worker."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Bucket] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    @contextmanager
    def held(self) -> Iterator[None]:
        yield

    def find(self, name: str) -> Bucket | None:
        return self._kept.get(name)

    def keep(self, name: str, bucket: Bucket) -> None:
        self._kept[name] = bucket
        self._kept.move_to_end(name)
        if len(self._kept) > MOST_CALLERS:
            self._kept.popitem(last=False)


class SharedBuckets:
    """The buckets of all processes that are forked from where they were made.

    A name has one of eight places by its keyed hash: who asks cannot choose whom to push out.
    """

    def __init__(self) -> None:
        size = _SETS * _WAYS * _ROW.itemsize
        self._file, self._key = os.memfd_create("sfumato-callers"), secrets.token_bytes(16)
        os.ftruncate(self._file, size)
        self._rows = np.frombuffer(mmap.mmap(self._file, size), dtype=_ROW).reshape(_SETS, _WAYS)

    @contextmanager
    def held(self) -> Iterator[None]:
        # Of one process, whatever file it came by; the other kind of lock would be shared by all who were forked.
        fcntl.lockf(self._file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN)

    def find(self, name: str) -> Bucket | None:
        digest, places = self._places(name)
        at = np.flatnonzero(places["name"] == digest)
        return (float(places["left"][at[0]]), float(places["then"][at[0]])) if len(at) else None

    def keep(self, name: str, bucket: Bucket) -> None:
        digest, places = self._places(name)
        at = np.flatnonzero(places["name"] == digest)
        # Places that nobody has had yet are from before every clock.
        places[at[0] if len(at) else int(places["then"].argmin())] = (digest, *bucket)

    def _places(self, name: str) -> tuple[np.uint64, np.ndarray]:
        digest = int.from_bytes(blake2b(name.encode(), key=self._key, digest_size=8).digest(), "little") or 1
        return np.uint64(digest), self._rows[digest % _SETS]


def shared_buckets(workers: int) -> Buckets:
    """The buckets of so many workers that will be forked; where memory cannot be shared, each has its own."""
    return SharedBuckets() if workers > 1 and hasattr(os, "memfd_create") else OwnBuckets()
