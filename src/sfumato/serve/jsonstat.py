"""JSON-stat 2.0: a table with its errors on a metric dimension and its grades as statuses."""

from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import quote

import numpy as np
from pydantic_core import to_json

from sfumato.query import Axis, Estimate
from sfumato.release import Withheld
from sfumato.schema import Attribute
from sfumato.serve.catalogue import Sheet
from sfumato.serve.downloads.answer import METRICS, Answer, finite
from sfumato.serve.downloads.words import grade_words, texts
from sfumato.serve.question import code_list, code_lists


def metric_name(sheet: Sheet) -> str:
    """The name of the metric dimension, which no variable of the table has."""
    name = "metric"
    while name in sheet.names:
        name += "_"
    return name


def answer(asked: Answer) -> bytes:
    """The answer to a question as a JSON-stat dataset; totals are exact integers where the step is whole."""
    sheet = asked.sheet
    dimensions = {axis.attribute.name: _dimension(sheet, axis, asked.path) for axis in asked.axes}
    dataset = _dataset(sheet, dimensions, asked.path, asked.title, asked.language)
    dataset |= {"value": _values(asked), "status": _statuses(asked)}
    dataset["extension"]["sfumato"]["universe"] = {name: list(codes) for name, codes in asked.universe.items()}
    dataset["extension"]["sfumato"]["withheld"] = list(asked.reasons)
    if asked.placement.stub or asked.placement.heading:
        dataset["extension"]["px"] |= {"stub": list(asked.placement.stub), "heading": list(asked.placement.heading)}
    dataset["note"] = [*dataset["note"], *asked.reasons]
    return to_json(dataset, inf_nan_mode="null")


def metadata(sheet: Sheet, address: str, language: str = "en") -> bytes:
    """The table without its values: every variable with every code, its hierarchy and its code lists."""
    every = [Axis(attribute, attribute.levels.codes) for attribute in sheet.product.attributes]
    dimensions = {axis.attribute.name: _dimension(sheet, axis, address) for axis in every}
    dataset = _dataset(sheet, dimensions, f"{address}/metadata", sheet.title, language)
    dataset["link"] = {"describes": [{"type": "application/json", "href": f"{address}/data"}]}
    return to_json(dataset)


def list_id(sheet: Sheet, attribute: Attribute, name: str) -> str:
    """The name that a code list has on the whole server."""
    return f"{sheet.edition.key}~{attribute.name}~{name}"


def list_type(name: str) -> Literal["Aggregation", "Valueset"]:
    """A level of a hierarchy adds up what lies below it; the leaves, and all codes, stand for themselves."""
    return "Valueset" if name in {"leaves", "all"} else "Aggregation"


def _values(asked: Answer) -> list[Any]:
    """The metrics of every cell, cell after cell; None where one cannot be a number."""
    values: list[Any] = [None] * (len(METRICS) * len(asked.columns))
    for place, name in enumerate(METRICS):
        values[place :: len(METRICS)] = finite(getattr(asked.columns, name))
    return values


def _statuses(asked: Answer) -> dict[str, str]:
    """The grade of each estimate, and the word for why where an error is not a number."""
    numbers, many = asked.columns, len(METRICS)
    grades = numbers.grade.tolist()
    statuses = {str(many * cell): grade for cell, grade in enumerate(grades)}
    for place, name in enumerate(METRICS[1:], start=1):
        metric = getattr(numbers, name)
        for cell in np.flatnonzero(~np.isfinite(metric)).tolist():
            statuses[str(many * cell + place)] = "withheld" if np.isnan(metric[cell]) else "infinite"
    return statuses


def reasons(cells: list[Estimate]) -> list[str]:
    """Why errors are withheld, each reason once."""
    parts = [part for one in cells for part in (one.noise_variance, one.sampling_variance)]
    return list(dict.fromkeys(part.reason for part in parts if isinstance(part, Withheld)))


def _dataset(sheet: Sheet, dimensions: Mapping[str, Any], href: str, label: str, language: str) -> dict[str, Any]:
    manifest, metric = sheet.edition.release.manifest, metric_name(sheet)
    listed = {**dimensions, metric: _metric_dimension(sheet, language)}
    drawn = [one.attribute for one in manifest.geographies if one.attribute in dimensions]
    return {
        "version": "2.0",
        "class": "dataset",
        "href": href,
        "label": label,
        "source": manifest.title,
        "updated": manifest.created,
        "note": [notice.sentence for notice in sheet.edition.notices],
        "role": {"metric": [metric]} | ({"geo": drawn} if drawn else {}),
        "id": list(listed),
        "size": [len(one["category"]["index"]) for one in listed.values()],
        "dimension": listed,
        "extension": _extension(sheet, language),
    }


def _extension(sheet: Sheet, language: str) -> dict[str, Any]:
    edition, manifest, said = sheet.edition, sheet.edition.release.manifest, texts(language)
    return {
        "px": {"tableid": sheet.id, "contents": sheet.product.subject.title, "language": language}
        | {"aggregallowed": sheet.product.subject.additive},
        "firstPeriod": manifest.period,
        "lastPeriod": manifest.period,
        "discontinued": not edition.current,
        "status": {"label": grade_words(manifest.grades, language) | dict(said["status"])},
        "sfumato": {
            "release": edition.release.id,
            "lastingId": sheet.lasting_id,
            "citation": edition.engine.cite(),
            "promise": manifest.promise.loss_words,
            "note": sheet.product.subject.note,
        },
    }


def _dimension(sheet: Sheet, axis: Axis, address: str) -> dict[str, Any]:
    codes, levels = axis.codes, axis.attribute.levels
    category: dict[str, Any] = {
        "index": {code: place for place, code in enumerate(codes)},
        "label": dict(zip(codes, axis.labels, strict=True)),
    }
    children = _children(axis) if levels.depth else {}
    category |= {"child": children} if children else {}
    notes = {code: [axis.note(code)] for code in codes if axis.note(code)} if any(levels.notes) or axis.named else {}
    category |= {"note": notes} if notes else {}
    lists = _lists(sheet, axis.attribute, address)
    # Clients written for the first drafts of PxWebApi 2 read codeLists, newer ones codelists.
    extension = {"elimination": sheet.product.subject.additive, "codelists": lists, "codeLists": lists}
    return {"label": axis.attribute.label, "category": category, "extension": extension}


def _children(axis: Axis) -> dict[str, list[str]]:
    shown, children = set(axis.codes), dict[str, list[str]]()
    for code in axis.codes:
        parent = axis.parent(code)
        if parent in shown:
            children.setdefault(str(parent), []).append(code)
    return children


def _lists(sheet: Sheet, attribute: Attribute, address: str) -> list[dict[str, Any]]:
    if not attribute.levels.depth:
        return []
    base = address.partition("/api/v2/")[0]
    return [
        {
            "id": list_id(sheet, attribute, name),
            "label": f"{label} ({len(code_list(attribute.levels, name))})",
            "type": list_type(name),
            "links": [codelist_link(base, list_id(sheet, attribute, name))],
        }
        for name, label in code_lists(attribute.levels).items()
    ]


def codelist_link(base: str, code: str) -> dict[str, str]:
    return {"rel": "metadata", "hreflang": "en", "href": f"{base}/api/v2/codelists/{quote(code, safe='~')}"}


def _metric_dimension(sheet: Sheet, language: str) -> dict[str, Any]:
    subject, said = sheet.product.subject, texts(language)["metric"]
    decimals = 0 if subject.step.denominator == 1 else 6
    units: dict[str, Any] = {name: {"base": subject.unit, "decimals": 2} for name in METRICS}
    units |= {"estimate": {"base": subject.unit, "decimals": decimals}, "cv": {"base": "share", "decimals": 4}}
    index = {name: place for place, name in enumerate(METRICS)}
    category = {"index": index, "label": {name: said[name] for name in METRICS}, "unit": units}
    return {"label": said["dimension"], "category": category, "extension": {"elimination": False}}
