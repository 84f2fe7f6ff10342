"""Saved queries: the name of a query is the query itself, so nothing is stored and every name works for ever."""

import base64
import json
import zlib
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from sfumato.errors import QueryError
from sfumato.query.downloads.formats import BY_NAME
from sfumato.query.wording import languages
from sfumato.serve.api.data import body_of, given
from sfumato.serve.api.describe import Operation
from sfumato.serve.api.lookup import Served, parameters
from sfumato.serve.api.parameters import ASKED, DATA_CONTENT, LANG
from sfumato.serve.api.selection import answer_to, form_of, language_of, read_body
from sfumato.serve.catalogue import Sheet
from sfumato.serve.reply import as_json, fresh
from sfumato.serve.shapes import Link, SavedQuery, SavedQueryResponse

PATH = "/api/v2/savedqueries"
_KIND = "q1"
"""The kind of name, so that a later kind can be told from it."""
_LONGEST_NAME, _LARGEST_QUERY = 6_000, 65_536


def save(served: Served, request: Request) -> Response:
    """Name a query; nothing is stored, as the name holds all of it."""
    query = read_body(body_of(request), SavedQuery)
    parameters(request)
    _refuse_unknown(query)
    sheet = served.sheet(query.table_id)
    answer_to(sheet, query.selection, query.language, served.base)
    kept = query.model_copy(update={"id": None, "saved_from": sheet.lasting_id})
    name = written(kept)
    reply = fresh(_response(served, name, kept, query.language, []).to_bytes(), "application/json", status=201)
    reply.headers["Location"] = _address(served, name)
    return reply


def saved(served: Served, request: Request) -> Response:
    """A saved query in words that stay readable, with what of it is gone."""
    name = request.path_params["query_id"]
    language = language_of(parameters(request, "lang"))
    query = read(name)
    said = _response(served, name, query, language, _problems(served, query))
    return as_json(request, said, served.catalogue.tag)


def run(served: Served, request: Request) -> Response:
    """The data of a saved query, from the release that its table has now."""
    query, asked = read(request.path_params["query_id"]), parameters(request, "outputFormat", "lang")
    form = form_of(asked) if "outputFormat" in asked.plain else BY_NAME[query.output_format]
    language = language_of(asked) if "lang" in asked.plain else query.language
    sheet, problems = served.catalogue.tables.get(query.table_id), " ".join(_problems(served, query))
    if sheet is None:
        raise HTTPException(404, problems)
    if problems:
        raise QueryError(problems)
    return given(request, sheet, answer_to(sheet, query.selection, language, served.base), form)


def written(query: SavedQuery) -> str:
    """The name of a query: its text, packed, in letters that an address takes.

    >>> from sfumato.serve.shapes import VariablesSelection
    >>> asked = SavedQuery(table_id="jobs~count", selection=VariablesSelection())
    >>> read(written(asked)) == asked
    True
    """
    content = query.model_dump(by_alias=True, exclude_defaults=True)
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    name = _KIND + base64.urlsafe_b64encode(zlib.compress(text, 9)).decode().rstrip("=")
    if len(name) > _LONGEST_NAME or len(text) > _LARGEST_QUERY:
        raise QueryError(
            f"The query is too long for a name: {len(name):,} characters, at most {_LONGEST_NAME:,} fit. "
            "Name code lists or expressions like 29* instead of single codes."
        )
    return name


def read(name: str) -> SavedQuery:
    """The query that a name holds."""
    # A name of another kind, or too long for one, is read as an empty one, which is none.
    letters = name[len(_KIND) :] if name.startswith(_KIND) and len(name) <= _LONGEST_NAME else ""
    try:
        packed = base64.b64decode(letters + "=" * (-len(letters) % 4), b"-_", validate=True)
        # A few bytes can unpack to gigabytes, so no more is unpacked than a query may have.
        text = zlib.decompressobj().decompress(packed, _LARGEST_QUERY)
        query = SavedQuery.model_validate_json(text)
        _refuse_unknown(query)
    except (ValueError, zlib.error, QueryError):
        raise HTTPException(
            404, "There is no such saved query; the name of one is given by POST to /api/v2/savedqueries."
        ) from None
    return query


def _refuse_unknown(query: SavedQuery) -> None:
    for name, value, known in (
        ("language", query.language, list(languages())),
        ("outputFormat", query.output_format, list(BY_NAME)),
    ):
        if value not in known:
            raise QueryError(f"{name} is '{value[:100]}'; known: {', '.join(known)}")


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


def _address(served: Served, name: str) -> str:
    return f"{served.base}{PATH}/{name}"


def _response(served: Served, name: str, query: SavedQuery, language: str, problems: list[str]) -> SavedQueryResponse:
    address = _address(served, name)
    return SavedQueryResponse(
        language=language,
        id=name,
        saved_query=query.model_copy(update={"id": name}),
        problems=problems,
        links=[Link(rel="self", href=address), Link(rel="data", href=f"{address}/data")],
    )


OPERATIONS = (
    Operation("CreateSaveQuery", PATH, save, SavedQueryResponse, body=SavedQuery, status=201),
    Operation("GetSaveQuery", f"{PATH}/{{query_id}}", saved, SavedQueryResponse, [LANG]),
    Operation("RunSaveQuery", f"{PATH}/{{query_id}}/data", run, DATA_CONTENT, ASKED),
)
