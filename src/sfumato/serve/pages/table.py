"""The table builder: a form, the table or picture it asked for, one cell in detail, and how to take it along."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sfumato.errors import QueryError
from sfumato.foreign_text import joined
from sfumato.query import LARGEST_PAGE, Change, number
from sfumato.query.change import LEVEL, REAL
from sfumato.query.figures import labels_of
from sfumato.query.periods import when
from sfumato.query.wording import grade_words
from sfumato.serve.address import origin
from sfumato.serve.address_parameters import unknown
from sfumato.serve.editions import Sheet
from sfumato.serve.pages.area import area_field
from sfumato.serve.pages.cell import MARK, exceeds
from sfumato.serve.pages.charts import chart_of, charts_of
from sfumato.serve.pages.detail import detail_view
from sfumato.serve.pages.embed import Embedded, offered
from sfumato.serve.pages.fitting import as_table, fitting
from sfumato.serve.pages.form import Form
from sfumato.serve.pages.headline import found_in, named_apart, titled
from sfumato.serve.pages.help import answers
from sfumato.serve.pages.layout import PARAMETERS, Layout
from sfumato.serve.pages.link_room import has_room
from sfumato.serve.pages.look import NAMES, Look
from sfumato.serve.pages.map import mapped_column, own_left_out, own_problem
from sfumato.serve.pages.picture import MOST_LINES, in_both_widths, rows_drawn, views_of
from sfumato.serve.pages.promise import Promised
from sfumato.serve.pages.shake import shakes
from sfumato.serve.pages.site import HTML, Pages, language, sheet_of
from sfumato.serve.pages.take import taken
from sfumato.serve.pages.view import TableView, table_view
from sfumato.serve.reply import fresh, unchanged


def table(pages: Pages, request: Request) -> Response:
    """The page of one table, in the state that its address says."""
    sheet = sheet_of(pages, request)
    tag = pages.tag(request, f"{sheet.edition.tag}-{pages.catalogue.tag}")
    try:
        layout = Layout.read(sheet, request.query_params.multi_items())
        if held := unchanged(request, tag):
            return held
        strange = (*unknown(request.query_params, PARAMETERS), *layout.idle)
        page = pages.page("table.html", layout.look.lang, strange, **shown(layout, pages, request))
        return fresh(page, HTML, tag)
    except QueryError as error:
        return fresh(refused(pages, request, sheet, str(error)), HTML, tag, 400)


def refused(pages: Pages, request: Request, sheet: Sheet, problem: str) -> str:
    """The page that says why not; its form has as much of the address as can be chosen."""
    problem = sheet.edition.release.says(problem)
    for layout in _readable(sheet, request):
        try:
            # What is chosen is looked up as the form is written.
            return pages.page("table.html", layout.look.lang, **frame(layout), problem=problem, view=None)
        except QueryError:
            continue
    first = Layout.first(sheet, Look(lang=language(request)))
    return pages.page("table.html", first.look.lang, **frame(first), problem=problem, view=None)


def _readable(sheet: Sheet, request: Request) -> Iterator[Layout]:
    """What the address asks for, whole, without its look, and without all but its variables, as far as each is read."""
    pairs, lang = request.query_params.multi_items(), [("lang", language(request))]
    plain = [(key, value) for key, value in pairs if key.lower() not in NAMES]
    placed = [(key, value) for key, value in pairs if key.lower() in {"rows", "cols", "wrap"}]
    for some in (pairs, plain + lang, placed + lang):
        try:
            layout = Layout.read(sheet, some)
            if layout.question:
                yield layout
        except QueryError:
            continue


def shown(layout: Layout, pages: Pages, request: Request, brought: str = "", problem: str = "") -> dict[str, Any]:
    """Everything on the page of a table; of an area that was brought and cannot be read, also why."""
    layout, undrawn = fitting(layout)
    view, unread = table_view(layout), own_problem(layout)
    drawn = replace(layout, look=layout.look.but(own="")) if unread else layout
    try:
        pictures = in_both_widths(drawn) if layout.look.view != "table" else []
    except QueryError as error:  # of numbers that are all withheld, for one
        layout, undrawn = as_table(layout), layout.sheet.product.says(str(error))
        pictures = []
    graded = grade_words(layout.sheet.edition.release.manifest.grades, layout.look.language)
    embedded = Embedded(layout, view, pictures)
    return frame(layout) | {
        "problem": None,
        "view": view,
        "title": titled(layout),
        "named": embedded.title,
        "periods": _periods(layout, view),
        "headline": found_in(layout),
        "apart": named_apart(layout),
        "said": _said(layout, view),
        "within": _within(layout),
        "grades": {name: words for name, words in graded.items() if name != "-" or "-" in view.grades},
        "threshold": _threshold(layout, view),
        "limit": LARGEST_PAGE,
        "linked": has_room(layout, sum(len(block.columns) for block in view.blocks)),
        "views": views_of(layout),
        "charts": charts_of(layout),
        "chart": chart_of(layout),
        "pictures": pictures,
        "rows_drawn": rows_drawn(layout) if (layout.look.view, chart_of(layout)) == ("chart", "line") else [],
        "most_lines": MOST_LINES,
        "mapped_column": mapped_column(layout) if layout.look.view == "map" else "",
        "own_problem": unread or own_left_out(layout),
        "undrawn": undrawn,
        "area": area_field(layout, brought, problem),
        "detail": detail_view(layout),
        "taken": taken(layout, origin(request), pages.base_path),
        "shakes": shakes(layout),
        "embedding": offered(pages, embedded, origin(request)),
    }


def frame(layout: Layout) -> dict[str, Any]:
    """What the page shows whether or not there is a table on it."""
    sheet = layout.sheet
    return {
        "sheet": sheet,
        "edition": sheet.edition,
        "layout": layout,
        "look": layout.look,
        "form": Form(layout),
        "privacy": Promised(sheet.edition),
        "answers": answers(sheet, layout.look.language),
    }


def _threshold(layout: Layout, view: TableView) -> str:
    """What is said of numbers that the publisher's own rule holds for too uncertain, if there are some."""
    manifest, words = layout.sheet.edition.release.manifest, layout.look.words
    largest = manifest.largest_cv
    if largest is None or layout.look.change or not any(exceeds(one, largest) for one in view.estimates):
        return ""
    mark = words("table.grade_c") if largest == manifest.grades["B"] else MARK
    return words("table.threshold", mark=mark, share=words.figure(f"{100 * largest:.3g}%"))


def _said(layout: Layout, view: TableView) -> str:
    """What changed in all, and how many of the changes shown are real, totals among them."""
    words, changes = layout.look.words, view.verdicts
    if not changes:
        return ""
    real = changes.count(REAL)
    numbers = {"all": len(changes), "chance": round(len(changes) * (1 - LEVEL), 1)}
    told = {name: words.figure(number(one)) for name, one in numbers.items()}
    counted = words.counted("table.real", real, **told) if len(changes) > 1 else ""
    if layout.timed or not layout.sheet.product.subject.additive:
        return counted
    whole = layout.question.table([]).figure(0)
    total = words("text.in_all", said=whole.sentence().said(words)) if isinstance(whole, Change) else ""
    return joined(" ", filter(None, [total, counted]))


def _periods(layout: Layout, view: TableView) -> str:
    """The period of the table, or the first and the last."""
    named = [release.manifest.period for table in view.tables for release in table.releases]
    ordered = sorted(dict.fromkeys(named), key=when)
    return ordered[0] if len(ordered) == 1 else layout.look.words("error.between", low=ordered[0], high=ordered[-1])


def _within(layout: Layout) -> list[tuple[str, str]]:
    """The universe in words, the table's own first."""
    known = {one.name: one for one in layout.sheet.edition.release.attributes}
    held = {name: codes for name, codes in layout.within.items() if name in layout.sheet.names}
    pairs = [*layout.sheet.product.subject.universe.items(), *held.items()]
    return [
        (known[name].label if name in known else name, joined(", ", labels_of(codes, known.get(name))))
        for name, codes in pairs
    ]
