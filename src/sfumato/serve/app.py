"""The application: verified releases in, a read-only ASGI application out."""

import json
import re
from collections.abc import Sequence
from functools import partial
from http import HTTPStatus
from pathlib import Path
from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Scope

from sfumato import __version__
from sfumato.errors import QueryError, ReleaseError
from sfumato.serve.address import Door
from sfumato.serve.api import router
from sfumato.serve.cache import Cache, Remembering
from sfumato.serve.catalogue import Catalogue
from sfumato.serve.files import ReleaseFiles
from sfumato.serve.guard import Guarded
from sfumato.serve.languages import Negotiated
from sfumato.serve.limits import Running
from sfumato.serve.log import FAULT, Logged, Noted
from sfumato.serve.overload import Refusals, Shedding
from sfumato.serve.pages import Pages, routes
from sfumato.serve.pages.site import NO_PAGE, language
from sfumato.serve.purging import Purgeable
from sfumato.serve.reply import for_programs, fresh, named, problem, unchanged
from sfumato.serve.sending import Paced
from sfumato.serve.turns import Turns
from sfumato.serve.watching import Watching

NO_ADDRESS = "Nothing is served at this address; the page /api lists all that are."
DESCRIPTION = (
    "Statistics with formal privacy, each number with its error, in the shapes of PxWebApi 2. "
    "Noise was drawn once, before publication: the same question always has the same answer, and asking costs nothing."
)


def app(folders: Sequence[Path | str], base_path: str = "") -> ASGIApp:
    """Serve release folders under a path; each is verified first, and one that was altered refuses the start."""
    return Watching(Catalogue.open(folders), partial(over, base_path=base_path))


def over(catalogue: Catalogue, base_path: str = "", running: Running | None = None) -> ASGIApp:
    """The application over releases that are open already."""
    running = running or Running()
    base = keyed(base_path, running.key)
    servers = [{"url": base}] if base else None
    inner = FastAPI(
        title="Sfumato", version=__version__, description=DESCRIPTION, servers=servers, openapi_url=None, docs_url=None,
        redoc_url=None,
    )  # fmt: skip
    inner.router.redirect_slashes = False  # it would name whatever host the request names
    inner.router.routes.append(Route("/openapi.json", partial(_document, inner, catalogue), include_in_schema=False))
    pages = Pages(catalogue, base, still=running.still)
    if not running.still:
        catalogue.finder.prepare()
    files = ReleaseFiles(catalogue)
    parts = router(catalogue, base, running.limits, files), routes(pages)
    for part in parts:
        inner.include_router(part)
    inner.router.routes.append(files.route)
    _refuse_in_words(inner, pages, [files.route, *(one for part in parts for one in part.routes)])
    words = Refusals(problem, pages.problem)
    fronted = _fronted(Purgeable(inner, catalogue), words, running, zips=not catalogue.private)
    fronted = Negotiated(fronted, catalogue, base)
    door = Door(running.origin, running.names)
    guarded = Guarded(fronted, base, door, pages.problem, private=catalogue.private, keyed=bool(running.key))
    return Logged(guarded, base, running.log) if running.log else guarded


def _document(inner: FastAPI, catalogue: Catalogue, request: Request) -> Response:
    """The document of the interface, which readers and caches may keep as they keep answers."""
    tag = named(request, catalogue.tag)
    return unchanged(request, tag) or fresh(json.dumps(inner.openapi(), ensure_ascii=False), "application/json", tag)


def _fronted(inner: ASGIApp, words: Refusals, running: Running, *, zips: bool) -> ASGIApp:
    """From the outside in: slow readers are let go, greedy ones told so, what is kept is given, all else waits."""
    noted, turns = Noted(inner), Turns(running.limits, buckets=running.buckets)
    remembering = Remembering(noted, Cache(running.limits.cache_bytes), turns, zips=zips)
    return Paced(Shedding(remembering, noted, turns, words), running.limits)


def _refuse_in_words(inner: FastAPI, pages: Pages, there: Sequence[BaseRoute]) -> None:
    """Every refusal says what was asked, why not, and what would work: as JSON below /api, as a page elsewhere."""

    def refused(request: Request, status: int, detail: str) -> Response:
        path = request.scope["path"].removeprefix(pages.base_path)
        if for_programs(path):
            return problem(status, detail)
        return pages.problem(status, detail, path, language(request))

    @inner.exception_handler(QueryError)
    async def cannot_be_answered(request: Request, error: QueryError) -> Response:
        return refused(request, 400, str(error))

    @inner.exception_handler(RequestValidationError)
    async def not_understood(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        return problem(400, f"{first['loc'][-1]}: {first['msg']}.")

    @inner.exception_handler(Exception)
    async def broken(_: Request, __: Exception) -> Response:
        return problem(500, FAULT)

    @inner.exception_handler(HTTPException)
    async def not_there(request: Request, error: HTTPException) -> Response:
        path = request.scope["path"].removeprefix(pages.base_path)
        whole = {**request.scope, "path": request.scope["path"].rstrip("/")}
        if error.status_code == 404 and path.endswith("/") and _methods(there, whole):
            return _moved(whole)
        unnamed = error.detail == HTTPStatus.NOT_FOUND.phrase
        nowhere = NO_ADDRESS if for_programs(path) else NO_PAGE
        refusal = refused(request, error.status_code, nowhere if unnamed else error.detail)
        if error.status_code == 405:
            refusal.headers["Allow"] = ", ".join(_methods(there, request.scope))
        return refusal


def _moved(scope: Scope) -> Response:
    """The way to the same address without a slash at its end, whatever the server is called."""
    query = scope["query_string"].decode("latin-1")
    address = quote(scope["path"], safe="/~") + (f"?{quote(query, safe='%&=[],+*~!$();:@/?')}" if query else "")
    return Response(status_code=307, headers={"Location": address, "Cache-Control": "no-store"})


def _methods(there: Sequence[BaseRoute], scope: Scope) -> list[str]:
    """What an address may be asked with (RFC 9110, 10.2.1)."""
    asked = [one for one in there if isinstance(one, Route) and one.matches(scope)[0] is not Match.NONE]
    return sorted({method for one in asked for method in one.methods or ()})


def keyed(path: str, key: str) -> str:
    """The path below which everything is served; a key is a segment of it, as there are no cookies here.

    >>> keyed("/statistics/", ""), keyed("", "a1B2")
    ('/statistics', '/s-a1B2')
    """
    base = path.rstrip("/")
    if base and not re.fullmatch(r"(/[A-Za-z0-9._~-]+)+", base):
        raise ReleaseError(f"The base path '{path}' is not a path; give one like /statistics, or leave it out.")
    return f"{base}/s-{key}" if key else base
