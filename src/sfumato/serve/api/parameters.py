"""Parameters and contents: what operations take and give, as the OpenAPI document has it."""

from typing import Any

from sfumato.query.downloads.formats import FORMATS
from sfumato.query.wording import languages

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


LANG = one_of("lang", "The language of our own words; labels are those of the release.", list(languages()))
OUTPUT_FORMAT = one_of("outputFormat", "The format of the answer.", [one.name for one in FORMATS])
ASKED = [OUTPUT_FORMAT, LANG]
DATA_PARAMETERS = [
    by_variable(
        "valueCodes",
        "Lays a variable out: its codes, parted by commas; * for every code of its code list; 29* and ?? for those "
        "that fit; top(n), bottom(n), from(code), to(code), [range(code,code)]. A variable that is left out is summed "
        "over, where the table is additive. The metric dimension is always given whole: an estimate never travels "
        "without its errors.",
        {"occupation": "29-0000,35-0000", "sex": "*"},
    ),
    by_variable(
        "codelist",
        "Which codes * means: level0 (the top of the hierarchy), level1 …, leaves, or all (the default).",
        {"occupation": "level0"},
    ),
    by_variable(
        "group",
        "Adds a group of the reader's own to a variable: its name, a colon and its codes.",
        {"state": "Sunbelt:TX,FL"},
    ),
    by_variable(
        "sum",
        "Restricts the universe to these codes of a variable. Unless valueCodes lays the same variable out, the answer "
        "is the sum over them.",
        {"state": "west,TX"},
    ),
    listed("stub", "The variables at the side of the table, in formats that have a layout; also written rows."),
    listed("heading", "The variables above the table; also written cols."),
    *ASKED,
]
_NAMES = {"type": "array", "items": {"type": "string"}}
DATASET: Described = {
    "type": "object",
    "description": "A JSON-stat 2.0 dataset; the last dimension holds the estimate and its errors, grades stand in "
    "`status`.",
    "required": ["version", "class", "id", "size", "dimension", "role", "updated", "note", "extension"],
    "properties": {
        "version": {"const": "2.0"},
        "class": {"const": "dataset"},
        "href": {"type": "string"},
        "label": {"type": "string"},
        "source": {"type": "string"},
        "updated": {"type": "string"},
        "note": _NAMES,
        "id": {**_NAMES, "uniqueItems": True},
        "size": {"type": "array", "items": {"type": "integer", "minimum": 1}},
        "role": {"type": "object", "required": ["metric"], "additionalProperties": _NAMES},
        "dimension": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "required": ["label", "category", "extension"],
                "properties": {
                    "label": {"type": "string"},
                    "category": {
                        "type": "object",
                        "required": ["index", "label"],
                        "properties": {
                            "index": {"type": "object", "additionalProperties": {"type": "integer"}},
                            "label": {"type": "object", "additionalProperties": {"type": "string"}},
                            "child": {"type": "object", "additionalProperties": _NAMES},
                            "note": {"type": "object", "additionalProperties": _NAMES},
                            "unit": {"type": "object"},
                        },
                        "additionalProperties": False,
                    },
                    "extension": {"type": "object", "required": ["elimination"]},
                },
            },
        },
        "extension": {"type": "object", "required": ["px", "status", "sfumato"]},
    },
}
METADATA_CONTENT = {"application/json": {"schema": DATASET}}
_FILLED = {
    **DATASET,
    "required": [*DATASET["required"], "value", "status"],
    "properties": {
        **DATASET["properties"],
        "value": {"type": "array", "items": {"type": ["number", "null"]}},
        "status": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}
DATA_CONTENT: Described = {
    one.media_type.partition(";")[0]: {"schema": _FILLED if one is FORMATS[0] else {"type": "string"}}
    for one in FORMATS
}
