"""The API: tables, their metadata and their data in the shapes of PxWebApi 2, and what each release promises."""

from fastapi import APIRouter

from sfumato.serve.api import areas, data, published_files, releases, saved_queries, search, tables
from sfumato.serve.api.describe import Plain, offer
from sfumato.serve.api.lookup import Served
from sfumato.serve.catalogue import Catalogue
from sfumato.serve.files import ReleaseFiles
from sfumato.serve.limits import Limits

__all__ = ["router"]


def router(catalogue: Catalogue, base_path: str, limits: Limits, files: ReleaseFiles) -> APIRouter:
    """Every operation of the API over one catalogue."""
    routes, served = APIRouter(route_class=Plain), Served(catalogue, base_path, limits, files.of)
    for part in (tables, data, areas, saved_queries, search, releases, published_files):
        for operation in part.OPERATIONS:
            offer(routes, operation, served)
    return routes
