"""Parameters and contents: what operations take and give, as the OpenAPI document has it."""

import json
import tomllib
from pathlib import Path
from typing import Any

from sfumato.query.downloads.formats import FORMATS
from sfumato.query.wording import languages
from sfumato.serve.api.written import PARAMS
from sfumato.serve.presentation import KINDS, ORDERS

Described = dict[str, Any]


def query(name: str, description: str, schema: Described) -> Described:
    return {"in": "query", "name": name, "required": False, "description": description, "schema": schema}


def by_variable(name: str, description: str, example: dict[str, str]) -> Described:
    """A parameter of each variable, as in `sum[sex]=female`."""
    schema = {"type": "object", "additionalProperties": {"type": "string"}, "example": example}
    deep = {"style": "deepObject", "explode": True}
    return query(name, description, schema) | deep


def listed(name: str, description: str) -> Described:
    return query(name, description, {"type": "array", "items": {"type": "string"}}) | {"style": "form", "explode": True}


def one_of(name: str, description: str, known: list[str]) -> Described:
    return query(name, description, {"type": "string", "enum": known, "default": known[0]})


def _beside(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


LANG = one_of("lang", "The language of words and labels; that of the releases unless said.", list(languages()))
OUTPUT_FORMAT = one_of("outputFormat", "The format of the answer.", [one.name for one in FORMATS])
OUTPUT_FORMAT_PARAMS = query(
    "outputFormatParams",
    "How a csv or xlsx file is written: with codes, texts or both, with its title, with another separator.",
    {"type": "array", "items": {"type": "string", "enum": list(PARAMS)}},
)
ASKED = [OUTPUT_FORMAT, OUTPUT_FORMAT_PARAMS, LANG]
CODELIST = by_variable("codelist", "The codes of this list alone.", {"occupation": "level0"})
METADATA_PARAMETERS = [
    query("defaultSelection", "Of what is given without a selection alone.", {"type": "boolean", "default": False}),
    query("savedQuery", "Of what a saved query shows alone.", {"type": "string"}),
    CODELIST,
    one_of("outputFormat", "Clients of first drafts say so; there is no other.", ["json-stat2"]),
    LANG,
]
_SHARE = "Gives shares: of the row, the column, the whole, or of the totals that the named variables tell."
_SORT = "Sorts the rows by a code of the variable above, or by total; ranks are not changed by it."
_CHANGE = (
    "Gives changes with verdicts: since the last period, a year ago, or a period or a release that is named. After "
    "last or year may stand the digits of the very releases that they are counted from, each after a comma."
)
_PER = "Divides by another statistic of the release, as in wages per job; no number where that may be 0."
_ERROR = "The error that a sheet shows; se, low95 and high95 are also given as metrics where they are chosen."
DATA_PARAMETERS = [
    *(by_variable(name, **told) for name, told in tomllib.loads(_beside("parameters.toml")).items()),
    listed("stub", "The variables at the side of the table, in formats that have a layout; also written rows."),
    listed("heading", "The variables above the table; also written cols."),
    query("share", _SHARE, {"type": "string", "maxLength": 500}),
    query("sort", _SORT, {"type": "string", "maxLength": 500}),
    one_of("order", "Rows sorted from the largest down, or rising.", list(ORDERS)),
    one_of("error", _ERROR, list(KINDS)),
    query("change", _CHANGE, {"type": "string", "maxLength": 2000}),
    query("per", _PER, {"type": "string", "maxLength": 500}),
    *ASKED,
]
DATASET: Described = json.loads(_beside("dataset.json"))
"""A JSON-stat 2.0 dataset as JSON Schema has it."""
_NO_VALUES = DATASET | {
    "required": [*DATASET["required"], "value"],
    "properties": DATASET["properties"] | {"value": {"type": "null"}},
}
METADATA_CONTENT = {"application/json": {"schema": _NO_VALUES}}
_VALUES = {
    "value": {"type": "array", "items": {"type": ["number", "null"]}},
    "status": {"type": "object", "additionalProperties": {"type": "string"}},
}
_FILLED = DATASET | {"required": [*DATASET["required"], *_VALUES], "properties": DATASET["properties"] | _VALUES}
DATA_CONTENT: Described = {
    one.media_type.partition(";")[0]: {"schema": _FILLED if one is FORMATS[0] else {"type": "string"}}
    for one in FORMATS
}
