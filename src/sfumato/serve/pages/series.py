"""The page of a series: every period and every version of it, the newest first."""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from sfumato.errors import QueryError
from sfumato.serve.pages.home import language
from sfumato.serve.pages.site import HTML, Pages
from sfumato.serve.reply import fresh, unchanged


def series(pages: Pages, request: Request) -> Response:
    """The releases of one name."""
    try:
        found = pages.catalogue.series(request.path_params["name"])
    except QueryError as error:
        raise HTTPException(404, str(error)) from None
    lang, tag = language(request), pages.tag(pages.catalogue.tag)
    return unchanged(request, tag) or fresh(pages.page("series.html", lang, series=found), HTML, tag)
