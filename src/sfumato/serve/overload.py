"""Overload: more work than the server can do is turned away at once, in words and with the time to come back."""

import math
from collections.abc import Callable
from functools import lru_cache

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from sfumato.serve.callers import Callers
from sfumato.serve.limits import Limits
from sfumato.serve.reply import for_programs
from sfumato.serve.sending import forget
from sfumato.serve.turns import BusyError, Turns

BUSY = "The server has more questions than it can answer now; ask again in a few seconds."
STUCK = "No question has had an answer for longer than anybody waits: every turn is taken."
TOO_MANY = (
    "You ask faster than this server answers one client: at most {calls:,} requests in {window} seconds, of which one "
    "that is long to work out counts as several."
)


class Shedding:
    """An application behind its limits; a question after its health is let through, unless nothing moves any more."""

    def __init__(self, inner: ASGIApp, straight: ASGIApp, turns: Turns, words: "Refusals") -> None:
        self.inner, self.straight, self.turns, self.words = inner, straight, turns, words

    @property
    def callers(self) -> Callers:
        return self.turns.callers

    @property
    def limits(self) -> Limits:
        return self.turns.limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"].removeprefix(scope["root_path"])
        if path == "/health" and not self.turns.stuck:
            await self.straight(scope, receive, send)
            return
        if path == "/health":
            await self.words(path, 503, STUCK, math.ceil(self.limits.patience))(scope, receive, send)
            return
        seconds = self.callers.wait(scope)
        if seconds:
            said = TOO_MANY.format(calls=self.limits.calls, window=self.limits.window)
            await self.words(path, 429, said, seconds)(scope, receive, send)
            return
        try:
            await self.inner(scope, receive, send)
        except BusyError as error:
            forget(error)
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
