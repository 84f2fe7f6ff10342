"""Guard: what every reply carries and what no request may bring, before any route is looked at."""

import asyncio
import hmac
import re
from collections.abc import Callable, MutableMapping
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sfumato.serve.address import Door
from sfumato.serve.loopback import host_alone, is_loopback
from sfumato.serve.reply import for_programs, problem

LONGEST_QUERY = 32_768
LARGEST_BODY = 262_144
BODY_SECONDS = 10.0
_SMALLER = "name levels, not codes, and leave out corners of areas"
POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
FRAMED_POLICY = (
    "default-src 'none'; style-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *"
)
"""For what may stand in a frame of any page: no script, no form, no picture from elsewhere."""
_ALWAYS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
HEADERS = {
    "Content-Security-Policy": POLICY,
    **_ALWAYS,
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
}
FRAMED = {"Content-Security-Policy": FRAMED_POLICY, **_ALWAYS, "Cross-Origin-Resource-Policy": "cross-origin"}
SHARED = {**HEADERS, "Cross-Origin-Resource-Policy": "cross-origin", "Access-Control-Allow-Origin": "*"}
"""For styles and fonts: a frame in a sandbox, as oEmbed readers make it, has no origin and asks as a stranger does."""
PROGRAMS = {**SHARED, "Access-Control-Expose-Headers": "Content-Disposition, ETag, Location, Retry-After"}
"""For the API: scripts of any page may ask it and read its answers and refusals, which are public."""
PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, HEAD, POST",
    "Access-Control-Allow-Headers": "Content-Type, If-None-Match",
    "Access-Control-Max-Age": "86400",
    "Cache-Control": "no-store",
}
"""What a browser is told that asks first whether a page elsewhere may send a request."""

_RAW, _RAW_FRAMED, _RAW_SHARED, _RAW_PROGRAMS = (
    [(name.lower().encode(), value.encode()) for name, value in some.items()]
    for some in (HEADERS, FRAMED, SHARED, PROGRAMS)
)
_EMBED = re.compile(r"/[^/]*~[^/]*/embed")
_API = re.compile(r"/api/.+|/openapi\.json")
_STATIC = re.compile(r"/static/.+")
_UNKEPT = (b"cache-control", b"no-store")
Refusal = tuple[int, str]
Refused = Callable[[int, str], Response]


class Guarded:
    """An application below a path, behind the guard; a private one must not be seen off this machine.

    What is too large is refused in JSON to programs and by a page to people.

    With `keyed`, the path holds a key, and who does not know it is refused: a proxy on this machine that says nothing
    of itself cannot be told from a reader, but its readers do not know the key.
    """

    def __init__(
        self, inner: ASGIApp, base_path: str, door: Door, page: Refused = problem, *, private: bool, keyed: bool = False
    ) -> None:
        self.inner, self.base_path, self.door, self.page = inner, base_path, door, page
        self.private, self.keyed = private, keyed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.inner(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                always = self._always(scope["path"].removeprefix(self.base_path), message["status"])
                message = {**message, "headers": [*self._kept(message["headers"]), *always]}
            await send(message)

        refusal = self._refusal(scope)
        if refusal is None and scope["method"] not in {"GET", "HEAD", "OPTIONS"}:
            too_much, receive = await _whole_body(receive)
            if too_much is not None:
                path = scope["path"].removeprefix(self.base_path)
                refused = problem if for_programs(path) else self.page
                await refused(*too_much)(scope, receive, send_guarded)
                return
        if refusal is None and self._is_preflight(scope):
            await Response(status_code=204, headers=PREFLIGHT)(scope, receive, send_guarded)
        elif refusal is None:
            await self.inner(self.door.through(scope, self.base_path), receive, send_guarded)
        else:
            # Who has no key, or asks from elsewhere, sees no page, as pages name the path that holds the key.
            await problem(*refusal)(scope, receive, send_guarded)

    def _always(self, path: str, status: int) -> list[tuple[bytes, bytes]]:
        """What a reply carries: an embed that was found, of what everybody may see, may stand in a frame elsewhere."""
        if not self.private and _API.fullmatch(path):
            return _RAW_PROGRAMS
        if self.private or status not in {200, 304}:
            return _RAW
        if _EMBED.fullmatch(path):
            return _RAW_FRAMED
        return _RAW_SHARED if _STATIC.fullmatch(path) else _RAW

    def _is_preflight(self, scope: MutableMapping[str, Any]) -> bool:
        """Whether a browser asks if a page elsewhere may ask the API, which it may where everybody may see it."""
        asked = scope["method"] == "OPTIONS" and any(
            name == b"access-control-request-method" for name, _ in scope["headers"]
        )
        return asked and not self.private and bool(_API.fullmatch(scope["path"].removeprefix(self.base_path)))

    def _kept(self, given: Any) -> Any:
        """The headers of a reply, of which a private one is not to be kept."""
        return [*(one for one in given if one[0].lower() != b"cache-control"), _UNKEPT] if self.private else given

    def _refusal(self, scope: MutableMapping[str, Any]) -> Refusal | None:
        if len(scope["query_string"]) > LONGEST_QUERY:
            return 414, f"The address is longer than {LONGEST_QUERY:,} characters; ask for fewer codes, or for a level."
        if self.private and not _from_here(scope):
            return 403, "A release that is not for publication is shown on this machine only, under a loopback address."
        if self.keyed and not self._has_key(scope["path"]):
            return 403, "A release that is not for publication is shown at the address that was printed at the start."
        # Who watches over many servers asks each by its number; the reply repeats nothing of the question.
        misdirected = self.door.refusal(scope, by_any_name=scope["path"] == f"{self.base_path}/health")
        return None if misdirected is None else (400, misdirected)

    def _has_key(self, path: str) -> bool:
        start = f"{self.base_path}/"
        return hmac.compare_digest(path[: len(start)].encode(errors="replace"), start.encode())


async def _whole_body(receive: Receive) -> tuple[Refusal | None, Receive]:
    """The body of a request, read before any work starts, so that nobody can hold a place with a slow one."""
    parts: list[bytes] = []
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                parts.append(message.get("body", b""))
                if sum(map(len, parts)) > LARGEST_BODY:
                    return (413, f"The request is larger than {LARGEST_BODY:,} bytes; {_SMALLER}."), receive
                if not message.get("more_body", False):
                    break
    except TimeoutError:
        return (408, f"The request did not arrive within {BODY_SECONDS:.0f} seconds; send it again."), receive
    whole: Message = {"type": "http.request", "body": b"".join(parts), "more_body": False}
    waiting = [whole]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return None, again


def _from_here(scope: MutableMapping[str, Any]) -> bool:
    """Whether a request names this machine and came through no proxy.

    A page elsewhere can point a name of its own at 127.0.0.1, and a proxy on this machine can hand requests on; neither
    may read what is only for the people at this machine.
    """
    headers = Headers(scope=scope)
    passed_on = any(name == "forwarded" or name.startswith("x-forwarded-") for name in headers)
    return not passed_on and is_loopback(host_alone(headers.get("host", "")))
