"""The first page: a search, questions, and the tables; the page of a series; and the files of the look."""

from collections.abc import Sequence

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from sfumato.errors import QueryError
from sfumato.release import Subject
from sfumato.serve.editions import Sheet
from sfumato.serve.pages.questions import questions
from sfumato.serve.pages.site import TYPES, Pages
from sfumato.serve.pages.whole import change_view, total_view
from sfumato.serve.reply import FOREVER, SOON, fresh, named, unchanged


def home(pages: Pages, request: Request) -> Response:
    """A search over everything, questions that the releases answer, and the list of their tables."""
    catalogue = pages.catalogue
    sheets = [sheet for series in catalogue.all_series for sheet in series.sheets]
    return pages.reply(
        request,
        "home.html",
        catalogue.tag,
        lambda look: {
            "catalogue": catalogue,
            "questions": questions(catalogue, look),
            "again": {one for series in catalogue.all_series for one in measured_again(series.sheets)},
            "totals": {sheet.id: total_view(sheet, look) for sheet in sheets},
            "changes": {sheet.id: change_view(sheet, look) for sheet in sheets},
        },
    )


def measured_again(sheets: Sequence[Sheet]) -> list[str]:
    """The tables of a release that count what one before them counts: their own totals would be rivals of its total."""
    seen: list[Subject] = []
    found = []
    for sheet in sheets:
        subject = sheet.product.own.subject
        known = any(subject.counts_as(one) and subject.held_as(one) for one in seen)
        found += [sheet.id] if known and subject.additive else []
        seen.append(subject)
    return found


def series(pages: Pages, request: Request) -> Response:
    """The releases of one name: every period and every version of it, the newest first."""
    try:
        found = pages.catalogue.series(request.path_params["name"])
    except QueryError as error:
        raise HTTPException(404, str(error)) from None
    return pages.reply(request, "series.html", pages.catalogue.tag, lambda _: {"series": found})


def asset(pages: Pages, request: Request) -> Response:
    """A file of the look, by a name from the list made at the start."""
    name = request.path_params["name"]
    if name not in pages.static:
        raise HTTPException(404, "There is no such file here.")
    # A page of another version of the program may name another stamp: it is given what there is, for a short time.
    keep = FOREVER if request.path_params.get("stamp") == pages.look else SOON
    tag = named(request, pages.look)
    given = fresh(pages.static[name], TYPES[name.rpartition(".")[2]], tag, keep=keep)
    return unchanged(request, tag, keep) or given
