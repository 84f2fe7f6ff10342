"""The pages: server-rendered, their address is their state, and they work without a script."""

from collections.abc import Callable
from functools import partial

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from sfumato.schema.languages import OWN
from sfumato.serve.pages.api import api
from sfumato.serve.pages.budget import budget
from sfumato.serve.pages.card import card, certificate
from sfumato.serve.pages.embed import embed, oembed
from sfumato.serve.pages.find import find
from sfumato.serve.pages.help import help_page
from sfumato.serve.pages.home import asset, home, series
from sfumato.serve.pages.pick import pick, picked
from sfumato.serve.pages.shake import shake
from sfumato.serve.pages.site import Pages, language
from sfumato.serve.pages.table import table
from sfumato.serve.pages.take import picture
from sfumato.serve.pages.within import within, without_body

__all__ = ["Pages", "routes"]

Page = Callable[[Pages, Request], Response]
ADDRESSES: dict[str, Page] = {
    "/": home,
    "/static/{name}": asset,
    "/static/{stamp}/{name}": asset,
    "/api": api,
    "/budget": budget,
    "/find": find,
    "/help": help_page,
    "/oembed": oembed,
    "/privacy/{release}": card,
    "/privacy/{release}/certificate.json": certificate,
    "/series/{name}": series,
    "/{table_id}": table,
    "/{table_id}/embed": embed,
    "/{table_id}/pick": pick,
    "/{table_id}/picked": picked,
    "/{table_id}/picture.{form}": picture,
    "/{table_id}/shake": shake,
    "/{table_id}/within": without_body,
}
"""In the order in which they are tried."""
SENT: dict[str, Page] = {"/{table_id}/within": within}
"""What a form sends in a body; each leads to an address that holds it."""


def routes(pages: Pages) -> APIRouter:
    found = APIRouter(include_in_schema=False)
    for address, page in ADDRESSES.items():
        found.add_route(address, partial(_in_language, page, pages), methods=["GET"])
    for address, page in SENT.items():
        found.add_route(address, partial(_with_body, partial(_in_language, page, pages)), methods=["POST"])
    return found


def _in_language(page: Page, pages: Pages, request: Request) -> Response:
    """A page over the releases in the language that its address asks for."""
    return page(pages.in_language(language(request) or OWN), request)


async def _with_body(page: Callable[[Request], Response], request: Request) -> Response:
    """A page that reads the body of its request, which the guard has bounded, before it begins to work."""
    request.state.body = await request.body()
    return await run_in_threadpool(page, request)
