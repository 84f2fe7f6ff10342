"""Sending: a reply goes out part by part, and whoever does not take a part in time is let go."""

import asyncio
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sfumato.serve.hang_up import HangUps
from sfumato.serve.limits import Limits
from sfumato.serve.turns import BusyError

PART = 65_536
"""The bytes that are handed to the connection at once; it holds a copy of them until the reader has them."""


class TooSlowError(Exception):
    """A reader did not take a part of a reply in time."""


class Paced:
    """An application whose replies are sent in parts, each within a time, and held for readers up to a bound."""

    def __init__(self, inner: ASGIApp, limits: Limits) -> None:
        self.inner, self.limits = inner, limits
        self.held, self.hang_ups = Outgoing(limits.sending_bytes), HangUps()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The connection is closed where a reply ends early: no reader takes a part of a file for the whole.
        try:
            await self.inner(scope, receive, Paces(send, self.limits.writing, self.held).take)
        except TooSlowError as error:
            forget(error)
            await self.hang_ups.on(scope.get("client"))


def forget(error: BaseException) -> None:
    """Let go of what the frames of an error hold: parts of replies are large, and cycles are collected late."""
    # An error out of a group has the group as its context, and is in it.
    known, left = set(), [error]
    while left:
        one = left.pop()
        if one not in known:
            known.add(one)
            traceback.clear_frames(one.__traceback__)
            left += [*(one.exceptions if isinstance(one, BaseExceptionGroup) else ()), *filter(None, [one.__context__])]


class Outgoing:
    """The bodies that are on their way, each counted once, however many readers take it."""

    def __init__(self, most: int) -> None:
        self.most, self.size = most, 0
        self._readers: Counter[int] = Counter()

    @contextmanager
    def holding(self, body: bytes) -> Iterator[None]:
        """While a body is sent; one more than the bound is refused, unless it is the only one."""
        if len(body) <= PART:
            yield
            return
        if id(body) not in self._readers:
            if self._readers and self.size + len(body) > self.most:
                raise BusyError
            self.size += len(body)
        self._readers[id(body)] += 1
        try:
            yield
        finally:
            self._readers[id(body)] -= 1
            if not self._readers[id(body)]:
                del self._readers[id(body)]
                self.size -= len(body)


@dataclass
class Paces:
    """One reply on its way: its head waits for the body, so that a body that cannot be held is refused in words."""

    out: Send
    seconds: float
    held: Outgoing
    head: Message | None = None

    async def take(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.head = message
            return
        body, more = message.get("body", b""), message.get("more_body", False)
        with self.held.holding(body):
            if self.head is not None:
                head, self.head = self.head, None
                await self._in_time(head)
            for start in range(0, max(1, len(body)), PART):
                further = more or start + PART < len(body)
                await self._in_time({**message, "body": body[start : start + PART], "more_body": further})

    async def _in_time(self, message: Message) -> None:
        try:
            async with asyncio.timeout(self.seconds):
                await self.out(message)
        except TimeoutError:
            raise TooSlowError from None
