"""CSV, one line a cell: codes and labels, the estimate, all of its errors and its grade, never one without another."""

import csv
import io
from collections.abc import Iterator
from typing import Any

from sfumato.query.columns import listed
from sfumato.serve.downloads.answer import METRICS, Answer, apart

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_BESIDE = ("grade", "cells", "unit", "universe", "reason", "release", "notice")


def pieces(answer: Answer) -> Iterator[bytes]:
    """The answer as CSV part by part; the release's id and what is to be said of it stand in every line."""
    for place, part in enumerate(answer.pieces()):
        lines = columns(part)
        yield csv_bytes(list(lines) if place == 0 else None, list(lines.values()))


def columns(answer: Answer, *, mark: bool = True) -> dict[str, list[Any]]:
    """The columns of a tidy table, in order; formula signs in codes and labels are marked as text unless told not."""
    safe = harmless if mark else _same
    found: dict[str, list[Any]] = {}
    for place, axis in enumerate(answer.axes):
        places = answer.codes(place).tolist()
        for title, texts in zip(answer.titles[place], (axis.codes, axis.labels), strict=True):
            marked = [safe(text) for text in texts]
            found[title] = [marked[one] for one in places]
    names = apart([*METRICS, *_BESIDE], list(found))
    numbers = answer.columns
    found |= {names[one]: listed(getattr(numbers, one)) for one in METRICS}
    found |= {names["grade"]: numbers.grade.tolist(), names["cells"]: numbers.cells.tolist()}
    for name, text in beside(answer).items():
        found[names[name]] = [safe(text)] * len(numbers)
    return found


def beside(answer: Answer) -> dict[str, str]:
    """What is the same in every line, so that no line can be parted from it."""
    return {
        "unit": answer.sheet.product.subject.unit,
        "universe": answer.universe_words,
        "reason": " ".join(answer.reasons),
        "release": answer.sheet.edition.release.id,
        "notice": " ".join(answer.notices),
    }


def csv_bytes(head: list[str] | None, lines: list[list[Any]]) -> bytes:
    """Columns as the lines of a CSV file (RFC 4180)."""
    file = io.StringIO()
    writer = csv.writer(file)
    if head is not None:
        writer.writerow([harmless(name) for name in head])
    writer.writerows(zip(*lines, strict=True))
    return file.getvalue().encode()


def _same(value: Any) -> Any:
    return value


def harmless(value: Any) -> Any:
    """A text that a spreadsheet would run as a formula is marked as text; numbers stay numbers.

    >>> harmless("=1+1"), harmless("-4"), harmless(-4), harmless("-none")
    ("'=1+1", '-4', -4, "'-none")
    """
    if not isinstance(value, str) or not value.startswith(_FORMULA) or value == "-":
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value
