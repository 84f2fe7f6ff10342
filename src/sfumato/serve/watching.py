"""Watching: a release that is withdrawn while it is served is shown as withdrawn from the next question on.

Whoever asks while the folders are looked at waits for it, which takes a few milliseconds. A cache asks for many copies
at once when their time is over; told "unchanged" of one, it would keep that one as long again.
"""

import asyncio
import time
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from sfumato.release import noticed
from sfumato.serve.catalogue import Catalogue

LOOKS_AFTER = 1.0
"""Seconds between two looks at the folders of the releases."""
LOOKS_FOR = 2.0
"""Seconds that readers wait for a look, from its beginning: a disk that does not answer holds up nobody after."""


class Watching:
    """An application that is made anew, with nothing kept from before, when a release of its catalogue is withdrawn."""

    def __init__(self, catalogue: Catalogue, make: Callable[[Catalogue], ASGIApp]) -> None:
        self.catalogue, self.make, self.inner = catalogue, make, make(catalogue)
        self._next = self._patience = 0.0
        self._looking: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._looking is None and time.monotonic() >= self._next:
            self._looking, self._patience = asyncio.create_task(self._looked()), time.monotonic() + LOOKS_FOR
        if self._looking is not None:
            await asyncio.wait({self._looking}, timeout=max(self._patience - time.monotonic(), 0.0))
        await self.inner(scope, receive, send)

    async def _looked(self) -> None:
        try:
            await run_in_threadpool(self._look)
        finally:
            self._next, self._looking = time.monotonic() + LOOKS_AFTER, None

    def _look(self) -> None:
        before = [edition.release for edition in self.catalogue.editions]
        now = [noticed(release) for release in before]
        if any(one is not other for one, other in zip(now, before, strict=True)):
            catalogue = Catalogue.of(now)
            # Both or none: what could not be made is not taken for shown, and the next look makes it.
            self.inner, self.catalogue = self.make(catalogue), catalogue
