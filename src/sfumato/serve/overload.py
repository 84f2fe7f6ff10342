"""Overload: more work than the server can do is turned away at once, in words and with the time to come back."""

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, MutableMapping
from contextlib import asynccontextmanager
from functools import cache, lru_cache
from ipaddress import ip_address, ip_network
from typing import Any

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from sfumato.serve.limits import Limits
from sfumato.serve.reply import for_programs

BUSY = "The server has more questions than it can answer now; ask again in a few seconds."
TOO_MANY = "You ask faster than this server answers one client: at most {calls:,} requests in {window} seconds."
_MOST_CALLERS = 10_000


class BusyError(Exception):
    """Every place to wait is taken, or the wait was too long."""


class Turns:
    """The requests of one worker: a few are worked on at once, some wait, no more are let in."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.inside = 0
        # More at once would be slower for all: the work is computation, and each piece holds a copy of its cells.
        self._free = asyncio.Semaphore(limits.at_work)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """A turn to work, after waiting for it."""
        if self.inside >= self.limits.at_work + self.limits.waiting:
            raise BusyError
        self.inside += 1
        try:
            await self._wait()
            try:
                yield
            finally:
                self._free.release()
        finally:
            self.inside -= 1

    async def _wait(self) -> None:
        # Who has waited this long has left or soon will; work for nobody is what keeps a server from recovering.
        try:
            async with asyncio.timeout(self.limits.patience):
                await self._free.acquire()
        except TimeoutError:
            raise BusyError from None


class Callers:
    """How much each client has asked of late: a bucket of calls that refills evenly."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits, self.clock = limits, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, scope: Scope) -> int:
        """Whole seconds until the client may ask again; 0 if it may now."""
        name = caller(scope, self.limits.proxies)
        if name is None or not self.limits.calls:
            return 0
        now, rate = self.clock(), self.limits.calls / self.limits.window
        left, then = self._buckets.pop(name, (float(self.limits.calls), now))
        left = min(self.limits.calls, left + (now - then) * rate)
        allowed = left >= 1
        self._buckets[name] = (left - allowed, now)
        if len(self._buckets) > _MOST_CALLERS:
            self._buckets.popitem(last=False)
        return 0 if allowed else max(1, math.ceil((1 - left) / rate))


def caller(scope: MutableMapping[str, Any], proxies: tuple[str, ...]) -> str | None:
    """Who asks: the address of the connection, or what a trusted proxy says of it; none for this machine itself.

    A proxy on this machine that was not named speaks for many, so it is not counted as one client. Of the addresses
    in X-Forwarded-For the last that is no proxy of ours counts, as a client can write anything before it.
    """
    client = scope.get("client")
    if not client:
        return None
    address = str(client[0])
    if proxies and _trusted(address, proxies):
        said = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
        behind = [one.strip() for one in ",".join(said).split(",") if one.strip()]
        address = next((one for one in reversed(behind) if not _trusted(one, proxies)), address)
    return _counted(address)


@lru_cache(maxsize=_MOST_CALLERS)
def _trusted(address: str, proxies: tuple[str, ...]) -> bool:
    try:
        return any(ip_address(address) in _network(proxy) for proxy in proxies)
    except ValueError:
        return False


_network = cache(ip_network)


@lru_cache(maxsize=_MOST_CALLERS)
def _counted(address: str) -> str | None:
    """The name of a client's bucket; a subscriber of IPv6 has a whole /64 to ask from, so that is one client."""
    try:
        known = ip_address(address)
    except ValueError:
        return "unknown"
    if known.is_loopback:
        return None
    return str(known) if known.version == 4 else str(ip_network((known, 64), strict=False))


class Shedding:
    """An application behind its limits; a question after its health is let through always."""

    def __init__(self, inner: ASGIApp, straight: ASGIApp, limits: Limits, words: "Refusals") -> None:
        self.inner, self.straight, self.limits, self.words = inner, straight, limits, words
        self.callers = Callers(limits)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"].removeprefix(scope["root_path"])
        if path == "/health":
            await self.straight(scope, receive, send)
            return
        seconds = self.callers.wait(scope)
        if seconds:
            said = TOO_MANY.format(calls=self.limits.calls, window=self.limits.window)
            await self.words(path, 429, said, seconds)(scope, receive, send)
            return
        try:
            await self.inner(scope, receive, send)
        except BusyError:
            await self.words(path, 503, BUSY, math.ceil(self.limits.patience))(scope, receive, send)


class Refusals:
    """Refusals as JSON for programs and as a page for people, written once, as a busy server has no time to write."""

    def __init__(self, as_json: Callable[[int, str], Response], as_page: Callable[[int, str], Response]) -> None:
        self._written = lru_cache(maxsize=8)(lambda api, status, said: (as_json if api else as_page)(status, said))

    def __call__(self, path: str, status: int, said: str, seconds: int) -> Response:
        """The reply to a request for this path, with the time to come back."""
        written = self._written(for_programs(path), status, said)
        headers = {"Cache-Control": "no-store", "Retry-After": str(seconds)}
        return Response(written.body, status, headers, written.headers["content-type"])
