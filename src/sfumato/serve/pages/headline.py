"""What a page says of its table in one sentence, and all that its title names: share, universe, codes and period."""

from sfumato.foreign_text import joined
from sfumato.query.figures import labels_of
from sfumato.query.headline import TableFinding
from sfumato.query.periods import SINCE
from sfumato.query.portable import Portable
from sfumato.serve.pages.layout import Layout
from sfumato.serve.pages.map import mapped_column
from sfumato.serve.pages.order import asked
from sfumato.serve.question import Question

MOST_LABELS = 3
"""The most codes that a title names; of more it says how many there are."""


def headline(layout: Layout) -> str:
    """What the table found, in the language of the page; '' where no sentence holds of it."""
    found = found_in(layout)
    return found.said(layout.look.words) if found else ""


def found_in(layout: Layout) -> TableFinding | None:
    """What the table found; none where no sentence holds of it."""
    if layout.look.change or layout.wrap or len(layout.rows) != 1:
        return None
    table, column = ranked(layout, layout.question) or (None, None)
    return table.headline(column) if table is not None else None


def ranked(layout: Layout, question: Question) -> tuple[Portable, str | None] | None:
    """What a headline is about, and by which column; none where it is about nothing.

    By the column that the rows are sorted by or a map shows; else by totals, of columns where rows are 100%. Over
    periods it is about how the whole changed.
    """
    sort = mapped_column(layout) if layout.look.view == "map" else layout.sorted_by
    if layout.column and sort not in {"", "total"}:
        return asked(question.table(layout.rows, layout.column), layout), sort
    additive = layout.sheet.product.subject.additive
    if layout.timed and additive:
        return asked(question.table(layout.rows, layout.column), layout), None
    if not additive:
        return None if layout.column else (asked(question.table(layout.rows, layout.column), layout), None)
    side = layout.column if layout.share == "row" and layout.column else layout.rows[0]
    totals: Portable = question.table([side])
    return (totals.shares() if layout.look.share else totals), None


def titled(layout: Layout) -> str:
    """What a table is called: its variables, and from when to when changes are."""
    title, change = layout.sheet.titled(layout.names, layout.subject), layout.look.change
    line = layout.sheet.timeline
    if not change or layout.timed:
        since = line.since_named(change)
        key = f"table.changes_{since if since in SINCE else 'since'}"
        return layout.look.words(key, title=title, since=since) if change else title
    since, until = (line.named(one) for one in (line.before(layout.sheet, change), layout.sheet))
    return layout.look.words("table.change_of", title=title, since=since, until=until)


def named_apart(layout: Layout) -> list[str]:
    """What a title names beside the variables: what percentages are of, and the codes that were chosen."""
    words, sheet = layout.look.words, layout.sheet
    of = words(f"build.share_{layout.share}") if layout.share else ""
    parts = [words("table.percent", of=of, unit=sheet.product.subject.unit)] if of else []
    picked = [name for name in layout.names if name in layout.picks and name != sheet.time]
    return parts + [_named(layout, name, layout.picks[name]) for name in picked]


def universe_named(layout: Layout) -> list[str]:
    """What the table is only about, as a title names it."""
    words, sheet = layout.look.words, layout.sheet
    held = {name: codes for name, codes in layout.within.items() if name in sheet.names}
    return [words("table.only_title", what=_named(layout, name, codes)) for name, codes in held.items()]


def _named(layout: Layout, name: str, codes: tuple[str, ...]) -> str:
    """A variable and its codes by their labels, or how many they are."""
    attribute = layout.sheet.attribute(name)
    if len(codes) > MOST_LABELS:
        count = layout.look.words.figure(f"{len(codes):,}")
        return layout.look.words("table.chosen", variable=attribute.label, count=count)
    return joined(": ", [attribute.label, joined(", ", labels_of(codes, attribute))])
