"""Routes: every operation of the API over one catalogue."""

from fastapi import APIRouter

from sfumato.serve.api import data, releases, saved_queries, tables
from sfumato.serve.api.describe import Plain, offer
from sfumato.serve.api.lookup import Served
from sfumato.serve.catalogue import Catalogue
from sfumato.serve.limits import Limits


def router(catalogue: Catalogue, base_path: str, limits: Limits) -> APIRouter:
    routes, served = APIRouter(route_class=Plain), Served(catalogue, base_path, limits)
    for part in (tables, data, saved_queries, releases):
        for operation in part.operations(served):
            offer(routes, operation)
    return routes
