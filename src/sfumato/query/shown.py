"""How a table looks: one layout for the terminal, the notebook and the page."""

from html import escape
from itertools import product as combinations
from typing import TYPE_CHECKING

from sfumato.query.estimate import Estimate, like, number
from sfumato.release import Withheld

if TYPE_CHECKING:
    from sfumato.query.crosstab import Crosstab


def layout(table: "Crosstab") -> tuple[list[str], list[tuple[list[str], list[Estimate]]]]:
    """The heads of the columns and, row by row, its labels and its estimates."""
    row_axes = table.axes[:-1] if table.has_columns else table.axes
    columns = table.axes[-1].labels if table.has_columns else (table.product.subject.title,)
    heads = [axis.attribute.label for axis in row_axes] + list(columns)
    rows = []
    for place in combinations(*(range(len(axis.codes)) for axis in row_axes)):
        labels = [axis.labels[index] for axis, index in zip(row_axes, place, strict=True)]
        places = [(*place, column) for column in range(len(columns))] if table.has_columns else [place]
        rows.append((labels, [table.at(one) for one in places]))
    return heads, rows


def cell_html(estimate: Estimate) -> str:
    """The number, its margin, its grade; a reader who cannot see it hears one sentence."""
    margin = estimate.moe()
    shown = "withheld" if isinstance(margin, Withheld) else like(margin, estimate.value)
    spoken = f"{number(estimate.value)} {estimate.unit}, plus or minus {shown}, grade {estimate.grade}"
    return (
        f'<td class="g{escape(estimate.grade)}" aria-label="{escape(spoken)}">'
        f'<span class="n">{number(estimate.value)}</span> <span class="moe">± {shown}</span> '
        f'<span class="grade">{escape(estimate.grade)}</span></td>'
    )


def as_text(table: "Crosstab") -> str:
    """The table in columns that line up."""
    heads, rows = layout(table)
    lines = [heads] + [[*labels, *(repr(one) for one in cells)] for labels, cells in rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(heads))]
    names = len(heads) - (len(rows[0][1]) if rows else 0)
    laid = [
        "  ".join(_pad(text, widths[place], left=place < names) for place, text in enumerate(line)).rstrip()
        for line in lines
    ]
    return "\n".join([table.title, "", *laid])


def _pad(text: str, width: int, *, left: bool) -> str:
    return text.ljust(width) if left else text.rjust(width)


def as_html(table: "Crosstab") -> str:
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
