"""Saved queries: the name of a query is the query itself, so nothing is stored and every name works for ever."""

from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from sfumato.errors import QueryError, nearest
from sfumato.query.answer import Placement
from sfumato.serve.address_parameters import Parameters
from sfumato.serve.api.data import body_of, given
from sfumato.serve.api.describe import Operation
from sfumato.serve.api.lookup import Served, parameters
from sfumato.serve.api.parameters import ASKED, DATA_CONTENT, LANG
from sfumato.serve.api.saved_names import read, refuse_unknown, written
from sfumato.serve.api.selection import (
    answer_to,
    form_of,
    language_of,
    presentation_of,
    question_of,
    read_body,
    written_out,
)
from sfumato.serve.editions import Sheet
from sfumato.serve.languages import own_of
from sfumato.serve.reply import as_json, fresh
from sfumato.serve.shapes import Link, SavedQuery, SavedQueryResponse, SelectionResponse

PATH = "/api/v2/savedqueries"
_ASKED = "outputFormat", "outputFormatParams", "lang"


def save(served: Served, request: Request) -> Response:
    """Name a query; nothing is stored, as the name holds all of it."""
    query = read_body(body_of(request), SavedQuery)
    parameters(request)
    if "language" not in query.model_fields_set:
        query = query.model_copy(update={"language": own_of(served.catalogue)})
    refuse_unknown(query)
    sheet = served.catalogue.tables.get(query.table_id)
    if sheet is None:
        hint = nearest(query.table_id[:100], served.catalogue.tables)
        raise QueryError(f"There is no table '{query.table_id[:100]}' here; {hint}")
    answer_to(sheet, query.selection, query.language, served.base)
    kept = query.model_copy(update={"id": None, "saved_from": sheet.lasting_id})
    name = written(kept)
    base = served.at(request)
    reply = fresh(_response(base, name, kept, query.language, []).to_bytes(), "application/json", status=201)
    reply.headers["Location"] = f"{base}{PATH}/{name}"
    return reply


def saved(served: Served, request: Request) -> Response:
    """A saved query in words that stay readable, with what of it is gone."""
    name = request.path_params["query_id"]
    query = read(name)
    language = _language(parameters(request, "lang"), query)
    told = served.in_language(language)
    said = _response(served.at(request), name, query, language, _problems(told, query))
    return as_json(request, said, served.catalogue.tag)


def run(served: Served, request: Request) -> Response:
    """The data of a saved query, from the release that its table has now."""
    query, asked = read(request.path_params["query_id"]), parameters(request, *_ASKED)
    language = _language(asked, query)
    sheet = _standing(served.in_language(language), query)
    also = () if "outputFormat" in asked.plain else query.output_format_params
    form = form_of(asked, query.output_format, also)
    return given(request, sheet, answer_to(sheet, query.selection, language, served.at(request)), form)


def selection(served: Served, request: Request) -> Response:
    """What a saved query selects, every code written out."""
    name = request.path_params["query_id"]
    query = read(name)
    language = _language(parameters(request, "lang"), query)
    sheet = _standing(served.in_language(language), query)
    place = query.selection.placement
    placement = Placement(tuple(place.stub), tuple(place.heading)) if place else Placement()
    address = f"{served.at(request)}{PATH}/{name}"
    links = [Link(rel="self", href=f"{address}/selection"), Link(rel="data", href=f"{address}/data")]
    presented = presentation_of(query.selection)
    said = written_out(question_of(sheet, query.selection), placement, presented, language, links)
    return as_json(request, said, served.catalogue.tag)


def _language(asked: Parameters, query: SavedQuery) -> str:
    """The language of a reply: what the address says wins over what was saved."""
    return language_of(asked) if "lang" in asked.plain else query.language


def _standing(served: Served, query: SavedQuery) -> Sheet:
    """The table of a saved query that the releases served now answer."""
    sheet, problems = served.catalogue.tables.get(query.table_id), " ".join(_problems(served, query))
    if sheet is None:
        raise HTTPException(404, problems)
    if problems:
        raise QueryError(problems)
    return sheet


def _problems(served: Served, query: SavedQuery) -> list[str]:
    """What of a saved query the releases served now cannot answer, code by code."""
    sheet = served.catalogue.tables.get(query.table_id)
    if sheet is None:
        return [f"The table '{query.table_id}' is no longer served here.", *_first(served, query)]
    gone = _gone(sheet, query)
    if not gone:
        try:
            answer_to(sheet, query.selection, query.language, served.base)
        except QueryError as error:
            gone = [str(error)]
    return [*gone, *_first(served, query)] if gone else []


def _gone(sheet: Sheet, query: SavedQuery) -> list[str]:
    found = []
    for one in query.selection.selection:
        if one.variable_code == sheet.time and sheet.time:
            continue  # who resolves periods says which are gone
        if one.variable_code not in sheet.names:
            found.append(f"The variable '{one.variable_code}' is gone.")
            continue
        known = set(sheet.attribute(one.variable_code).levels.codes)
        plain = [code for code in one.value_codes or () if not set(code) & set("*?()")]
        lost = [code for code in plain if code not in known]
        if lost:
            label, many = sheet.attribute(one.variable_code).label, len(lost) > 1
            found.append(f"{label}: the code{'s' if many else ''} {', '.join(lost)} {'are' if many else 'is'} gone.")
    return found


def _first(served: Served, query: SavedQuery) -> list[str]:
    """Where the release that the query was saved from still answers."""
    if query.saved_from and query.saved_from in served.catalogue.tables and query.saved_from != query.table_id:
        address = f"{served.base}/api/v2/tables/{quote(query.saved_from, safe='~')}/data"
        return [f"The release that it was saved from still answers at {address}."]
    return []


def _response(base: str, name: str, query: SavedQuery, language: str, problems: list[str]) -> SavedQueryResponse:
    address = f"{base}{PATH}/{name}"
    return SavedQueryResponse(
        language=language,
        id=name,
        saved_query=query.model_copy(update={"id": name}),
        problems=problems,
        links=[Link(rel="self", href=address), Link(rel="data", href=f"{address}/data")],
    )


OPERATIONS = (
    Operation("CreateSaveQuery", PATH, save, SavedQueryResponse, (), (400,), body=SavedQuery, status=201),
    Operation("GetSaveQuery", f"{PATH}/{{query_id}}", saved, SavedQueryResponse, [LANG]),
    Operation("GetSavedQuerySelection", f"{PATH}/{{query_id}}/selection", selection, SelectionResponse, [LANG]),
    Operation("RunSaveQuery", f"{PATH}/{{query_id}}/data", run, DATA_CONTENT, ASKED),
)
