"""The application: verified releases in, a read-only ASGI application out."""

import re
from collections.abc import Sequence
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp

from sfumato import __version__
from sfumato.errors import QueryError, ReleaseError
from sfumato.serve.api import router
from sfumato.serve.catalogue import Catalogue
from sfumato.serve.guard import Guarded
from sfumato.serve.pages import Pages
from sfumato.serve.reply import problem

DESCRIPTION = (
    "Statistics with formal privacy, each number with its error, in the shapes of PxWebApi 2. "
    "Noise was drawn once, before publication: the same question always has the same answer, and asking costs nothing."
)


def app(folders: Sequence[Path | str], base_path: str = "") -> ASGIApp:
    """Serve release folders under a path; each is verified first, and one that was altered refuses the start."""
    return over(Catalogue.open(folders), base_path)


def over(catalogue: Catalogue, base_path: str = "") -> ASGIApp:
    """The application over releases that are open already."""
    base = _base(base_path)
    servers = [{"url": base}] if base else None
    inner = FastAPI(
        title="Sfumato", version=__version__, description=DESCRIPTION, servers=servers, docs_url=None, redoc_url=None
    )
    pages = Pages(catalogue, base)
    inner.include_router(router(catalogue, base))
    inner.include_router(pages.routes())
    _refuse_in_words(inner, pages)
    return Guarded(inner, base, private=any(edition.private for edition in catalogue.editions))


def _refuse_in_words(inner: FastAPI, pages: Pages) -> None:
    """Every refusal says what was asked, why not, and what would work: as JSON below /api, as a page elsewhere."""

    @inner.exception_handler(QueryError)
    async def cannot_be_answered(_: Request, error: QueryError) -> Response:
        return problem(400, str(error))

    @inner.exception_handler(RequestValidationError)
    async def not_understood(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        return problem(400, f"{first['loc'][-1]}: {first['msg']}.")

    @inner.exception_handler(HTTPException)
    async def not_there(request: Request, error: HTTPException) -> Response:
        if request.url.path.removeprefix(pages.base_path).startswith("/api"):
            return problem(error.status_code, error.detail)
        return pages.problem(error.status_code, error.detail)


def _base(path: str) -> str:
    base = path.rstrip("/")
    if base and not re.fullmatch(r"(/[A-Za-z0-9._~-]+)+", base):
        raise ReleaseError(f"The base path '{path}' is not a path; give one like /statistics, or leave it out.")
    return base
