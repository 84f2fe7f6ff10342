"""Hang up: a connection whose reader takes nothing is closed, as it would hold its place for as long as it likes.

The server program gives no such handle, so the connection is found among the open files of this process by who is at
its other end; where the system has no list of them (Linux has) the connection stays until its reader leaves.
"""

import asyncio
import os
import socket
import stat
import struct
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import Path

from starlette.concurrency import run_in_threadpool

Peer = tuple[str, str]
FILES = Path("/proc/self/fd")
_AFTER = 0.25
_AT_ONCE = struct.pack("ii", 1, 0)
"""What SO_LINGER takes: what was not taken is dropped when the connection is closed."""


class HangUps:
    """The connections to be closed, found in one go for all that wait for it."""

    def __init__(self) -> None:
        self._peers: set[Peer] = set()

    async def on(self, client: tuple[str, int] | None) -> None:
        """Close the connection from this client and port soon."""
        if client is None:
            return
        first = not self._peers
        self._peers.add((str(client[0]), str(client[1])))
        if first:
            await asyncio.sleep(_AFTER)
            peers, self._peers = self._peers, set()
            await run_in_threadpool(hang_up, peers)


def hang_up(peers: AbstractSet[Peer]) -> None:
    """Close the connections of this process to some clients, whatever they still have to take."""
    with suppress(FileNotFoundError):
        for file in list(FILES.iterdir()):
            with suppress(OSError):
                _close(int(file.name), peers)


def _close(file: int, peers: AbstractSet[Peer]) -> None:
    if not stat.S_ISSOCK(os.fstat(file).st_mode):
        return
    with socket.socket(fileno=os.dup(file)) as line:
        if line.family not in {socket.AF_INET, socket.AF_INET6}:
            return
        host, port, *_ = line.getpeername()
        if (host, str(port)) in peers:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
            line.shutdown(socket.SHUT_RDWR)
