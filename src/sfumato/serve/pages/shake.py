"""Shake: the rows of a table as ten other draws of the public law would have shown them, so that noise is seen."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from starlette.requests import Request
from starlette.responses import Response

from sfumato.errors import QueryError
from sfumato.query import Estimate
from sfumato.query.digits import Digits
from sfumato.query.shaken import DRAWS, ShakenRow, can_be_drawn, shaken
from sfumato.query.wording import Words
from sfumato.release import Withheld
from sfumato.serve.address_parameters import unknown
from sfumato.serve.pages.cell import Cell, cell
from sfumato.serve.pages.headline import titled
from sfumato.serve.pages.layout import PARAMETERS, Layout
from sfumato.serve.pages.site import HTML, Pages, sheet_of
from sfumato.serve.reply import fresh, unchanged

MOST_NUMBERS = 400
"""The most numbers of a table whose other draws are shown: ten times as many are drawn."""
ShownDraw = tuple[str, bool, bool]
"""A number, whether it is the largest of its draw, and whether it lies beyond the margin of the published one."""


@dataclass(frozen=True)
class ShakenColumn:
    """One column of a table, or its totals: what it is called, and each row with its cell and its draws."""

    label: str
    rows: tuple[tuple[ShakenRow, Cell, list[ShownDraw]], ...]

    @property
    def beyond(self) -> int:
        """How many draws lie beyond the margin of the published number."""
        return sum(far for _, _, draws in self.rows for _, _, far in draws)

    @property
    def count(self) -> int:
        """How many numbers were drawn."""
        return sum(one is not None for row, _, _ in self.rows for one in row.draws)


def shake(pages: Pages, request: Request) -> Response:
    """Ten other draws beside the published numbers, and what these are and are not."""
    sheet = sheet_of(pages, request)
    tag = pages.tag(request, f"{sheet.edition.tag}-{pages.catalogue.tag}")
    if held := unchanged(request, tag):
        return held
    layout = shaken_layout(Layout.read(sheet, request.query_params.multi_items()))
    columns = [*_columns(layout)]
    if not any(one.count for one in columns):
        raise QueryError("No law of noise is stated for these numbers, so there are no other draws to show.")
    parts = {"layout": layout, "edition": sheet.edition, "sheet": sheet, "title": titled(layout), "columns": columns}
    told = {"beyond": sum(one.beyond for one in columns), "all": sum(one.count for one in columns), "count": DRAWS}
    strange = unknown(request.query_params, PARAMETERS)
    return fresh(pages.page("shake.html", layout.look.lang, strange, **parts, **told), HTML, tag)


def _columns(layout: Layout) -> Iterator[ShakenColumn]:
    """The totals of the rows, then each column by itself."""
    words, question = layout.look.words, layout.question
    yield _column(layout, words("table.total") if layout.column else "", shaken(question.table(layout.rows)))
    if layout.column:
        table = question.table(layout.rows, layout.column)
        for code, label in zip(table.axes[-1].codes, table.axes[-1].labels, strict=True):
            yield _column(layout, label, shaken(table, code))


def _column(layout: Layout, label: str, rows: tuple[ShakenRow, ...]) -> ShakenColumn:
    largest = [
        max((drawn for row in rows if (drawn := row.draws[place]) is not None), default=None) for place in range(DRAWS)
    ]
    words = layout.look.words
    return ShakenColumn(label, tuple((row, _cell(row, layout), _draws(row, largest, words)) for row in rows))


def shaken_layout(layout: Layout) -> Layout:
    """The rows and columns of a table as plain numbers of one release; what cannot be shaken is refused."""
    if len(layout.rows) != 1 or layout.rows[0] == layout.sheet.time or not layout.sheet.product.subject.additive:
        raise QueryError("Other draws are shown of the sums of one row variable; put one in the rows.")
    look = layout.look.but(cell="", hold="", share="", per="", change="", view="table")
    column = None if layout.column == layout.sheet.time else layout.column
    plain = replace(layout, column=column, wrap=None, look=look)
    lengths = [len(plain.question.shown[name]) + len(plain.of(name)) for name in plain.names]
    numbers = lengths[0] * (1 + sum(lengths[1:]))
    if numbers > MOST_NUMBERS:
        raise QueryError(
            f"Other draws are shown of at most {MOST_NUMBERS} numbers, totals included; this table has {numbers:,}: "
            "choose fewer rows or columns, or a higher level."
        )
    return plain


def shakes(layout: Layout) -> bool:
    """Whether a page has other draws to lead to."""
    if layout.sheet.product.exact:
        return False
    try:
        plain = shaken_layout(layout)
        question = plain.question
        tables = [question.table(plain.rows), *([question.table(plain.rows, plain.column)] if plain.column else [])]
    except QueryError:
        return False
    return any(can_be_drawn(figure, table) for table in tables for _, figure in table.items())


def _cell(row: ShakenRow, layout: Layout) -> Cell:
    return cell(row.published, layout.look, scaled=False)


def _draws(row: ShakenRow, largest: Sequence[float | None], words: Words) -> list[ShownDraw]:
    """The draws of a row as they are written, each with whether it leads its draw and lies beyond the margin."""
    found: list[ShownDraw] = []
    margin = row.published.by_noise.moe(0.90) if isinstance(row.published, Estimate) else 0.0
    for place, one in enumerate(row.draws):
        if one is None or not isinstance(row.published, Estimate):
            found.append(("–", False, False))
            continue
        far = not isinstance(margin, Withheld) and abs(one - row.published.value) > margin
        written = words.figure(Digits.of(row.published).number(one))
        found.append((written, one == largest[place], far))
    return found
