"""Questions: what the first page asks of the releases and answers by public rules, each only where its answer holds.

One about change, one about a share and one about the largest, each of the first series that answers it and was not
asked before. A change is shown if there is a verdict of it; which row leads, or which may, by the test that headlines
are made with. What is asked is chosen by what the releases are about, never by what their numbers are: of many
questions those with a striking answer would be false more often than each by itself.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from markupsafe import Markup

from sfumato.errors import QueryError
from sfumato.foreign_text import joined
from sfumato.pictures.mark import Mark
from sfumato.pictures.sketch import sketched_line, sketched_rows
from sfumato.query import Change, Estimate
from sfumato.query.change import UNSAID
from sfumato.query.figures import inside_sentence
from sfumato.query.headline import MOST_ROWS, Headline, foremost_first
from sfumato.query.periods import LAST
from sfumato.query.plot import in_language, mark_of
from sfumato.schema import Attribute
from sfumato.serve.catalogue import Catalogue, ReleaseSeries
from sfumato.serve.code_list import code_list
from sfumato.serve.editions import Sheet
from sfumato.serve.pages.headline import ranked
from sfumato.serve.pages.layout import Layout, Pair
from sfumato.serve.pages.look import Look
from sfumato.serve.pages.whole import whole_of
from sfumato.serve.question import Question

MOST, SHOWN_ROWS, LAST_PERIODS = 3, 3, 8
_FEW_LEVELS = 8


@dataclass(frozen=True)
class AskedQuestion:
    """A question with its answer in words, the sketch of what it is seen by, and the page that says more."""

    title: str
    claim: str
    answer: str
    """What the claim rests on."""
    sketch: Markup
    href: str
    topic: str
    """A name that stands in the answer, for who would look for something like it."""
    verdict: str = ""


Ask = Callable[[Sheet, Look], AskedQuestion | None]


def questions(catalogue: Catalogue, look: Look) -> list[AskedQuestion]:
    """At most three questions, each of another series as far as there are enough."""
    usable = [one for one in catalogue.all_series if one.current.current and not one.current.marred]
    sheets = [sheet for series in usable for sheet in _main(series)]
    found: dict[int, AskedQuestion] = {}
    for ask, last in ((changed, None), (shared, _unsought), (leading, _undrawn), (leading, _undrawn)):
        free = [one for one in sheets if id(one) not in found]
        for sheet, asked in _answers(ask, sorted(free, key=last) if last else free, look):
            found[id(sheet)] = asked
            break
    return [*found.values()][:MOST]


def _answers(ask: Ask, sheets: Sequence[Sheet], look: Look) -> Iterator[tuple[Sheet, AskedQuestion]]:
    for sheet in sheets:
        try:
            asked = ask(sheet, look)
        except QueryError:  # the release does not answer this one
            continue
        if asked is not None:
            yield sheet, asked


def _main(series: ReleaseSeries) -> list[Sheet]:
    """The first table of a series that may be summed."""
    return [one for one in series.main_first if one.product.subject.additive][:1]


def _unsought(sheet: Sheet) -> bool:
    """Whether no trait of a table has synonyms, by which readers would look for its levels."""
    return not any(len(one.synonyms) for one in sheet.product.attributes[1:])


def _undrawn(sheet: Sheet) -> bool:
    return not any(_fits(sheet, one) and one.name in sheet.edition.release.shapes for one in sheet.product.attributes)


def changed(sheet: Sheet, look: Look) -> AskedQuestion | None:
    """Whether the one number over everything changed since the period before."""
    line, words = sheet.timeline, look.words
    if not (sheet.time and line.has_before(sheet, LAST)):
        return None
    change, whole = Question(sheet, {}, {}, since=LAST).table([]).figure(0), whole_of(sheet)
    if not isinstance(change, Change) or change.verdict() == UNSAID or not isinstance(whole, Estimate):
        return None
    told = [(name, whole_of(one)) for name, one in [*line.periods.items()][-LAST_PERIODS:]]
    marks = [_mark(one, name, look) for name, one in told if isinstance(one, Estimate)]
    if not all(mark.stated for mark in marks):
        return None
    said = joined(" ", filter(None, [change.sentence().said(words), change.caveats.sentence(look.language)]))
    now = joined("", [_mark(whole, "", look).shown, " ", sheet.product.subject.unit, "."])
    title = words("home.ask_change", title=sheet.called, since=line.before(sheet, LAST).period)
    href = _address(sheet, _query([("change", LAST)], look))
    return AskedQuestion(title, now, said, sketched_line(marks, title), href, sheet.called, change.verdict())


def shared(sheet: Sheet, look: Look) -> AskedQuestion | None:
    """In which row of the first variable a level has the largest share: the last level of a variable with few.

    Of several such variables it is the first whose levels have synonyms, as readers look for these.
    """
    rows, *others = sheet.product.attributes or (None,)
    if rows is None or not _fits(sheet, rows):
        return None
    few = [one for one in others if not one.levels.depth and 2 < len(one.levels.codes) <= _FEW_LEVELS]
    for trait in sorted(few, key=lambda one: not len(one.synonyms)):
        if not sheet.source.refusal({rows.name, trait.name}):
            code = trait.levels.leaves[-1]
            placed = [("rows", rows.name), ("cols", trait.name), ("share", "row"), ("sort", code)]
            level = joined(": ", [trait.label, trait.levels.label(code)])
            title = look.words("home.ask_share", level=level, variable=_named(rows, look))
            return _ranked(sheet, placed, title, look)
    return None


def leading(sheet: Sheet, look: Look) -> AskedQuestion | None:
    """Which row of a variable has the largest number: of one with shapes, else of the first."""
    drawn = sheet.edition.release.shapes
    fitting = [one for one in sheet.product.attributes if _fits(sheet, one)]
    for rows in sorted(fitting, key=lambda one: one.name not in drawn)[:1]:
        title = look.words("home.ask_largest", title=sheet.called, variable=_named(rows, look))
        return _ranked(sheet, [("rows", rows.name)], title, look)
    return None


def _named(variable: Attribute, look: Look) -> str:
    return inside_sentence(variable.label, look.language)


def _fits(sheet: Sheet, rows: Attribute) -> bool:
    return 2 < len(code_list(rows.levels, "level0")) <= MOST_ROWS and not sheet.source.refusal({rows.name})


def _ranked(sheet: Sheet, placed: list[Pair], title: str, look: Look) -> AskedQuestion | None:
    """The first rows, those that may be the largest before the others, each by its number, and the headline."""
    layout = Layout.read(sheet, [*placed, *look.pairs()])
    table, column = ranked(layout, layout.question) or (None, None)
    found = table.headline(column) if table is not None else None
    if table is None or not isinstance(found, Headline):
        return None
    places, labels = table.rows_of(column), table.axes[0].labels
    first = foremost_first(table.sorted(column))[:SHOWN_ROWS]
    top = [(labels[one.place], table.figure(int(places[one.place]))) for one in first]
    marks = [_mark(one, label, look) for label, one in top if isinstance(one, Estimate)]
    said = f"{found.claim(look.words)}:", found.numbers(look.words)
    sketch = sketched_rows(marks, title)
    return AskedQuestion(title, *said, sketch, _address(sheet, layout.address()), found.leaders[0].label)


def _mark(estimate: Estimate, label: str, look: Look) -> Mark:
    return in_language(mark_of(estimate, label, language=look.language), look.words.figure)


def _address(sheet: Sheet, query: str) -> str:
    return f"/{quote(sheet.id, safe='~')}?{query}"


def _query(pairs: Sequence[Pair], look: Look) -> str:
    return "&".join(f"{name}={value}" for name, value in [*pairs, *look.pairs()])
