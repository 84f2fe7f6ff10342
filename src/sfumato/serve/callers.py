"""Callers: who asks, and how much of the server each has had of late."""

import math
import time
from collections.abc import Callable, MutableMapping
from functools import cache, lru_cache
from ipaddress import ip_address, ip_network
from typing import Any

from starlette.types import Scope

from sfumato.serve.buckets import MOST_CALLERS, Buckets, OwnBuckets
from sfumato.serve.limits import Limits


class Callers:
    """How much each client has asked of late: a bucket of calls that refills evenly.

    A question counts as one call, or as many as refill in the time that its work took: nobody keeps more than one turn
    busy for long, however few and heavy the questions.
    """

    def __init__(
        self, limits: Limits, clock: Callable[[], float] = time.monotonic, buckets: Buckets | None = None
    ) -> None:
        self.limits, self.clock = limits, clock
        self._buckets = OwnBuckets() if buckets is None else buckets

    def wait(self, scope: Scope) -> int:
        """Whole seconds until the client may ask again; 0 if it may now."""
        name = caller(scope, self.limits.proxies)
        if name is None or not self.limits.calls:
            return 0
        with self._buckets.held():
            left = self._left(name)
            allowed = left >= 1
            self._buckets.keep(name, (left - allowed, self.clock()))
        return 0 if allowed else max(1, math.ceil((1 - left) / self._rate))

    def charge(self, name: str | None, seconds: float) -> None:
        """Count the work that a question was, beyond the call that was counted; nobody owes more than one window."""
        further = seconds * self._rate - 1
        if name is not None and further > 0:
            with self._buckets.held():
                self._buckets.keep(name, (max(-float(self.limits.calls), self._left(name) - further), self.clock()))

    @property
    def _rate(self) -> float:
        return self.limits.calls / self.limits.window

    def _left(self, name: str) -> float:
        now = self.clock()
        left, then = self._buckets.find(name) or (float(self.limits.calls), now)
        return min(self.limits.calls, left + (now - then) * self._rate)


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


@lru_cache(maxsize=MOST_CALLERS)
def _trusted(address: str, proxies: tuple[str, ...]) -> bool:
    try:
        return any(ip_address(address) in _network(proxy) for proxy in proxies)
    except ValueError:
        return False


_network = cache(ip_network)


@lru_cache(maxsize=MOST_CALLERS)
def _counted(address: str) -> str | None:
    """The name of a client's bucket; a subscriber of IPv6 has a whole /64 to ask from, so that is one client."""
    try:
        known = ip_address(address)
    except ValueError:
        return "unknown"
    if known.is_loopback:
        return None
    return str(known) if known.version == 4 else str(ip_network((known, 64), strict=False))
