"""Cache: answers that were given once are given again as the same bytes, up to a bound on how many bytes are kept."""

import gzip
import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sfumato.serve.address import Key, question_key
from sfumato.serve.limits import MEBIBYTE
from sfumato.serve.reply import ZIPPED, held_tag
from sfumato.serve.turns import Turn, Turns

RawHeaders = tuple[tuple[bytes, bytes], ...]

_LARGEST_SHARE = 8
_OVERHEAD = 1_000
_WORTH_ZIPPING = 1_024
_ZIPS_WELL = re.compile(rb"text/|application/([\w.+-]*\+)?(json|xml|yaml|javascript)|image/svg")
_REWRITTEN = {b"etag", b"vary", b"content-length"}
_UNKEPT = re.compile(rb"no-store|private|no-cache")
_WEIGHTED = re.compile(r"\s*([\w*-]+)\s*(?:;\s*q\s*=\s*([\d.]+))?\s*")


@dataclass(frozen=True)
class Kept:
    """An answer as it is sent: plain, and smaller for who can unpack it."""

    tag: str
    headers: RawHeaders
    body: bytes
    zipped: bytes | None = None

    @property
    def size(self) -> int:
        return len(self.body) + len(self.zipped or b"") + _OVERHEAD

    async def send(self, asked: Mapping[bytes, bytes], send: Send) -> None:
        """The whole answer, or that the reader holds it already."""
        zipped = self.zipped if self.zipped is not None and _takes_zipped(asked.get(b"accept-encoding", b"")) else None
        tag = self.tag if zipped is None else self.tag + ZIPPED
        held = held_tag(asked.get(b"if-none-match", b"").decode("latin-1"), self.tag)
        headers = [*self.headers, (b"etag", f'"{held or tag}"'.encode())]
        if held is not None:
            kept = [header for header in headers if header[0] in {b"etag", b"cache-control", b"vary"}]
            await send({"type": "http.response.start", "status": 304, "headers": kept})
            await send({"type": "http.response.body", "body": b""})
            return
        body = self.body if zipped is None else zipped
        headers.append((b"content-length", str(len(body)).encode()))
        if zipped is not None:
            headers.append((b"content-encoding", b"gzip"))
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


class Cache:
    """The answers of one worker, the one that was asked for longest ago dropped first."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes, self.size = limit_bytes, 0
        self._kept: OrderedDict[Key, Kept] = OrderedDict()
        self._varies: dict[Key, tuple[bytes, ...]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def largest(self) -> int:
        """The most bytes of one answer: one large download must not push out everything else."""
        return self.limit_bytes // _LARGEST_SHARE

    def find(self, key: Key, asked: Mapping[bytes, bytes]) -> Kept | None:
        """The answer to a question, if it is kept in the variant that these headers ask for."""
        whole = (key, *(asked.get(name) for name in self._varies.get(key, ())))
        kept = self._kept.get(whole)
        if kept is not None:
            self._kept.move_to_end(whole)
        return kept

    def keep(self, key: Key, asked: Mapping[bytes, bytes], kept: Kept, varies: tuple[bytes, ...] = ()) -> None:
        """Keep an answer, which varies with some headers of the request, and drop what no longer fits."""
        if kept.size > self.largest:
            return
        self._varies.pop(key, None)
        if varies:
            self._varies[key] = varies
        whole = (key, *(asked.get(name) for name in varies))
        self.size -= before.size if (before := self._kept.pop(whole, None)) else 0
        self._kept[whole] = kept
        self.size += kept.size
        while self.size > self.limit_bytes:
            dropped, old = self._kept.popitem(last=False)
            self.size -= old.size
            self._varies.pop(dropped[0], None)  # type: ignore[call-overload]


@lru_cache(maxsize=1_000)
def _takes_zipped(accepted: bytes) -> bool:
    """Whether a reader can unpack gzip.

    >>> [_takes_zipped(one) for one in (b"gzip, br", b"deflate, *;q=0.5", b"gzip;q=0, *", b"br", b"")]
    [True, True, False, False, False]
    """
    named = {}
    for part in accepted.decode("latin-1").lower().split(","):
        found = _WEIGHTED.fullmatch(part)
        if found:
            named[found[1]] = found[2] is None or found[2].strip("0.") != ""
    return named.get("gzip", named.get("*", False))


def _headers(scope: Scope) -> dict[bytes, bytes]:
    """The headers of a request; one that stands several times is one list (RFC 9110, 5.3), of which nothing is lost."""
    found: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        found[name] = found[name] + b", " + value if name in found else value
    return found


@dataclass
class Collected:
    """A reply as it comes from the application, held back until it is whole or too large to hold."""

    out: Send
    largest: int
    messages: list[Message] = field(default_factory=list)
    size: int = 0
    passed_on: bool = False

    async def take(self, turn: Turn, message: Message) -> None:
        more = message.get("more_body", False)
        self.messages.append(message)
        self.size += len(message.get("body", b""))
        if more and not turn.large:
            await turn.turns.enlarge(turn)
        if self.passed_on or self.size > self.largest:
            self.passed_on = True
            async with turn.aside(last=not more):
                await self.give()

    async def give(self) -> None:
        """Send what was held back."""
        while self.messages:
            await self.out(self.messages.pop(0))

    def kept(self, *, zips: bool) -> tuple[Kept, tuple[bytes, ...]] | None:
        """The reply as it may be kept, and the headers of the request that it varies with."""
        if self.passed_on or not self.messages or self.messages[0].get("status") != 200:
            return None
        headers = [(name.lower(), value) for name, value in self.messages[0]["headers"]]
        named = dict(headers)
        tag = named.get(b"etag", b"").decode("latin-1").strip('"')
        refused = b"set-cookie" in named or _UNKEPT.search(named.get(b"cache-control", b""))
        if not tag or refused or named.get(b"vary") == b"*" or b"content-encoding" in named:
            return None
        body = b"".join(message.get("body", b"") for message in self.messages[1:])
        packs = zips and len(body) >= _WORTH_ZIPPING and _ZIPS_WELL.match(named.get(b"content-type", b""))
        zipped = gzip.compress(body, 5, mtime=0) if packs else None
        varies = {name.strip().lower() for name in named.get(b"vary", b"").split(b",") if name.strip()}
        told = tuple(sorted(varies - {b"accept-encoding"}))
        shown = (*told, *([] if zipped is None else [b"accept-encoding"]))
        plain = [header for header in headers if header[0] not in _REWRITTEN]
        if shown:
            plain.append((b"vary", b", ".join(shown)))
        return Kept(tag, tuple(plain), body, zipped), told


class Remembering:
    """An application whose answers are kept; what is not kept waits for its turn to be worked out."""

    def __init__(self, inner: ASGIApp, cache: Cache, turns: Turns, *, zips: bool) -> None:
        self.inner, self.cache, self.turns, self.zips = inner, cache, turns, zips

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = _headers(scope)
        # A part of a file is no answer that is kept, nor is the whole one to who asked for a part.
        key = question_key(scope) if scope["method"] == "GET" and b"range" not in asked else None
        kept = None if key is None else self.cache.find(key, asked)
        reply = Collected(send, max(self.cache.largest, MEBIBYTE))
        try:
            kept = kept or await self._worked_out(scope, receive, key, asked, reply)
            # The turn is over: a reader with a slow line keeps nobody waiting.
            await (reply.give() if kept is None else kept.send(asked, send))
        finally:
            # The frames of an error hold the reply of a reader who left until cycles are collected, minutes later.
            reply.messages.clear()

    async def _worked_out(
        self, scope: Scope, receive: Receive, key: Key | None, asked: Mapping[bytes, bytes], reply: Collected
    ) -> Kept | None:
        """The answer as it is kept; where it is not, the reply holds what is left to send."""
        async with self.turns.turn(scope) as turn:
            # Others may have asked the same while this one waited.
            kept = None if key is None else self.cache.find(key, asked)
            if kept is None:
                await self.inner(scope, receive, partial(reply.take, turn))
                kept = None if key is None else await self._keep(key, asked, reply)
            return kept

    async def _keep(self, key: Key, asked: Mapping[bytes, bytes], reply: Collected) -> Kept | None:
        found = await run_in_threadpool(reply.kept, zips=self.zips)
        if found is None:
            return None
        self.cache.keep(key, asked, *found)
        return found[0]
