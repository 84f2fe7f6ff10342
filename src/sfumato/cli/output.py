"""How commands speak: results on stdout, progress on stderr, machines get JSON."""

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

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


@contextmanager
def progress(stages: Sequence[str]) -> Iterator[Callable[[str], None]]:
    """A bar on stderr where that is a terminal, silence elsewhere; each named stage moves it on."""
    if not sys.stderr.isatty():
        yield lambda stage: None  # noqa: ARG005 - silence
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    parts = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*parts, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=len(stages))
        yield lambda stage: bar.update(task, description=stage, advance=1)
