"""How commands speak: results on stdout, progress on stderr, machines get JSON."""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress

CONFIDENTIAL = "CONFIDENTIAL: made from the microdata; do not publish."


_DRIVES = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]|\r(?!\n)")
"""What a terminal obeys instead of showing it, or cannot write."""


def harmless(text: str) -> str:
    r"""A text as a terminal shows it, whoever wrote it: what would drive the terminal is spelt out.

    >>> print(harmless("jobs" + chr(27) + "[2J"))
    jobs\x1b[2J
    """
    return _DRIVES.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def say(text: str = "") -> None:
    """A result, for people, on stdout."""
    sys.stdout.write(f"{harmless(text)}\n")


def note(text: str) -> None:
    """Something about the work, not its result, on stderr."""
    sys.stderr.write(f"{harmless(text)}\n")


def say_json(content: Any) -> None:
    """A result, for machines, on stdout."""
    say(json.dumps(content, indent=2, ensure_ascii=False))


def columns(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: int = 0) -> str:
    """Texts in columns, laid out as tables are; what does it is loaded when there is something to lay out."""
    from sfumato.release.figures import aligned

    return aligned(heads, rows, numbers)


class Silence:
    """Progress where nobody looks: each named stage, and within a stage how much is done, are told to nobody."""

    def __call__(self, stage: str) -> None:
        """A stage begins."""

    def within(self, doing: str, done: int, of: int) -> None:
        """So much of the stage is done."""


class _Bars(Silence):
    """A bar of stages, and under it one of what is done within a stage, for as long as it is being done."""

    def __init__(self, bar: "Progress", stages: int) -> None:
        self._bar = bar
        self._stages = bar.add_task("starting", total=stages)
        self._within = bar.add_task("", visible=False)

    def __call__(self, stage: str) -> None:
        self._bar.update(self._stages, description=stage, advance=1)

    def within(self, doing: str, done: int, of: int) -> None:
        self._bar.update(self._within, description=f"  {doing}", completed=done, total=of, visible=done < of)


@contextmanager
def progress(stages: Sequence[str]) -> Iterator[Silence]:
    """A bar on stderr where that is a terminal, silence elsewhere; each named stage moves it on."""
    if not sys.stderr.isatty():
        yield Silence()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    parts = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*parts, console=Console(stderr=True), transient=True) as bar:
        yield _Bars(bar, len(stages))
