"""Tables of releases in the terminal: of one, or over the periods of several; each number with its error."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.formats import form_of, give, most_of
from sfumato.cli.options import (
    AtLevels,
    Folder,
    Form,
    GroupFiles,
    Language,
    Out,
    OwnGroups,
    Within,
    chosen,
    pairs,
    say_notes,
    say_overlaps,
)
from sfumato.errors import QueryError, nearest

if TYPE_CHECKING:
    from sfumato.query import Crosstab, QueryEngine, SeriesTable
    from sfumato.query.means import Means
    from sfumato.query.portable import Portable
    from sfumato.query.wording import Words

ORDERS = ("falling", "rising")
MOST_SENTENCES = 12
"""The most changes that are told in words below their table."""
ErrorKind = Annotated[
    str, typer.Option("--error", help="The error beside each number: moe90 (± at 90%), se, cv or interval95.")
]


def table(  # noqa: PLR0913, PLR0917 - each is an option of the command
    folder: Folder,
    rows: Annotated[
        str, typer.Option(help="The variables of the rows, for example occupation,sex; the whole unless named.")
    ] = "",
    cols: Annotated[str | None, typer.Option(help="The variable of the columns.")] = None,
    where: Within = None,
    at: AtLevels = None,
    group: OwnGroups = None,
    groups: GroupFiles = None,
    share: Annotated[
        str | None, typer.Option(help="Print shares: of the row, column or whole, or of a variable's totals.")
    ] = None,
    per: Annotated[
        str | None,
        typer.Option(help="Print means: the statistic over this count of the same records, as wages per jobs."),
    ] = None,
    sort: Annotated[
        str | None, typer.Option(help="Sort the rows by what a column shows, or by their total: a code, or total.")
    ] = None,
    order: Annotated[str, typer.Option(help="The order of sorted rows: falling or rising.")] = "falling",
    error: ErrorKind = "moe90",
    zero: Annotated[bool, typer.Option("--zero", help="Show negative numbers as 0, and say what that does.")] = False,
    of: Annotated[str | None, typer.Option(help="Which statistic, where the release has several.")] = None,
    language: Language = "",
    format: Form = None,  # noqa: A002
    out: Out = None,
) -> None:
    """Print a table of a release with the error of every number."""
    import sfumato

    answers, form = sfumato.open(folder, language), form_of(format, out)
    shown, held = chosen(answers, at, group, groups), pairs(where, "--where")
    counts: Crosstab | Means
    if per is None:
        counts = answers.table(_names(rows), cols, held, of, shown, most_of(form))
    else:
        counts = answers.means(of or answers.product().subject.name, _names(rows), cols, held, per, shown)
    if sort is not None:
        counts = _sorted(counts, sort, order, share)
    say_overlaps(counts.axes)
    say_notes(counts.axes)
    asked = counts.shares(share) if share else counts
    give(asked, form, out, error, "" if of else _taken(answers, asked), zero=zero)


def _names(written: str) -> list[str]:
    return [name.strip() for name in written.split(",") if name.strip()]


def _sorted(counts: "Crosstab | Means", sort: str, order: str, share: str | None) -> "Crosstab | Means":
    """The same table, its rows in the order of what a column shows, or of their totals."""
    if order not in ORDERS:
        raise QueryError(f"--order is '{order}'; {nearest(order, ORDERS)}")
    if len(counts.row_axes) != 1 or len(counts.axes) > 2:
        raise QueryError("Rows are sorted where one variable stands in the rows and at most one in the columns.")
    name, rising = counts.row_axes[0].attribute.name, order == "rising"
    if sort == "total":
        whole = counts.margin([name])
        if whole is None:
            raise QueryError(f"{counts.product.subject.title} has no total to sort by; sort by a column.")
        standings = whole.sorted(rising=rising)
    elif not counts.has_columns:
        raise QueryError(f"--sort {sort} names no column, as the table has none; sort by total.")
    else:
        standings = (counts.shares(share) if share else counts).sorted(sort, rising=rising)
    return counts.in_order(name, [one.code for one in standings])


def _taken(answers: "QueryEngine", asked: "Portable") -> str:
    """Which statistic answered a question that named none, and the others that there are."""
    name = asked.product.subject.name
    others = [one for one in answers.statistics if one != name]
    return f"This is '{name}', as --of names no statistic; others are {', '.join(others)}." if others else ""


def series(  # noqa: PLR0913, PLR0917 - each is an option of the command
    folders: Annotated[list[Path], typer.Argument(metavar="DIR…", help="Folders of releases, one a period.")],
    rows: Annotated[
        str, typer.Option(help="The variables of the rows, for example county; the whole unless named.")
    ] = "",
    where: Within = None,
    at: AtLevels = None,
    group: OwnGroups = None,
    groups: GroupFiles = None,
    of: Annotated[str | None, typer.Option(help="Which statistic, where the releases have several.")] = None,
    sum: Annotated[bool, typer.Option("--sum", help="Add the sum of each year, as for wages.")] = False,  # noqa: A002
    mean: Annotated[bool, typer.Option("--mean", help="Add the average of each year, as for jobs.")] = False,
    change: Annotated[
        bool, typer.Option("--change", help="Print changes, each with its error, in percent, and with a verdict.")
    ] = False,
    since: Annotated[
        str, typer.Option(help="What changes are counted from: last (the period before), year, or a period.")
    ] = "last",
    until: Annotated[
        str | None, typer.Option(help="The one period that is compared; all that can be unless named.")
    ] = None,
    last: Annotated[int | None, typer.Option(help="Only the last so many periods.")] = None,
    error: ErrorKind = "moe90",
    language: Language = "",
    format: Form = None,  # noqa: A002
    out: Out = None,
) -> None:
    """Print a table over the periods of several releases, or how it changed, with the error of every number."""
    import sfumato

    together = [name for name, wanted in (("--sum", sum), ("--mean", mean), ("--change", change)) if wanted]
    if len(together) > 1:
        raise QueryError(f"{' and '.join(together)} are asked for together; ask for one at a time.")
    if not change and (since != "last" or until is not None):
        raise QueryError("--since and --until say which change is meant; add --change.")
    opened, form = sfumato.series(sfumato.open(one, language) for one in folders), form_of(format, out)
    opened = opened if last is None else opened.last(last)
    shown, held = chosen(opened.engines[0], at, group, groups), pairs(where, "--where")
    if change:
        asked = opened.compare(_names(rows), held, of, shown, since, until)
    else:
        asked = opened.table(_names(rows), held, of, shown, "sum" if sum else "mean" if mean else None)
    say_overlaps(asked.axes)
    give(asked, form, out, error, _in_words(asked) if change else asked.note)


def _in_words(asked: "SeriesTable") -> str:
    """What is said of each change, of a table that is short enough to be read so, and of all together."""
    from sfumato.query.wording import words

    told = words(asked.language)
    said = _sentences(asked, told) if asked.size <= MOST_SENTENCES else []
    whole = asked.margin([asked.time]) if len(asked.axes) > 1 else None
    if whole is not None and whole.size <= MOST_SENTENCES:
        said += [told("text.in_all", said=one) for one in _sentences(whole, told)]
    return "\n".join(said)


def _sentences(asked: "SeriesTable", told: "Words") -> list[str]:
    """What is said of each change, behind the row that it is of."""
    cells = zip(asked.items(), asked.sentences(), strict=False)
    named = ((codes[:-1], said.said(told)) for (codes, _), said in cells)
    return [f"{', '.join(codes)}: {said}" if codes else said for codes, said in named]
