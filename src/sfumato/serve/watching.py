"""Watching: a release that is withdrawn while it is served is shown as withdrawn from the next question on."""

import math
import time
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from sfumato.release import noticed
from sfumato.serve.catalogue import Catalogue

LOOKS_AFTER = 1.0
"""Seconds between two looks at the folders of the releases."""


class Watching:
    """An application that is made anew, with nothing kept from before, when a release of its catalogue is withdrawn."""

    def __init__(self, catalogue: Catalogue, make: Callable[[Catalogue], ASGIApp]) -> None:
        self.catalogue, self.make, self.inner = catalogue, make, make(catalogue)
        self._next = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if time.monotonic() >= self._next:
            self._next = math.inf
            try:
                await run_in_threadpool(self._look)
            finally:
                self._next = time.monotonic() + LOOKS_AFTER
        await self.inner(scope, receive, send)

    def _look(self) -> None:
        before = [edition.release for edition in self.catalogue.editions]
        now = [noticed(release) for release in before]
        if any(one is not other for one, other in zip(now, before, strict=True)):
            self.catalogue = Catalogue.of(now)
            self.inner = self.make(self.catalogue)
