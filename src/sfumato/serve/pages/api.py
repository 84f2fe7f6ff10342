"""The page of the API: what can be asked, how, and links to try it for every table; all of it from this server."""

from starlette.requests import Request
from starlette.responses import Response

from sfumato.query import LARGEST_PAGE
from sfumato.query.downloads.formats import FORMATS, LARGEST_DOWNLOAD
from sfumato.serve.address import origin
from sfumato.serve.editions import Sheet
from sfumato.serve.pages.site import Pages
from sfumato.serve.question import Question, data_path, data_query, shown_codes, universe_codes
from sfumato.serve.snippets import snippets


def api(pages: Pages, request: Request) -> Response:
    """The page of the API."""
    current = [sheet for edition in pages.catalogue.editions if edition.current for sheet in edition.sheets]
    sheets = current or [sheet for edition in pages.catalogue.editions for sheet in edition.sheets]
    bounds = {"page": f"{LARGEST_PAGE:,}", "download": f"{LARGEST_DOWNLOAD:,}"}
    bounds["formats"] = ", ".join(one.name for one in FORMATS if one.pieces)
    shown = {
        "trials": [_trial(sheet, pages.base_path) for sheet in sheets],
        "example": snippets(_first(sheets[0]), origin(request), pages.base_path),
        "paths": request.app.openapi()["paths"],
        "formats": FORMATS,
        "bounds": bounds,
    }
    return pages.reply(request, "api.html", pages.catalogue.tag, lambda _: shown)


def _first(sheet: Sheet) -> Question:
    """A small question that every table answers: its first variable, at the top where numbers may be summed."""
    if not sheet.product.attributes:
        return Question(sheet, {}, {})
    first, *others = sheet.product.attributes
    if sheet.product.subject.additive:
        return Question(sheet, shown_codes(sheet, {}, {first.name: ("level0",)}), {})
    held = universe_codes(sheet, {one.name: (sheet.fullest(one.name, one.levels.leaves),) for one in others})
    return Question(sheet, shown_codes(sheet, {first.name: first.levels.leaves[:10]}, {}), held)


def _trial(sheet: Sheet, base: str) -> tuple[Sheet, str, list[tuple[str, str]]]:
    """A table, the address of its metadata, and those to try each format at."""
    address, question = data_path(sheet, base, lasting=False), _first(sheet)
    links = [(one.name, f"{address}?{data_query(question, form=one.name)}") for one in FORMATS]
    return sheet, f"{address.removesuffix('/data')}/metadata", links
