"""How commands speak: results on stdout, progress on stderr, machines get JSON."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

CONFIDENTIAL = "CONFIDENTIAL: made from the microdata; do not publish."


def say(text: str = "") -> None:
    """A result, for people, on stdout."""
    sys.stdout.write(f"{text}\n")


def note(text: str) -> None:
    """Something about the work, not its result, on stderr."""
    sys.stderr.write(f"{text}\n")


def say_json(content: Any) -> None:
    """A result, for machines, on stdout."""
    say(json.dumps(content, indent=2, ensure_ascii=False))


def columns(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: int = 0) -> str:
    """Text in columns that line up, the last ones, which are numbers, on the right.

    >>> print(columns(["a", "bb"], [["1", "2"]]))
    a  bb
    1  2
    """
    lines = [list(heads), *(list(row) for row in rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(heads))]
    left = len(heads) - numbers
    laid = [
        [text.ljust(widths[place]) if place < left else text.rjust(widths[place]) for place, text in enumerate(line)]
        for line in lines
    ]
    return "\n".join("  ".join(line).rstrip() for line in laid)


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
