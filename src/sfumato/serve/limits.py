"""Limits: how much one worker takes on, how much of it one client may ask for, and what is said of each request."""

import re
from dataclasses import dataclass, field, replace
from ipaddress import ip_network

from sfumato.errors import ReleaseError
from sfumato.serve.buckets import Buckets

MEBIBYTE = 2**20


@dataclass(frozen=True)
class Limits:
    """The bounds of one worker.

    `at_work` requests are worked on at once and `waiting` more wait, each for at most `patience` seconds. A client that
    keeps to `calls` requests in any `window` seconds, and to as many seconds of work, is never refused for asking too
    much; 0 calls means no such bound. Answers are kept up to `cache_bytes`. Readers behind one of `proxies` are told
    apart by what it says of them. A reader takes each part of a reply within `writing` seconds; at most `downloads`
    large replies are under way, and all replies on their way hold at most `sending_bytes`.
    """

    at_work: int = 2
    waiting: int = 64
    patience: float = 5
    calls: int = 500
    window: int = 10
    cache_bytes: int = 64 * MEBIBYTE
    proxies: tuple[str, ...] = ()
    writing: float = 30
    downloads: int = 16
    sending_bytes: int = 256 * MEBIBYTE

    def __post_init__(self) -> None:
        least = {"at_work": 1, "waiting": 0, "patience": 0.01, "calls": 0, "window": 1, "cache_bytes": 0}
        least |= {"writing": 0.01, "downloads": 1, "sending_bytes": 0}
        for name, bound in least.items():
            if getattr(self, name) < bound:
                raise ReleaseError(f"The server was given {name} = {getattr(self, name)}; it must be at least {bound}.")
        for proxy in self.proxies:
            try:
                ip_network(proxy)
            except ValueError:
                raise ReleaseError(
                    f"The proxy '{proxy}' is not an address or a network; give one like 127.0.0.1 or 10.0.0.0/8."
                ) from None

    def of_each(self, workers: int) -> "Limits":
        """The bounds of each of so many workers: large replies under way are those of all of them together.

        >>> [Limits(downloads=16).of_each(workers).downloads for workers in (1, 2, 5, 20)]
        [16, 8, 3, 1]
        """
        return replace(self, downloads=max(1, self.downloads // workers))


@dataclass(frozen=True)
class Log:
    """What the line of a request says beyond time, method, path, status, duration and size."""

    questions: bool = False
    readers: bool = False


@dataclass(frozen=True)
class Running:
    """How an application is run: its limits, its log if it keeps one, and the key that its addresses hold if any.

    `origin` is where readers reach it, such as https://statistics.example; without it, whatever host they asked for.
    With it, or with `hosts`, the server answers to those names and to this machine's own alone. Of pages that are
    `still` files are made, and no server answers behind them. Workers that share `buckets` know together what each
    client has asked.
    """

    limits: Limits = field(default_factory=Limits)
    log: Log | None = None
    key: str = ""
    origin: str = ""
    hosts: tuple[str, ...] = ()
    still: bool = False
    buckets: Buckets | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.origin and not re.fullmatch(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?", self.origin):
            raise ReleaseError(
                f"The origin is '{self.origin}'; it is where readers reach the server, without a path, for example "
                "https://statistics.example."
            )
        for host in self.hosts:
            if not re.fullmatch(r"[A-Za-z0-9._-]+|\[?[0-9A-Fa-f:.]+\]?", host):
                raise ReleaseError(
                    f"The host '{host}' is not a name; give one like statistics.example, without scheme, port or path."
                )

    @property
    def names(self) -> frozenset[str]:
        """The names that the server answers to; none where any will do."""
        stated = [self.origin.partition("://")[2].partition(":")[0]] if self.origin else []
        return frozenset(one.lower().strip("[]").rstrip(".") for one in (*stated, *self.hosts))
