"""What commands give of a table: text for people, JSON, or any format of the downloads, on stdout or in a file."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.cli.output import note
from sfumato.errors import QueryError, nearest

if TYPE_CHECKING:
    from sfumato.query import Figures
    from sfumato.query.answer import Answer

PLAIN = ("text", "json")
OLDER = {"jsonstat": "json-stat2"}
"""Names of formats that older scripts have."""


def form_of(given: str | None, out: Path | None) -> str:
    """The name of the format that is asked for, by itself or by the ending of a file; text unless told."""
    from sfumato.query.downloads.formats import BY_NAME, by_ending

    if given is None:
        return "text" if out is None else by_ending(out.name).name
    name = OLDER.get(given, given)
    if name not in (*PLAIN, *BY_NAME):
        raise QueryError(f"There is no format '{given}'; {nearest(given, (*PLAIN, *BY_NAME))}")
    return name


def most_of(form: str) -> int:
    """The most cells that a format takes."""
    from sfumato.query import LARGEST_PAGE
    from sfumato.query.downloads.formats import BY_NAME

    return LARGEST_PAGE if form in PLAIN else BY_NAME[form].most


def warnings_of(asked: "Figures") -> list[str]:
    """What a reader must be told of the releases before any number; of several, each with its period."""
    from sfumato.query.notices import notices_of

    several = len(asked.releases) > 1
    told = [(release.manifest.period, notice.warning) for release in asked.releases for notice in notices_of(release)]
    return [f"{period}: {warning}" if several else warning for period, warning in told]


def give(asked: "Figures", form: str, out: Path | None, error: str, more: str, *, zero: bool = False) -> None:
    """Print a table in a format, or write it to a file; for people with what its errors are and more that is to say.

    Negative numbers are shown as 0 to people alone; a file would have them without the word that says so.
    """
    from sfumato.query.answer import ERRORS, Answer
    from sfumato.query.downloads.formats import BY_NAME

    if error not in ERRORS:
        raise QueryError(f"--error is '{error}'; {nearest(error, ERRORS)}")
    if zero and form != "text":
        raise QueryError(f"--zero is for the eye alone; {form} keeps all numbers as they are, so that sums stay right.")
    answer = Answer(asked, error=error)
    if form in PLAIN:
        written = f"{_text(answer, more, zero=zero) if form == 'text' else _json(answer)}\n".encode()
    else:
        written = BY_NAME[form].write(answer)
    if out is not None:
        out.write_bytes(written)
    else:
        sys.stdout.buffer.write(written)
        sys.stdout.flush()
    if more and form != "text":
        note(more)


def _text(answer: "Answer", more: str, *, zero: bool) -> str:
    """The table for people, between what they must be told before it and what it is only about and means."""
    from sfumato.query.layout import as_text
    from sfumato.query.legend import legend

    asked, only = answer.figures, answer.universe_words
    parts = [
        *warnings_of(asked),
        as_text(asked, answer.error, zero=zero),
        f"Only {only}." if only else "",
        answer.counted,
    ]
    return "\n\n".join(part for part in (*parts, legend(answer), more) if part)


def _json(answer: "Answer") -> str:
    from sfumato.query.downloads.tidy import records
    from sfumato.query.notices import cited

    asked = answer.figures
    about = {"title": asked.title, "where": asked.where, "note": answer.counted}
    cites = [f"{asked.title}. {cited(release)}" for release in asked.releases]
    about |= {"caveat": answer.caveat} if answer.caveat else {}
    about |= {"warnings": warnings_of(asked), "citation": cites if len(cites) > 1 else cites[0]}
    return json.dumps(about | {"cells": records(answer)}, indent=2, ensure_ascii=False)
