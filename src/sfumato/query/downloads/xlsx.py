"""XLSX: the table as shown with its errors, the tidy table, and a sheet that says what it is and how to cite it."""

import io
import math
import tomllib
from datetime import datetime
from pathlib import Path
from typing import Any

from sfumato.errors import QueryError
from sfumato.query.answer import Answer
from sfumato.query.change import Change
from sfumato.query.digits import Digits
from sfumato.query.downloads.about import about
from sfumato.query.downloads.tidy import filled, harmless, lines
from sfumato.query.estimate import Estimate, Figure
from sfumato.query.layout import Shown, shown
from sfumato.query.notices import cited
from sfumato.query.wording import words
from sfumato.release import NoNumber, stated
from sfumato.release.figures import Rounding

_OPTIONS = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
_LONGEST = 32_767
"""The most characters that a cell of a spreadsheet holds."""
_FORMATS: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("xlsx.toml").read_text("utf-8"))


class _Book:
    """A workbook whose texts can never be formulas and whose bytes depend on its content alone."""

    def __init__(self, created: str) -> None:
        import xlsxwriter

        self.file = io.BytesIO()
        self.book = xlsxwriter.Workbook(self.file, _OPTIONS)
        stamp = datetime.fromisoformat(created).replace(tzinfo=None)
        self.book.set_properties({"created": stamp, "comments": "Every number carries its error."})
        self.formats = {name: self.book.add_format(look) for name, look in _FORMATS.items()}
        # The mark that a spreadsheet itself sets before a text that looks like a formula.
        self.quoted = {name: self.book.add_format({**look, "quote_prefix": True}) for name, look in _FORMATS.items()}

    def put(self, sheet: Any, row: int, column: int, value: Any, look: str = "text") -> None:
        """Write one cell: a text as a text, a number as a number, nothing where there is none."""
        if isinstance(value, str):
            marked = self.quoted if harmless(value) != value else self.formats
            sheet.write_string(row, column, value[:_LONGEST], marked[look])
        elif value is not None and math.isfinite(value):
            sheet.write_number(row, column, value, self.formats[look])

    def put_seen(self, sheet: Any, row: int, column: int, value: float, digits: Digits, way: Rounding = round) -> None:
        """Write a number with the digits that it is seen with."""
        written = digits.written
        if written not in self.formats:
            self.formats[written] = self.book.add_format({"num_format": written})
        self.put(sheet, row, column, digits.rounded(value, way), written)

    def closed(self) -> bytes:
        self.book.close()
        return self.file.getvalue()


def write(answer: Answer) -> bytes:
    """The workbook of an answer."""
    book, said = _Book(answer.manifest.created), words(answer.language).listed("sheet")
    _write_table(book, book.book.add_worksheet(said["table"]), answer)
    _write_tidy(book, book.book.add_worksheet(said["tidy"]), answer)
    _write_about(book, book.book.add_worksheet(said["about"]), answer)
    return book.closed()


def _write_table(book: _Book, sheet: Any, answer: Answer) -> None:
    """The title and every notice, the heads, then for each cell its estimate, its margin of error and its grade."""
    said, row = words(answer.language), 0
    laid = shown(answer.figures, answer.placement, said("sheet.total"), said("sheet.total_all"))
    for notice in answer.notices:
        book.put(sheet, row, 0, notice, "notice")
        row += 1
    book.put(sheet, row, 0, answer.title, "title")
    parts = (answer.figures.unit, answer.periods, answer.universe_words)
    book.put(sheet, row + 1, 0, ", ".join(part for part in parts if part))
    if answer.caveat:
        row += 1
        book.put(sheet, row + 1, 0, answer.caveat, "notice")
    row = _write_heads(book, sheet, row + 3, laid, answer)
    side = max(1, len(laid.stub))
    for place, labels in enumerate(laid.rows):
        for at, label in enumerate(labels):
            book.put(sheet, row + place, at, label)
        for at, column in enumerate(laid.columns):
            _write_cell(book, sheet, row + place, side + 3 * at, column.figures[place], answer)
    sheet.freeze_panes(row, side)
    sheet.set_column(0, side - 1, 28)
    row += len(laid.rows) + 1
    for note in (*_notes(answer), *map(cited, answer.figures.releases)):
        book.put(sheet, row, 0, note)
        row += 1


def _notes(answer: Answer) -> list[str]:
    """Why cells hold no number and why errors are withheld."""
    return [*(f"{one.code}: {one.reason}" for one in answer.figures.missing), *answer.unsaid, *answer.remarks]


def _write_heads(book: _Book, sheet: Any, row: int, laid: Shown, answer: Answer) -> int:
    said, side = words(answer.language), max(1, len(laid.stub))
    depth = max((len(column.heads) for column in laid.columns), default=0)
    for at, column in enumerate(laid.columns):
        for level, head in enumerate(column.heads):
            book.put(sheet, row + level, side + 3 * at, head, "head")
    for at, name in enumerate(laid.stub):
        book.put(sheet, row + depth, at, name, "head")
    for at in range(len(laid.columns)):
        judged = "metric.verdict" if answer.changes else "metric.grade"
        for step, key in enumerate(("metric.estimate", f"sheet.{answer.error}", judged)):
            book.put(sheet, row + depth, side + 3 * at + step, said(key), "head")
    return row + depth + 1


def _write_cell(book: _Book, sheet: Any, row: int, column: int, figure: Figure, answer: Answer) -> None:
    """The estimate, the error that was chosen and its grade or verdict, or the mark of a number that is missing."""
    if isinstance(figure, NoNumber):
        book.put(sheet, row, column + 2, figure.code, "grade")
        return
    digits = Digits.of(figure)
    book.put_seen(sheet, row, column, figure.value, digits)
    if answer.error == "interval95":
        book.put(sheet, row, column + 1, _interval(figure, digits, answer.language))
    else:
        _write_error(book, sheet, (row, column + 1), figure, answer.error)
    judged = words(answer.language)(f"verdict.{figure.verdict()}") if isinstance(figure, Change) else figure.grade
    book.put(sheet, row, column + 2, judged, "grade")


def _write_error(book: _Book, sheet: Any, place: tuple[int, int], figure: Estimate, kind: str) -> None:
    """One number as the error of another; nothing where it is withheld or has no end."""
    error = stated({"moe90": figure.moe(0.90), "se": figure.se, "cv": figure.cv}[kind])
    if error is not None and math.isfinite(error):
        digits = Digits(None, percent=True) if kind == "cv" else Digits.of(figure).of_error(error)
        book.put_seen(sheet, *place, error, digits, math.ceil if kind == "moe90" else round)


def _interval(figure: Estimate, digits: Digits, language: str) -> str:
    """Both ends of the 95% interval; nothing where it is withheld."""
    said, sign = words(language), "%" if digits.percent else ""
    try:
        low, high = (said.figure(f"{end}{sign}") for end in digits.ends(*figure.interval(0.95)))
    except QueryError:
        return ""
    return said("sheet.between", low=low, high=high)


def _write_tidy(book: _Book, sheet: Any, answer: Answer) -> None:
    for column, (name, values) in enumerate(filled(lines(answer, mark=False)).items()):
        book.put(sheet, 0, column, name, "head")
        for row, value in enumerate(values):
            book.put(sheet, row + 1, column, value)
    sheet.freeze_panes(1, 0)


def _write_about(book: _Book, sheet: Any, answer: Answer) -> None:
    sheet.set_column(0, 0, 34)
    sheet.set_column(1, 1, 110)
    for row, (what, said) in enumerate(about(answer)):
        book.put(sheet, row, 0, what, "head")
        book.put(sheet, row, 1, said, "words")
