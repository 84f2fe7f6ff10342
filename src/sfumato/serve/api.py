"""The API: tables, their metadata and their data in the shapes of PxWebApi 2, and what each release promises."""

import math
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request
from starlette.responses import Response

from sfumato import __version__
from sfumato.errors import nearest
from sfumato.query import LARGEST_PAGE
from sfumato.serve import jsonstat, tidy
from sfumato.serve.catalogue import Catalogue, Edition, Sheet
from sfumato.serve.question import Parameters, Question, shown_codes, universe_codes
from sfumato.serve.reply import fresh, unchanged
from sfumato.serve.shapes import (
    ConfigResponse,
    Health,
    Link,
    PageInfo,
    PrivacyResponse,
    Problem,
    TableEntry,
    TableResponse,
    TablesResponse,
    Version,
)

JSON = "application/json"
FORMATS = ("json-stat2", "csv")


def _by_variable(name: str, description: str, example: dict[str, str]) -> dict[str, Any]:
    schema = {"type": "object", "additionalProperties": {"type": "string"}, "example": example}
    deep = {"style": "deepObject", "explode": True, "schema": schema}
    return {"in": "query", "name": name, "required": False, "description": description, **deep}


DATA_PARAMETERS = [
    _by_variable(
        "valueCodes",
        "Lays a variable out: its codes, parted by commas, or * for every code of its code list. A variable that is "
        "left out is summed over, where the table is additive. The metric dimension is always given whole: an estimate "
        "never travels without its errors.",
        {"occupation": "29-0000,35-0000", "sex": "*"},
    ),
    _by_variable(
        "codelist",
        "Which codes * means: level0 (the top of the hierarchy), level1 …, leaves, or all (the default).",
        {"occupation": "level0"},
    ),
    _by_variable(
        "sum",
        "Restricts the universe to these codes of a variable. Unless valueCodes lays the same variable out, the answer "
        "is the sum over them.",
        {"state": "west,TX"},
    ),
    {"in": "query", "name": "outputFormat", "schema": {"type": "string", "enum": FORMATS, "default": FORMATS[0]}},
    {"in": "query", "name": "lang", "schema": {"type": "string", "enum": ["en"], "default": "en"}},
]
DATA_CONTENT = {
    "content": {
        JSON: {"schema": {"type": "object", "description": "A JSON-stat 2.0 dataset; grades stand in `status`."}},
        "text/csv": {"schema": {"type": "string"}},
    }
}
REFUSALS: dict[int | str, dict[str, Any]] = {400: {"model": Problem}, 404: {"model": Problem}}


def router(catalogue: Catalogue, base_path: str) -> APIRouter:
    """Every route of the API over one catalogue."""
    routes = APIRouter()
    _add_lists(routes, catalogue, base_path)
    _add_tables(routes, catalogue, base_path)
    _add_releases(routes, catalogue)
    return routes


def _add_lists(routes: APIRouter, catalogue: Catalogue, base_path: str) -> None:
    config = ConfigResponse(app_version=__version__, max_data_cells=LARGEST_PAGE).to_bytes()

    @routes.get("/api/v2/config", response_model=ConfigResponse)
    def configuration(request: Request) -> Response:
        """What the API can do."""
        return unchanged(request, catalogue.tag) or fresh(config, JSON, catalogue.tag)

    @routes.get("/api/v2/tables", response_model=TablesResponse, responses=REFUSALS)
    def tables(
        request: Request,
        query: Annotated[str, Query(max_length=200)] = "",
        includeDiscontinued: bool = False,  # noqa: N803 - PxWebApi's name
        pageNumber: Annotated[int, Query(ge=1, le=1_000_000)] = 1,  # noqa: N803
        pageSize: Annotated[int, Query(ge=1, le=1_000)] = 100,  # noqa: N803
    ) -> Response:
        """The tables, those of withdrawn and replaced releases only if asked for."""
        held = unchanged(request, catalogue.tag)
        if held:
            return held
        found = [sheet for one in catalogue.editions for sheet in one.sheets if includeDiscontinued or one.current]
        listed = [entry for entry in (_entry(sheet, base_path) for sheet in found) if _matches(entry, query)]
        answer = _page(listed, pageNumber, pageSize, base_path)
        return fresh(answer.to_bytes(), JSON, catalogue.tag)


def _add_tables(routes: APIRouter, catalogue: Catalogue, base_path: str) -> None:
    @routes.get("/api/v2/tables/{table_id}", response_model=TableResponse, responses=REFUSALS)
    def table(request: Request, table_id: str) -> Response:
        """One table."""
        sheet = _sheet(catalogue, table_id)
        tag = sheet.edition.tag
        entry = TableResponse(**_entry(sheet, base_path).model_dump())
        return unchanged(request, tag) or fresh(entry.to_bytes(), JSON, tag)

    @routes.get("/api/v2/tables/{table_id}/metadata", responses=REFUSALS)
    def metadata(request: Request, table_id: str) -> Response:
        """The variables of a table with codes, hierarchies and code lists: a JSON-stat dataset without values."""
        sheet = _sheet(catalogue, table_id)
        tag = sheet.edition.tag
        return unchanged(request, tag) or fresh(jsonstat.metadata(sheet, base_path), JSON, tag)

    @routes.get(
        "/api/v2/tables/{table_id}/data",
        responses={200: DATA_CONTENT, **REFUSALS},
        openapi_extra={"parameters": DATA_PARAMETERS},
    )
    def data(request: Request, table_id: str) -> Response:
        """The numbers, each with its errors."""
        sheet = _sheet(catalogue, table_id)
        question, written = _asked(sheet, request)
        tag = sheet.edition.tag
        held = unchanged(request, tag)
        if held:
            return held
        if written == "csv":
            reply = fresh(tidy.answer(question), "text/csv; charset=utf-8", tag)
            reply.headers["Content-Disposition"] = f'attachment; filename="{sheet.lasting_id}.csv"'
            return reply
        return fresh(jsonstat.answer(question, base_path), JSON, tag)


def _add_releases(routes: APIRouter, catalogue: Catalogue) -> None:
    @routes.get("/api/v2/privacy/{release}", response_model=PrivacyResponse, responses=REFUSALS)
    def privacy(request: Request, release: str) -> Response:
        """What a release promises, what each measure cost, and what lies outside the promise."""
        edition = catalogue.releases.get(release)
        if edition is None:
            hint = nearest(release[:100], catalogue.releases)
            raise HTTPException(404, f"No release '{release[:100]}' is served here; {hint}")
        return unchanged(request, edition.tag) or fresh(_privacy(edition).to_bytes(), JSON, edition.tag)

    @routes.get("/health", response_model=Health)
    def health() -> Response:
        """Whether the server answers."""
        return Response(Health().to_bytes(), headers={"Cache-Control": "no-store"}, media_type=JSON)

    @routes.get("/version", response_model=Version)
    def version() -> Response:
        """Which program answers from which releases."""
        said = Version(sfumato=__version__, releases=[one.release.id for one in catalogue.editions])
        return Response(said.to_bytes(), headers={"Cache-Control": "no-store"}, media_type=JSON)


def _sheet(catalogue: Catalogue, table_id: str) -> Sheet:
    sheet = catalogue.tables.get(table_id)
    if sheet is None:
        hint = nearest(table_id[:100], catalogue.tables)
        raise HTTPException(404, f"There is no table '{table_id[:100]}' here; {hint}")
    return sheet


def _asked(sheet: Sheet, request: Request) -> tuple[Question, str]:
    """The question in an address, and the format it should be answered in."""
    plain, of_variable = ("outputFormat", "lang"), ("valueCodes", "codelist", "sum")
    given = Parameters.read(request.query_params.multi_items(), plain, of_variable)
    given.one("lang", "en", ["en"])
    metric = jsonstat.metric_name(sheet)
    values = {name: codes for name, codes in given.of_variable["valueCodes"].items() if name != metric}
    shown = shown_codes(sheet, values, given.of_variable["codelist"])
    within = universe_codes(sheet, given.of_variable["sum"])
    return Question(sheet, shown, within), given.one("outputFormat", FORMATS[0], FORMATS)


def _matches(entry: TableEntry, query: str) -> bool:
    text = " ".join([entry.id, entry.label, entry.description, *entry.variable_names]).lower()
    return all(word in text for word in query.lower().split())


def _entry(sheet: Sheet, base_path: str) -> TableEntry:
    manifest, address = sheet.edition.release.manifest, f"{base_path}/api/v2/tables/{sheet.id}"
    links = {"self": address, "metadata": f"{address}/metadata", "data": f"{address}/data"}
    links["describedby"] = f"{base_path}/api/v2/privacy/{sheet.edition.key}"
    return TableEntry(
        id=sheet.id,
        label=sheet.title,
        description=manifest.title,
        updated=manifest.created,
        first_period=manifest.period,
        last_period=manifest.period,
        category="internal" if sheet.edition.private else "public",
        variable_names=[attribute.label for attribute in sheet.product.attributes],
        discontinued=not sheet.edition.current,
        source=manifest.title,
        links=[Link(rel=rel, href=href) for rel, href in links.items()],
    )


def _page(listed: list[TableEntry], number: int, size: int, base_path: str) -> TablesResponse:
    pages = max(1, math.ceil(len(listed) / size))
    info = PageInfo(page_number=number, page_size=size, total_elements=len(listed), total_pages=pages)
    shown = listed[(number - 1) * size : number * size]
    return TablesResponse(tables=shown, page=info, links=[Link(rel="self", href=f"{base_path}/api/v2/tables")])


def _privacy(edition: Edition) -> PrivacyResponse:
    manifest = edition.release.manifest
    return PrivacyResponse(
        key=edition.key,
        release=edition.release.id,
        title=manifest.title,
        period=manifest.period,
        releasable=manifest.releasable,
        why=manifest.why,
        notices=[notice.sentence for notice in edition.notices],
        promise=manifest.promise,
        spends=manifest.spends,
        exposures=manifest.exposures,
        citation=edition.engine.cite(),
    )
