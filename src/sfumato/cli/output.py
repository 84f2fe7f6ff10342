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
