"""SDMX-CSV 2.0: one line an observation, the errors and the grade as attributes, the release as a column of our own.

Columns and their order follow the field guide of the SDMX technical working group (data message, version 2.0).
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from sfumato.serve.downloads.answer import Answer, apart, finite
from sfumato.serve.downloads.tidy import beside, csv_bytes, harmless

_AGENCY = "SFUMATO"
_ATTRIBUTES = {"MOE90": "moe90", "SE_NOISE": "se_noise", "SE_SAMPLING": "se_sampling", "CV": "cv"}
_LOW_RELIABILITY, _NORMAL, _CANNOT_EXIST = "U", "A", "M"
"""Codes of SDMX's list of observation statuses (CL_OBS_STATUS)."""


def pieces(answer: Answer) -> Iterator[bytes]:
    for place, part in enumerate(answer.pieces()):
        lines = columns(part)
        yield csv_bytes(list(lines) if place == 0 else None, list(lines.values()))


def columns(answer: Answer) -> dict[str, list[Any]]:
    """The columns of the message: the structure, the dimensions, the measure, the attributes, then our own."""
    numbers, count = answer.columns, len(answer.columns)
    found: dict[str, list[Any]] = {"STRUCTURE": ["dataflow"] * count, "STRUCTURE_ID": [structure(answer)] * count}
    found["ACTION"] = ["I"] * count
    dimensions = _dimensions(answer)
    found |= dimensions
    period = answer.sheet.edition.release.manifest.period
    own = ["TIME_PERIOD", "OBS_VALUE", *_ATTRIBUTES, "GRADE", "CELLS", "OBS_STATUS", "UNIT_MEASURE"]
    names = apart([*own, "UNIVERSE", "REASON", "RELEASE", "NOTICE"], list(dimensions))
    found |= {names["TIME_PERIOD"]: [harmless(period)] * count, names["OBS_VALUE"]: _values(answer)}
    found |= {names[name]: finite(getattr(numbers, metric)) for name, metric in _ATTRIBUTES.items()}
    found |= {names["GRADE"]: numbers.grade.tolist(), names["CELLS"]: numbers.cells.tolist()}
    found[names["OBS_STATUS"]] = _statuses(answer)
    for name, text in beside(answer).items():
        found[names["UNIT_MEASURE" if name == "unit" else name.upper()]] = [harmless(text)] * count
    return found


def structure(answer: Answer) -> str:
    """The dataflow's identification, AGENCY:ID(VERSION); the version tells releases of one name apart."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", f"{answer.sheet.edition.release.manifest.name}_{_product(answer)}").upper()
    return f"{_AGENCY}:{name}(1.0.0-{answer.sheet.edition.release.id[:12]})"


def _product(answer: Answer) -> str:
    return answer.sheet.product.subject.name


def _dimensions(answer: Answer) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for place, axis in enumerate(answer.axes):
        codes = [harmless(code) for code in axis.codes]
        name = apart([component(axis.attribute.name)], ["STRUCTURE", "STRUCTURE_ID", "ACTION", *found])
        found[next(iter(name.values()))] = [codes[one] for one in answer.codes(place).tolist()]
    return found


def component(name: str) -> str:
    """A name as SDMX allows it for a component: letters, digits and underscores, a letter first.

    >>> component("job zone"), component("2nd")
    ('JOB_ZONE', 'X2ND')
    """
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name).upper()
    return plain if plain[:1].isalpha() else f"X{plain}"


def _values(answer: Answer) -> list[Any]:
    values: Sequence[Any] = finite(answer.columns.estimate)
    return [value if cells else None for value, cells in zip(values, answer.columns.cells.tolist(), strict=True)]


def _statuses(answer: Answer) -> list[str]:
    pairs = zip(answer.columns.grade.tolist(), answer.columns.cells.tolist(), strict=True)
    return [_CANNOT_EXIST if not cells else _LOW_RELIABILITY if grade == "C" else _NORMAL for grade, cells in pairs]
