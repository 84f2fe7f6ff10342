"""Nuisances: readers that a server must bear without their being noticed by others."""

import asyncio
import math
import socket
import time
from collections import Counter
from collections.abc import Awaitable, Callable

SLOW, IDLE, MUTE = 4, 200, 20
"""Readers of 1 kB a second, connections that ask nothing, and readers that take nothing of what they asked for."""
HEADER = 2_000_000
"""Bytes of a header that no browser sends."""


class Nuisances:
    """All of them at once until told to stop, and what became of each."""

    def __init__(self, port: int, file: str, page: str) -> None:
        self.port, self.file, self.page = port, file, page
        self.seen: Counter[str] = Counter()
        self.stopped = asyncio.Event()

    async def run(self) -> None:
        """Every nuisance, again and again."""
        kinds = [(self.slow, SLOW), (self.idle, IDLE), (self.mute, MUTE), (self.huge, 1)]
        await asyncio.gather(*(self._again(kind) for kind, count in kinds for _ in range(count)))

    async def _again(self, kind: Callable[[], Awaitable[str]]) -> None:
        while not self.stopped.is_set():
            try:
                became = await kind()
            except OSError as error:
                became = f"{kind.__name__}: {type(error).__name__}"
            self.seen[became] += 1
            await self._rest(1)

    async def _rest(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self.stopped.wait()
        except TimeoutError:
            pass

    async def _line(self, said: str) -> socket.socket:
        """A connection with a small window, after these words; a transport would read ahead of a slow reader."""
        line = socket.socket()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        line.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(line, ("127.0.0.1", self.port))
        await loop.sock_sendall(line, said.encode())
        return line

    async def _until_closed(self, line: socket.socket, pace: float) -> bytes:
        """Read a little at this pace until the server hangs up or all is told to stop; the last that was read."""
        loop, last = asyncio.get_running_loop(), b""
        with line:
            while not self.stopped.is_set():
                part = await loop.sock_recv(line, 1_000)
                if not part:
                    break
                last = part
                await self._rest(pace)
        return last

    async def slow(self) -> str:
        """A download at 1 kB a second."""
        line = await self._line(_asked(self.file))
        try:
            last = await self._until_closed(line, 1)
        except ConnectionResetError:
            return "slow: let go"
        told = "got the whole file" if last.endswith(b"0\r\n\r\n") else "hung up on"
        return "slow: still reading at the end" if self.stopped.is_set() else f"slow: {told}"

    async def mute(self) -> str:
        """A download of which nothing is taken."""
        line = await self._line(_asked(self.file))
        await self._rest(45)
        with line:
            try:
                while await asyncio.get_running_loop().sock_recv(line, 1_000_000):
                    pass
            except ConnectionResetError:
                return "mute: let go"
        return "mute: served once it read"

    async def idle(self) -> str:
        """A connection that asks nothing."""
        line, begun = await self._line(""), time.monotonic()
        await self._until_closed(line, 0)
        within = 15 * math.ceil((time.monotonic() - begun) / 15)
        return "idle: still there at the end" if self.stopped.is_set() else f"idle: closed within {within} s"

    async def huge(self) -> str:
        """A header of two megabytes."""
        try:
            line = await self._line(_asked(self.page).replace("Host", f"X-Huge: {'x' * HEADER}\r\nHost"))
            with line:
                told = await asyncio.get_running_loop().sock_recv(line, 1_000)
        except (BrokenPipeError, ConnectionResetError):
            told = b""
        await self._rest(5)
        return f"huge header: {told.split()[1].decode()}" if told else "huge header: hung up"


def _asked(address: str) -> str:
    return f"GET {address} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
