"""JSON-stat 2.0: a table with its errors on a metric dimension and its grades as statuses."""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from sfumato.query import Crosstab, Estimate
from sfumato.release import Withheld
from sfumato.schema import Attribute
from sfumato.serve.catalogue import Sheet
from sfumato.serve.question import Question, code_list, code_lists

METRICS = {
    "estimate": "Estimate",
    "moe90": "Margin of error at 90%",
    "se_noise": "Standard error by privacy noise",
    "se_sampling": "Standard error by sampling",
    "cv": "Coefficient of variation",
}


def metric_name(sheet: Sheet) -> str:
    """The name of the metric dimension, which no variable of the table has."""
    name = "metric"
    while name in sheet.names:
        name += "_"
    return name


def answer(question: Question, base_path: str) -> bytes:
    """The answer to a question as a JSON-stat dataset; totals are exact integers where the step is whole."""
    sheet, table = question.sheet, question.table()
    cells = [estimate for _, estimate in table.items()]
    rows = [_metrics(estimate) for estimate in cells]
    values = [None if isinstance(value, str) else value for row in rows for value in row]
    dimensions = {axis.attribute.name: _dimension(sheet, axis.attribute, axis.codes) for axis in table.axes}
    dataset = _dataset(sheet, dimensions, f"{base_path}/api/v2/tables/{sheet.id}/data", _title(table, question))
    dataset |= {"value": values, "status": dict(_statuses(rows, [estimate.grade for estimate in cells]))}
    dataset["extension"]["sfumato"]["universe"] = {name: list(codes) for name, codes in question.within.items()}
    dataset["note"] = [*dataset["note"], *reasons(cells)]
    return encoded(dataset)


def metadata(sheet: Sheet, base_path: str) -> bytes:
    """The table without its values: every variable with every code, its hierarchy and its code lists."""
    dimensions = {one.name: _dimension(sheet, one, one.levels.codes) for one in sheet.product.attributes}
    address = f"{base_path}/api/v2/tables/{sheet.id}"
    dataset = _dataset(sheet, dimensions, f"{address}/metadata", sheet.title)
    dataset["link"] = {"describes": [{"type": "application/json", "href": f"{address}/data"}]}
    return encoded(dataset)


def encoded(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _metrics(estimate: Estimate) -> list[float | str]:
    """The metrics of a cell; where one cannot be a number, the word for why."""
    errors = (estimate.moe(0.90), estimate.noise_se, estimate.sampling_se, estimate.cv)
    return [estimate.value, *(_number(one) for one in errors)]


def _number(error: float | Withheld) -> float | str:
    if isinstance(error, Withheld):
        return "withheld"
    return error if math.isfinite(error) else "infinite"


def _statuses(rows: list[list[float | str]], grades: list[str]) -> Iterator[tuple[str, str]]:
    """The grade of each estimate, and the reason where an error is not a number."""
    for cell, (row, grade) in enumerate(zip(rows, grades, strict=True)):
        first = cell * len(METRICS)
        yield str(first), grade
        for place, value in enumerate(row):
            if isinstance(value, str):
                yield str(first + place), value


def reasons(cells: list[Estimate]) -> list[str]:
    """Why errors are withheld, each reason once."""
    parts = [part for one in cells for part in (one.noise_variance, one.sampling_variance)]
    return list(dict.fromkeys(part.reason for part in parts if isinstance(part, Withheld)))


def _title(table: Crosstab, question: Question) -> str:
    shown = f"{table.title}" if table.axes else table.product.subject.title
    held = [question.sheet.attribute(name).label for name in question.within if name in question.sheet.names]
    return f"{shown}, within a part of {', '.join(held)}" if held else shown


def _dataset(sheet: Sheet, dimensions: Mapping[str, Any], href: str, label: str) -> dict[str, Any]:
    manifest, metric = sheet.edition.release.manifest, metric_name(sheet)
    listed = {**dimensions, metric: _metric_dimension(sheet)}
    return {
        "version": "2.0",
        "class": "dataset",
        "href": href,
        "label": label,
        "source": manifest.title,
        "updated": manifest.created,
        "note": [notice.sentence for notice in sheet.edition.notices],
        "role": {"metric": [metric]},
        "id": list(listed),
        "size": [len(one["category"]["index"]) for one in listed.values()],
        "dimension": listed,
        "extension": _extension(sheet),
    }


def _extension(sheet: Sheet) -> dict[str, Any]:
    edition, grades = sheet.edition, sheet.edition.release.manifest.grades
    said = {"release": edition.release.id, "lastingId": sheet.lasting_id, "citation": edition.engine.cite()}
    return {
        "px": {"tableid": sheet.id, "contents": sheet.product.subject.title, "language": "en"}
        | {"aggregallowed": sheet.product.subject.additive},
        "status": {"label": grade_words(grades) | {"infinite": "The estimate is 0", "withheld": "Cannot be stated"}},
        "sfumato": {**said, "promise": edition.release.manifest.promise.loss_words},
    }


def grade_words(grades: Mapping[str, float]) -> dict[str, str]:
    """What each grade means."""
    low, high = f"{100 * grades['A']:.3g}%", f"{100 * grades['B']:.3g}%"
    return {
        "A": f"CV under {low}",
        "B": f"CV {low} to {high}",
        "C": f"CV over {high}, or the 90% interval covers 0",
        "-": "error withheld",
    }


def _dimension(sheet: Sheet, attribute: Attribute, codes: tuple[str, ...]) -> dict[str, Any]:
    levels, shown = attribute.levels, set(codes)
    children: dict[str, list[str]] = {}
    for code in codes:
        parent = levels.parent(code)
        if parent in shown:
            children.setdefault(str(parent), []).append(code)
    notes = dict(zip(levels.codes, levels.notes, strict=True))
    category: dict[str, Any] = {
        "index": {code: place for place, code in enumerate(codes)},
        "label": {code: levels.label(code) for code in codes},
    }
    category |= {"child": children} if children else {}
    category |= {"note": {code: [notes[code]] for code in codes if notes[code]}} if any(levels.notes) else {}
    extension = {"elimination": sheet.product.subject.additive, "codeLists": _lists(attribute)}
    return {"label": attribute.label, "category": category, "extension": extension}


def _lists(attribute: Attribute) -> list[dict[str, Any]]:
    if not attribute.levels.depth:
        return []
    return [
        {"id": name, "label": f"{label} ({len(code_list(attribute.levels, name))})", "type": "Valueset", "links": []}
        for name, label in code_lists(attribute.levels).items()
    ]


def _metric_dimension(sheet: Sheet) -> dict[str, Any]:
    subject = sheet.product.subject
    decimals = 0 if subject.step.denominator == 1 else 6
    units: dict[str, Any] = {name: {"base": subject.unit, "decimals": 2} for name in METRICS}
    units |= {"estimate": {"base": subject.unit, "decimals": decimals}, "cv": {"base": "share", "decimals": 4}}
    index = {name: place for place, name in enumerate(METRICS)}
    category = {"index": index, "label": METRICS, "unit": units}
    return {"label": "Estimate and error", "category": category, "extension": {"elimination": False}}
