"""How a table looks: one layout for the terminal, the notebook and the page."""

from html import escape
from itertools import product as combinations
from typing import TYPE_CHECKING

from sfumato.query.estimate import Estimate
from sfumato.query.ratio import Refused
from sfumato.release import Withheld
from sfumato.release.figures import like, number

if TYPE_CHECKING:
    from sfumato.query.crosstab import Crosstab
    from sfumato.query.shares import Shares

Figure = Estimate | Refused
NO_SUCH = "no such combination"
"""What is said of a cell that nothing can stand in."""


def layout(table: "Crosstab | Shares") -> tuple[list[str], list[tuple[list[str], list[Figure]]]]:
    """The heads of the columns and, row by row, its labels and its estimates."""
    row_axes = table.axes[:-1] if table.has_columns else table.axes
    columns = table.axes[-1].labels if table.has_columns else (table.product.subject.title,)
    heads = [axis.attribute.label for axis in row_axes] + list(columns)
    rows: list[tuple[list[str], list[Figure]]] = []
    for place in combinations(*(range(len(axis.codes)) for axis in row_axes)):
        labels = [axis.labels[index] for axis, index in zip(row_axes, place, strict=True)]
        places = [(*place, column) for column in range(len(columns))] if table.has_columns else [place]
        rows.append((labels, [table.at(one) for one in places]))
    return heads, rows


def figure(one: Figure) -> tuple[str, str]:
    """The number and its margin as they are read; a share in percent, and a dash for one that could be anything."""
    if isinstance(one, Refused) or one.cells == 0:
        return "–", ""
    margin = one.moe()
    if one.unit == "share":
        shown = "withheld" if isinstance(margin, Withheld) else f"{100 * margin:.1f}"
        return f"{100 * one.value:.1f}%".replace("-", "−"), shown
    return number(one.value), "withheld" if isinstance(margin, Withheld) else like(margin, one.value)


def text(one: Figure) -> str:
    """The number, its margin and its grade in one line."""
    value, margin = figure(one)
    return value if isinstance(one, Refused) or one.cells == 0 else f"{value} ± {margin} {one.grade}"


def cell_html(one: Figure) -> str:
    """The number, its margin, its grade; a reader who cannot see it hears one sentence."""
    value, margin = figure(one)
    if isinstance(one, Refused):
        return f'<td class="g-" aria-label="{escape(one.reason)}"><span class="n">{value}</span></td>'
    if one.cells == 0:
        return f'<td class="g-" aria-label="{NO_SUCH}"><span class="n">{value}</span></td>'
    spoken = f"{value} {one.unit}, plus or minus {margin}, grade {one.grade}"
    return (
        f'<td class="g{escape(one.grade)}" aria-label="{escape(spoken)}">'
        f'<span class="n">{value}</span> <span class="moe">± {margin}</span> '
        f'<span class="grade">{escape(one.grade)}</span></td>'
    )


def as_text(table: "Crosstab | Shares") -> str:
    """The table in columns that line up."""
    heads, rows = layout(table)
    lines = [heads] + [[*labels, *(text(one) for one in cells)] for labels, cells in rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(heads))]
    names = len(heads) - (len(rows[0][1]) if rows else 0)
    laid = [
        "  ".join(_pad(text, widths[place], left=place < names) for place, text in enumerate(line)).rstrip()
        for line in lines
    ]
    return "\n".join([table.title, "", *laid])


def _pad(text: str, width: int, *, left: bool) -> str:
    return text.ljust(width) if left else text.rjust(width)


def as_html(table: "Crosstab | Shares") -> str:
    """The table as HTML, the cells marked as on the page."""
    heads, rows = layout(table)
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in heads)
    body = "".join(
        "<tr>"
        + "".join(f'<th scope="row">{escape(label)}</th>' for label in labels)
        + "".join(map(cell_html, cells))
        + "</tr>"
        for labels, cells in rows
    )
    return f"<table><caption>{escape(table.title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
