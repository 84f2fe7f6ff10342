"""CSV, one line a cell: codes and labels, the estimate, all of its errors and its grade, never one without another."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sfumato.query.answer import Answer
from sfumato.query.columns import listed

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def pieces(answer: Answer) -> Iterator[bytes]:
    """The answer as CSV part by part; the release's id and what is to be said of it stand in every line."""
    return csv_pieces(answer, lines)


def csv_pieces(answer: Answer, columns: Callable[[Answer], dict[str, list[Any]]]) -> Iterator[bytes]:
    """The columns of each part as lines; of a part that waits for its reader only the bytes are held."""
    for place, part in enumerate(answer.pieces()):
        yield _written(columns(part), headed=place == 0)


def _written(columns: dict[str, list[Any]], headed: bool) -> bytes:
    return csv_bytes(list(columns) if headed else None, list(columns.values()))


def lines(answer: Answer, *, mark: bool = True) -> dict[str, list[Any]]:
    """The columns of a tidy table, in order; formula signs in texts are marked as text unless told not."""
    same = {answer.own[name]: [text] * len(answer.columns) for name, text in beside(answer).items()}
    found = cells(answer) | same
    return {name: _marked(values) for name, values in found.items()} if mark else found


def cells(answer: Answer) -> dict[str, list[Any]]:
    """For each cell its codes and labels, its estimate and errors, and why there is no number or no error."""
    found: dict[str, list[Any]] = {}
    for place, axis in enumerate(answer.figures.axes):
        places = answer.codes(place).tolist()
        for title, texts in zip(answer.titles[place], (axis.codes, axis.labels), strict=True):
            found[title] = [texts[one] for one in places]
    numbers, own = answer.columns, answer.own
    found |= {own[name]: listed(answer.metric(name)) for name in answer.tidy_metrics}
    found |= {own[name]: texts for name, texts in answer.verdicts.items()}
    found |= {} if answer.changes else {own["grade"]: numbers.grade.tolist()}
    found |= {own["cells"]: numbers.cells.tolist()}
    reason = numbers.status("reason", " ".join(answer.unsaid))
    return found | {own["status"]: numbers.status("code"), own["reason"]: reason}


def records(answer: Answer) -> list[dict[str, Any]]:
    """One record a cell, without the columns that say nothing."""
    found = filled(cells(answer))
    return [dict(zip(found, line, strict=True)) for line in zip(*found.values(), strict=True)]


def filled(columns: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """The columns that hold something."""
    return {name: values for name, values in columns.items() if any(one != "" for one in values)}


def beside(answer: Answer) -> dict[str, str]:
    """What is the same in every line, so that no line can be parted from it."""
    releases = answer.figures.releases
    return {
        "statistic": answer.figures.statistic,
        "unit": answer.figures.unit,
        **({"share_of": answer.share_of} if answer.share_of else {}),
        **({} if answer.figures.time else {"period": answer.manifest.period}),
        "universe": answer.universe_words,
        **({"note": answer.note} if answer.note else {}),
        "release": " ".join(release.id for release in releases),
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


def _marked(values: list[Any]) -> list[Any]:
    if not values or not isinstance(values[0], str):
        return values
    marked = {text: harmless(text) for text in set(values)}
    return [marked[text] for text in values]


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
