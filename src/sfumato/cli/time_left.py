"""Time left: how far a long search is, said in a line every half minute."""

import time
from collections.abc import Callable

from sfumato.cli.output import note

EVERY = 30.0
"""Seconds between two lines."""


class TimeLeft:
    """Progress within a stage, passed on, and said in words while the stage takes long."""

    def __init__(
        self, show: Callable[[str, int, int], None], last: str = "", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._show, self._last, self._clock = show, last, clock
        self._doing, self._began, self._first, self._done, self._said = "", clock(), 0, 0, clock()

    def __call__(self, doing: str, done: int, of: int) -> None:
        now = self._clock()
        if doing != self._doing or done < self._done:
            self._doing, self._began, self._first = doing, now, done
        self._done = done
        self._show(doing, done, of)
        if now - self._said >= EVERY and done > self._first and now > self._began:
            self._said = now
            left = (now - self._began) / (done - self._first) * (of - done)
            note(f"{doing}: {done:,} of {of:,}, about {duration(left)} left of this stage. {self._last}".strip())


def duration(seconds: float) -> str:
    """A time as people say it.

    >>> duration(42), duration(200), duration(8_000)
    ('1 minute', '4 minutes', '2 hours')
    """
    minutes = max(1, -int(-seconds // 60))
    if minutes < 120:
        return "1 minute" if minutes == 1 else f"{minutes} minutes"
    return f"{round(minutes / 60)} hours"
