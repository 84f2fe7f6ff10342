"""Tables: the list of them, each one's description and metadata, and the code lists of their variables."""

import math
from datetime import UTC, datetime, timedelta

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from sfumato.errors import QueryError, nearest
from sfumato.query.answer import Placement
from sfumato.query.wording import languages
from sfumato.schema import Levels
from sfumato.serve import jsonstat
from sfumato.serve.address_parameters import Codes, Parameters
from sfumato.serve.api.describe import Operation
from sfumato.serve.api.lookup import Served, parameters
from sfumato.serve.api.parameters import LANG, METADATA_CONTENT, METADATA_PARAMETERS, query
from sfumato.serve.api.saved_names import read
from sfumato.serve.api.selection import asked, default_question, is_true, language_of, one_of, question_of, written_out
from sfumato.serve.code_list import code_list, code_lists
from sfumato.serve.editions import Sheet
from sfumato.serve.presentation import Presentation
from sfumato.serve.question import data_path
from sfumato.serve.reply import as_json, fresh, named, unchanged
from sfumato.serve.shapes import (
    CodelistResponse,
    Link,
    PageInfo,
    PathElement,
    SelectionResponse,
    TableEntry,
    TableResponse,
    TablesResponse,
    ValueMap,
)

JSON = "application/json"
PATH = "/api/v2/tables"
_LARGEST_LIST, _MOST_PAGES, _LONGEST_QUERY, _MOST_DAYS = 1_000, 1_000_000, 200, 99_999
_LIST_PARAMETERS = [
    query("query", "Words that the table's name, label or variables have.", {"type": "string", "maxLength": 200}),
    query("pastDays", "Only of releases made in so many days.", {"type": "integer", "minimum": 1}),
    query("includeDiscontinued", "Also withdrawn and replaced releases.", {"type": "boolean", "default": False}),
    query("pageNumber", "Which page.", {"type": "integer", "minimum": 1, "maximum": _MOST_PAGES, "default": 1}),
    query("pageSize", "Tables a page.", {"type": "integer", "minimum": 1, "maximum": _LARGEST_LIST, "default": 100}),
    LANG,
]


def tables(served: Served, request: Request) -> Response:
    """The tables, those of withdrawn and replaced releases only if asked for."""
    given = parameters(request, "query", "pastDays", "includeDiscontinued", "pageNumber", "pageSize", "lang")
    language, words = language_of(given), given.plain.get("query", ("",))[-1]
    if len(words) > _LONGEST_QUERY:
        raise QueryError(f"query has {len(words):,} characters; at most {_LONGEST_QUERY} are looked for.")
    number, size = given.whole("pageNumber", 1, _MOST_PAGES), given.whole("pageSize", 100, _LARGEST_LIST)
    every, base = is_true(given, "includeDiscontinued"), served.at(request)
    since = _since(given)
    found = _listed(served, every=every)
    entries = [_entry(sheet, base, language) for sheet in found if sheet.edition.release.manifest.created >= since]
    page = _page([one for one in entries if _matches(one, words)], number, size, base, language)
    # What was made in the last days is another answer tomorrow, so it is not kept under a name.
    return fresh(page.to_bytes(), JSON) if since else as_json(request, page, served.catalogue.tag)


def _listed(served: Served, *, every: bool) -> list[Sheet]:
    """Each statistic of a series once, as its periods are a variable of it; and what is no period of one of these."""
    listed = [sheet for series in served.catalogue.all_series if series.current.current for sheet in series.sheets]
    periods = {id(one) for sheet in listed for one in (sheet, *sheet.timeline.periods.values())}
    others = (sheet for one in served.catalogue.editions if every or one.current for sheet in one.sheets)
    return [*listed, *(sheet for sheet in others if id(sheet) not in periods)]


def table(served: Served, request: Request) -> Response:
    """One table."""
    sheet, language = served.sheet(request.path_params["table_id"]), language_of(parameters(request, "lang"))
    entry = TableResponse(**_entry(sheet, served.at(request), language).model_dump(), language=language)
    return as_json(request, entry, sheet.edition.tag)


def metadata(served: Served, request: Request) -> Response:
    """The variables of a table with codes, hierarchies and code lists: a JSON-stat dataset without values."""
    sheet = served.sheet(request.path_params["table_id"])
    given = parameters(request, "lang", "defaultSelection", "savedQuery", "outputFormat", of_variable=["codelist"])
    one_of(given, "outputFormat", "json-stat2", ["json-stat2"])
    address = data_path(sheet, served.at(request), lasting=False).removesuffix("/data")
    tag, shown = named(request, sheet.edition.tag), _shown(sheet, given)
    return unchanged(request, tag) or fresh(jsonstat.metadata(sheet, address, language_of(given), shown), JSON, tag)


def _shown(sheet: Sheet, given: Parameters) -> Codes:
    """The codes that metadata list of each variable: all, those of a code list, or what a selection shows."""
    lists, saved = given.of_variable["codelist"], given.plain.get("savedQuery", ("",))[-1]
    default = is_true(given, "defaultSelection")
    if sum(map(bool, (lists, saved, default))) > 1:
        raise QueryError("codelist, savedQuery and defaultSelection each say which codes are meant; give one of them.")
    if saved:
        return question_of(sheet, read(saved).selection).shown
    if default:
        return default_question(sheet).shown
    every = {one.name: one.levels.codes for one in sheet.product.attributes}
    every |= {sheet.time: tuple(sheet.timeline.periods)} if sheet.time else {}
    return {**every, **asked(sheet, {}, lists, {}, {}).shown}


def default_selection(served: Served, request: Request) -> Response:
    """What is answered where nothing is selected."""
    sheet, language = served.sheet(request.path_params["table_id"]), language_of(parameters(request, "lang"))
    address = data_path(sheet, served.at(request), lasting=False).removesuffix("/data")
    links = [Link(rel="self", href=f"{address}/defaultselection"), Link(rel="data", href=f"{address}/data")]
    said = written_out(default_question(sheet), Placement(), Presentation(), language, links)
    return as_json(request, said, sheet.edition.tag)


def codelist(served: Served, request: Request) -> Response:
    """The codes of a list, and the lowest codes that each stands for."""
    name, language = request.path_params["codelist_id"], language_of(parameters(request, "lang"))
    if name not in served.codelists:
        raise HTTPException(404, f"There is no code list '{name[:100]}' here; {nearest(name[:100], served.codelists)}")
    sheet, attribute, listed = served.codelists[name]
    levels = attribute.levels
    summed = jsonstat.list_type(listed) == "Aggregation"
    values = [
        ValueMap(code=code, label=levels.label(code), value_map=_leaves(levels, code) if summed else [code])
        for code in code_list(levels, listed)
    ]
    found = CodelistResponse(
        id=name,
        label=f"{attribute.label}: {code_lists(levels)[listed]}",
        language=language,
        languages=list(languages()),
        elimination=sheet.product.subject.additive,
        type=jsonstat.list_type(listed),
        values=values,
        links=[Link(**jsonstat.codelist_link(served.at(request), name) | {"rel": "self"})],
    )
    return as_json(request, found, sheet.edition.tag)


def _leaves(levels: Levels, code: str) -> list[str]:
    return [leaf for leaf, under in zip(levels.leaves, levels.mask(code), strict=True) if under]


def _since(given: Parameters) -> str:
    """The moment that pastDays go back to; nothing where it is not asked."""
    written = given.plain.get("pastDays", ("",))[-1]
    if "pastDays" not in given.plain:
        return ""
    if not (written.isascii() and written.isdigit() and written.strip("0")):
        raise QueryError(f"pastDays is '{written[:100]}'; it is a whole number from 1.")
    days = int(written) if len(written.lstrip("0")) < 6 else _MOST_DAYS
    return (datetime.now(UTC) - timedelta(days=days)).isoformat()


def _matches(entry: TableEntry, query_words: str) -> bool:
    text = " ".join([entry.id, entry.label, entry.description, *entry.variable_names]).lower()
    return all(word in text for word in query_words.lower().split())


def _entry(sheet: Sheet, base: str, language: str) -> TableEntry:
    manifest, data = sheet.edition.release.manifest, data_path(sheet, base, lasting=False)
    periods = list(sheet.timeline.periods) if sheet.time else [""]
    address = data.removesuffix("/data")
    links = {"self": address, "metadata": f"{address}/metadata", "data": data}
    tongue = "" if language == sheet.edition.release.own.manifest.own_language else f"?lang={language}"
    links["describedby"] = f"{base}/api/v2/privacy/{sheet.edition.key}"
    return TableEntry(
        id=sheet.id,
        label=sheet.title,
        description=manifest.title,
        updated=manifest.created[:10],
        first_period=periods[0],
        last_period=periods[-1],
        category="internal" if sheet.edition.private else "public",
        variable_names=[sheet.attribute(name).label for name in (*sheet.names, *filter(None, [sheet.time]))],
        discontinued=not sheet.edition.current,
        source=manifest.title,
        paths=[[PathElement(id=sheet.edition.key, label=manifest.title)]],
        links=[Link(rel=rel, hreflang=language, href=f"{href}{tongue}") for rel, href in links.items()],
    )


def _page(listed: list[TableEntry], number: int, size: int, base: str, language: str) -> TablesResponse:
    pages = max(1, math.ceil(len(listed) / size))
    info = PageInfo(page_number=number, page_size=size, total_elements=len(listed), total_pages=pages)
    shown = listed[(number - 1) * size : number * size]
    here = Link(rel="self", href=f"{base}{PATH}")
    return TablesResponse(language=language, tables=shown, page=info, links=[here])


OPERATIONS = (
    Operation("ListAllTables", PATH, tables, TablesResponse, _LIST_PARAMETERS, (400,)),
    Operation("GetTableById", f"{PATH}/{{table_id}}", table, TableResponse, [LANG]),
    Operation("GetMetadataById", f"{PATH}/{{table_id}}/metadata", metadata, METADATA_CONTENT, METADATA_PARAMETERS),
    Operation(
        "GetDefaultSelection", f"{PATH}/{{table_id}}/defaultselection", default_selection, SelectionResponse, [LANG]
    ),
    Operation("GetCodelistById", "/api/v2/codelists/{codelist_id}", codelist, CodelistResponse, [LANG]),
)
