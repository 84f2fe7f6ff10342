"""CSV, one line a cell: codes and labels, the estimate, all of its errors and its grade, never one without another."""

import csv
import io
from typing import Any

from sfumato.serve.question import Question

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def answer(question: Question) -> bytes:
    """The answer to a question as CSV; the release's id and what is to be said of it stand in every line."""
    edition = question.sheet.edition
    beside = {"release": edition.release.id}
    if edition.notices:
        beside["notice"] = "; ".join(notice.sentence for notice in edition.notices)
    records = [{**record, **beside} for record in question.table().records()]
    file = io.StringIO()
    writer = csv.DictWriter(file, list(records[0]))
    writer.writeheader()
    writer.writerows({key: harmless(value) for key, value in record.items()} for record in records)
    return file.getvalue().encode()


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
