"""Overlay: a reader's own numbers by code, from a small CSV file, to lay over a map."""

import csv
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from sfumato.errors import QueryError, nearest

MOST_LINES = 5_000


@dataclass(frozen=True)
class Overlay:
    """Numbers by code and what they are called; they came without errors, and the map says so."""

    name: str
    values: Mapping[str, float]
    unknown: int = 0
    """How many lines were left out, as their codes have no shape."""
    first_unknown: str = ""
    """What is wrong with the first of them."""


def overlay(content: str, known: Collection[str]) -> Overlay:
    r"""The numbers in a CSV of code and value, its first line a heading or not; an error names the line.

    Lines of codes that the map does not have are left out and named, unless there are no others.

    >>> overlay("code,unemployment\nnorth,4.5\nsouth,6", ["north", "south"])
    Overlay(name='unemployment', values={'north': 4.5, 'south': 6.0}, unknown=0, first_unknown='')
    """
    lines = list(_lines(content))
    if len(lines) > MOST_LINES:
        raise QueryError(f"Your numbers have more than {MOST_LINES:,} lines; one line a code is wanted.")
    if not lines:
        raise QueryError("There are no numbers; write a line code,value for each area.")
    headed = _number(lines[0][1][1]) is None and lines[0][1][0] not in known
    name = lines[0][1][1][:60] if headed else ""
    values: dict[str, float] = {}
    unknown: list[tuple[int, str]] = []
    for line, (code, written) in lines[headed:]:
        if code not in known:
            unknown.append((line, code))
            continue
        _refuse_twice(line, code, values)
        value = _number(written)
        if value is None:
            raise QueryError(f"Line {line} of your numbers: {written[:40]!r} is no number; write it as 1234.5.")
        values[code] = value
    if unknown and not values:
        raise QueryError(_no_shape(*unknown[0], known))
    if not values:
        raise QueryError("Your numbers have a heading and nothing below it; write a line code,value for each area.")
    return Overlay(name, values, len(unknown), _no_shape(*unknown[0], known) if unknown else "")


def _lines(text: str) -> Iterator[tuple[int, tuple[str, str]]]:
    """The number of each line that is not empty, and its two fields."""
    written = text.removeprefix("\ufeff").splitlines()
    first = written[0] if written else ""
    apart = next((mark for mark in (",", ";", "\t") if mark in first), ",")
    for line, one in enumerate(written[: MOST_LINES + 2], start=1):
        if not one.strip():
            continue
        try:
            fields = next(csv.reader([one], delimiter=apart, strict=True))
        except (csv.Error, StopIteration):
            raise QueryError(
                f"Line {line} of your numbers cannot be read; quotes must close on the same line."
            ) from None
        if len(fields) != 2:
            raise QueryError(f"Line {line} of your numbers has {len(fields)} fields; it has two: code,value.")
        yield line, (fields[0].strip(), fields[1].strip())


def _number(written: str) -> float | None:
    """The number that is written; infinite ones and words are none."""
    try:
        value = float(written.replace("−", "-"))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _no_shape(line: int, code: str, known: Collection[str]) -> str:
    return f"Line {line} of your numbers: '{code[:40]}' has no shape on this map; {nearest(code[:40], known)}"


def _refuse_twice(line: int, code: str, values: Mapping[str, float]) -> None:
    if code in values:
        raise QueryError(
            f"Line {line} of your numbers: '{code}' stands there a second time; one line a code is wanted."
        )
