"""JSON-stat of a served table: what a server adds to the dataset: addresses, code lists and whether it still stands."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal
from urllib.parse import quote

from pydantic_core import to_json

from sfumato.query import Axis, Crosstab, SeriesTable
from sfumato.query.answer import Answer
from sfumato.query.downloads import jsonstat
from sfumato.query.portable import Portable
from sfumato.schema import Attribute, Box
from sfumato.serve.code_list import code_list, code_lists
from sfumato.serve.editions import Sheet


def metadata(sheet: Sheet, address: str, language: str, shown: Mapping[str, Sequence[str]]) -> bytes:
    """The table without its values: the variables that are shown with their codes, hierarchy and code lists."""
    variables = [attribute for attribute in sheet.product.attributes if attribute.name in shown]
    every = tuple(Axis(attribute, tuple(shown[attribute.name])) for attribute in variables)
    table: Portable = Crosstab(sheet.source, every, Box(), {}, has_columns=False)
    if sheet.time in shown:
        line = sheet.timeline
        periods = [line.axis_period(code) for code in shown[sheet.time]]
        table = SeriesTable([table] * len(periods), periods, has_columns=False)
    told = *sheet.edition.sentences, *filter(None, [sheet.source.together])
    asked = Answer(
        table, language=language, path=f"{address}/metadata", told=told, more=lambda: more(sheet, shown, address)
    )
    dataset = jsonstat.described(asked, whole=sheet.product.subject.step.denominator == 1)
    dataset["value"] = None
    codes = list(shown.get(sheet.time, ())) or [sheet.period]
    dataset["extension"] |= {"firstPeriod": codes[0], "lastPeriod": codes[-1]}
    dataset["link"] = {"describes": [{"type": "application/json", "href": f"{address}/data"}]}
    return to_json(dataset)


def more(sheet: Sheet, names: Iterable[str], address: str) -> dict[str, Any]:
    """What who serves a table says of it, and of some of its variables."""
    return {
        "dimension": {name: {"extension": _lists(sheet, sheet.attribute(name), address)} for name in names},
        "extension": {
            "px": {"tableid": sheet.id},
            "discontinued": not sheet.edition.current,
            "sfumato": {"lastingId": sheet.lasting_id},
        },
    }


def list_id(sheet: Sheet, attribute: Attribute, name: str) -> str:
    """The name that a code list has on the whole server."""
    return f"{sheet.edition.key}~{attribute.name}~{name}"


def list_type(name: str) -> Literal["Aggregation", "Valueset"]:
    """A level of a hierarchy adds up what lies below it; the leaves, and all codes, stand for themselves."""
    return "Valueset" if name in {"leaves", "all"} else "Aggregation"


def _lists(sheet: Sheet, attribute: Attribute, address: str) -> dict[str, Any]:
    """The code lists of a variable; clients written for first drafts of PxWebApi 2 read codeLists, newer codelists."""
    base, named = address.partition("/api/v2/")[0], code_lists(attribute.levels) if attribute.levels.depth else {}
    lists = [
        {
            "id": list_id(sheet, attribute, name),
            "label": f"{label} ({len(code_list(attribute.levels, name))})",
            "type": list_type(name),
            "links": [codelist_link(base, list_id(sheet, attribute, name))],
        }
        for name, label in named.items()
    ]
    return {"codelists": lists, "codeLists": lists}


def codelist_link(base: str, code: str) -> dict[str, str]:
    return {"rel": "metadata", "hreflang": "en", "href": f"{base}/api/v2/codelists/{quote(code, safe='~')}"}
