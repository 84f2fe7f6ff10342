"""The first page: the releases and their tables; and the files of the look."""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from sfumato.query.wording import languages
from sfumato.serve.pages.look import Look
from sfumato.serve.pages.site import HTML, TYPES, Pages
from sfumato.serve.pages.view import total_view
from sfumato.serve.reply import fresh, unchanged


def language(request: Request) -> str:
    """The language that an address asks for, if there is a file for it."""
    asked = request.query_params.get("lang", "en")
    return asked if asked in languages() else "en"


def home(pages: Pages, request: Request) -> Response:
    """The releases and their tables."""
    lang, tag = language(request), pages.tag(pages.catalogue.tag)
    held = unchanged(request, tag)
    if held:
        return held
    sheets = [sheet for series in pages.catalogue.all_series for sheet in series.current.sheets]
    totals = {sheet.id: total_view(sheet, Look(lang=lang)) for sheet in sheets}
    return fresh(pages.page("home.html", lang, catalogue=pages.catalogue, totals=totals), HTML, tag)


def asset(pages: Pages, request: Request) -> Response:
    """A file of the look, by a name from the list made at the start."""
    name = request.path_params["name"]
    if name not in pages.static:
        raise HTTPException(404, "There is no such file here.")
    tag = pages.look
    return unchanged(request, tag) or fresh(pages.static[name], TYPES[name.rpartition(".")[2]], tag)
