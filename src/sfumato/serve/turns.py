"""Turns: a few questions are worked on at once; who sends holds no turn, so that a slow line keeps nobody waiting."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from starlette.types import Scope

from sfumato.serve.buckets import Buckets
from sfumato.serve.callers import Callers, caller
from sfumato.serve.limits import Limits

_SHARE = 4
"""The part of all large replies that one client may have under way: one in so many."""


class BusyError(Exception):
    """Every place to wait is taken, or the wait was too long."""


class Turns:
    """The requests of one worker: a few are worked on at once, some wait, no more are let in."""

    def __init__(
        self, limits: Limits, clock: Callable[[], float] = time.monotonic, buckets: Buckets | None = None
    ) -> None:
        self.limits, self.callers, self.clock = limits, Callers(limits, clock, buckets), clock
        self.inside = 0
        self.downloads: Counter[str | None] = Counter()
        # More at once would be slower for all: the work is computation, and each piece holds a copy of its cells.
        self._free = asyncio.Semaphore(limits.at_work)
        # Of large replies one is worked on at a time, so that a turn is left for questions.
        self._large = asyncio.Semaphore(1)
        self._moved = clock()

    @property
    def stuck(self) -> bool:
        """Whether every turn is taken, and none was taken or let go for longer than anybody waits."""
        return self._free.locked() and self.clock() - self._moved > self.limits.patience

    @asynccontextmanager
    async def turn(self, scope: Scope) -> AsyncIterator["Turn"]:
        """A turn to work, after waiting for it."""
        if self.inside >= self.limits.at_work + self.limits.waiting:
            raise BusyError
        turn = Turn(self, caller(scope, self.limits.proxies))
        await self._patiently(turn)
        try:
            yield turn
        finally:
            if turn.since is not None:
                self.let_go(turn)
            if turn.large:
                self.downloads -= Counter([turn.client])
            self.callers.charge(turn.client, turn.worked)

    async def enlarge(self, turn: "Turn") -> None:
        """Go on as a large reply, of which there are only so many, and of one client a part of them."""
        self._place(turn)
        self.let_go(turn)
        turn.alone = True
        await self._patiently(turn)

    def let_go(self, turn: "Turn") -> None:
        """Give the turn to the next."""
        self._moved = self.clock()
        turn.worked += self._moved - (turn.since or self._moved)
        turn.since = None
        self.inside -= 1
        self._free.release()
        if turn.alone:
            self._large.release()

    async def take(self, turn: "Turn") -> None:
        """Wait for a turn; for one of a large reply, until no other is worked on."""
        self.inside += 1
        try:
            async with AsyncExitStack() as waited:
                if turn.alone:
                    await waited.enter_async_context(self._large)
                await self._free.acquire()
                waited.pop_all()  # let_go gives both back
        except BaseException:
            self.inside -= 1
            raise
        turn.since = self._moved = self.clock()

    async def _patiently(self, turn: "Turn") -> None:
        # Who has waited this long has left or soon will; work for nobody is what keeps a server from recovering.
        try:
            async with asyncio.timeout(self.limits.patience):
                await self.take(turn)
        except TimeoutError:
            raise BusyError from None

    def _place(self, turn: "Turn") -> None:
        most = self.limits.downloads
        own = most if turn.client is None else max(1, most // _SHARE)
        if self.downloads.total() >= most or self.downloads[turn.client] >= own:
            raise BusyError
        self.downloads[turn.client] += 1
        turn.large = True


@dataclass(eq=False)
class Turn:
    """The turn of one request, let go while a part of a large reply is sent and taken again for the next part."""

    turns: Turns
    client: str | None
    worked: float = 0.0
    since: float | None = None
    large: bool = False
    alone: bool = False

    @asynccontextmanager
    async def aside(self, *, last: bool) -> AsyncIterator[None]:
        """Let go of the turn while a part is sent; what has begun to be sent is gone on with, however long it waits."""
        self.turns.let_go(self)
        yield
        if not last:
            await self.turns.take(self)
