"""SDMX-CSV 2.0: one line an observation, the errors and the grade as attributes, the release as a column of our own.

Columns and their order follow the field guide of the SDMX technical working group (data message, version 2.0).
"""

import re
from collections.abc import Iterator
from typing import Any

from sfumato.errors import QueryError
from sfumato.query.answer import Answer, apart
from sfumato.query.columns import listed
from sfumato.query.downloads.tidy import beside, csv_pieces, harmless

_AGENCY = "SFUMATO"
_LOW_RELIABILITY, _NORMAL = "U", "A"
"""Codes of SDMX's list of observation statuses (CL_OBS_STATUS)."""


def pieces(answer: Answer) -> Iterator[bytes]:
    if answer.figures.together:
        raise QueryError("SDMX-CSV has numbers of periods, and a year of several releases is none; leave years out.")
    yield from csv_pieces(answer, columns)


def columns(answer: Answer) -> dict[str, list[Any]]:
    """The columns of the message: the structure, the dimensions, the measure, the attributes, then our own."""
    numbers, count = answer.columns, len(answer.columns)
    found: dict[str, list[Any]] = {"STRUCTURE": ["dataflow"] * count, "STRUCTURE_ID": [structure(answer)] * count}
    found["ACTION"] = ["I"] * count
    dimensions = _dimensions(answer)
    own = {
        "TIME_PERIOD": _periods(answer),
        "OBS_VALUE": listed(numbers.estimate, finite=True),
        **{
            name.upper(): listed(answer.metric(name), finite=True) for name in answer.tidy_metrics if name != "estimate"
        },
        **({} if answer.changes else {"GRADE": numbers.grade.tolist()}),
        **{name.upper(): texts for name, texts in answer.verdicts.items()},
        "CELLS": numbers.cells.tolist(),
        "OBS_STATUS": _statuses(answer),
        "REASON": [harmless(one) for one in numbers.status("reason", " ".join(answer.unsaid))],
    }
    for name, text in beside(answer).items():
        if name == "period":
            continue
        own["UNIT_MEASURE" if name == "unit" else name.upper()] = [harmless(text)] * count
    names = apart(list(own), list(dimensions))
    return found | dimensions | {names[name]: values for name, values in own.items()}


def structure(answer: Answer) -> str:
    """The dataflow's identification, AGENCY:ID(VERSION); the version tells releases of one name apart."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", f"{answer.manifest.name}_{answer.figures.product.subject.name}").upper()
    return f"{_AGENCY}:{name}(1.0.0-{answer.release.id[:12]})"


def _dimensions(answer: Answer) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for place, axis in enumerate(answer.figures.axes):
        if axis.attribute.name == answer.figures.time:
            continue
        codes = [harmless(code) for code in axis.codes]
        name = apart([component(axis.attribute.name)], ["STRUCTURE", "STRUCTURE_ID", "ACTION", *found])
        found[next(iter(name.values()))] = [codes[one] for one in answer.codes(place).tolist()]
    return found


def _periods(answer: Answer) -> list[str]:
    """The period of each line; a change is of the later one."""
    for place, axis in enumerate(answer.figures.axes):
        if axis.attribute.name == answer.figures.time:
            codes = [harmless(code) for code in axis.codes]
            return [codes[one] for one in answer.codes(place).tolist()]
    return [harmless(answer.manifest.period)] * len(answer.columns)


def component(name: str) -> str:
    """A name as SDMX allows it for a component: letters, digits and underscores, a letter first.

    >>> component("job zone"), component("2nd")
    ('JOB_ZONE', 'X2ND')
    """
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name).upper()
    return plain if plain[:1].isalpha() else f"X{plain}"


def _statuses(answer: Answer) -> list[str]:
    held = zip(answer.columns.status("sdmx"), answer.columns.grade.tolist(), strict=True)
    return [missing or (_LOW_RELIABILITY if grade == "C" else _NORMAL) for missing, grade in held]
