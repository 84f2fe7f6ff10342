"""JSON-stat 2.0 of a table: errors on a metric dimension, grades as statuses, reasons for withheld errors as notes."""

from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.query.axis import Axis
from sfumato.query.columns import Columns
from sfumato.release import Subject, Withheld

if TYPE_CHECKING:
    from sfumato.query.crosstab import Crosstab

METRICS = {
    "estimate": "Estimate",
    "moe90": "Margin of error at 90%",
    "se_noise": "Standard error by privacy noise",
    "se_sampling": "Standard error by sampling",
    "cv": "Coefficient of variation",
}


def dataset_of(table: "Crosstab") -> dict[str, Any]:
    """The table as a JSON-stat dataset, ready for `json.dumps`."""
    manifest, columns = table.engine.release.manifest, table.columns()
    metric = _unused("metric", [axis.attribute.name for axis in table.axes])
    listed = {axis.attribute.name: dimension(axis) for axis in table.axes}
    listed[metric] = metric_dimension(table.product.subject)
    said = {"release": table.engine.release.id, "citation": table.cite(), "promise": manifest.promise.loss_words}
    return {
        "version": "2.0",
        "class": "dataset",
        "label": table.title,
        "source": manifest.title,
        "updated": manifest.created,
        "note": [*table.engine.warnings(), *_reasons(table)],
        "role": {"metric": [metric]},
        "id": list(listed),
        "size": [len(one["category"]["index"]) for one in listed.values()],
        "dimension": listed,
        "value": values(columns),
        "status": statuses(columns),
        "extension": {"sfumato": {**said, "universe": {name: list(codes) for name, codes in _universe(table).items()}}},
    }


def _unused(name: str, names: list[str]) -> str:
    while name in names:
        name += "_"
    return name


def _universe(table: "Crosstab") -> dict[str, tuple[str, ...]]:
    where = {name: (one,) if isinstance(one, (str, int)) else tuple(one) for name, one in table.where.items()}
    return {**table.product.subject.universe, **{name: tuple(map(str, codes)) for name, codes in where.items()}}


def _reasons(table: "Crosstab") -> list[str]:
    if not len(table.columns()):
        return []
    first = table.estimate(0)
    parts = (first.noise_variance, first.sampling_variance)
    return list(dict.fromkeys(part.reason for part in parts if isinstance(part, Withheld)))


def dimension(axis: Axis) -> dict[str, Any]:
    """A variable with the codes shown of it, which of them lie under which, and the levels of its groups as notes."""
    shown, children = set(axis.codes), dict[str, list[str]]()
    for code in axis.codes:
        parent = axis.parent(code)
        if parent in shown:
            children.setdefault(str(parent), []).append(code)
    notes = {code: [axis.note(code)] for code in axis.codes if axis.note(code)}
    category: dict[str, Any] = {
        "index": {code: place for place, code in enumerate(axis.codes)},
        "label": dict(zip(axis.codes, axis.labels, strict=True)),
    }
    category |= ({"child": children} if children else {}) | ({"note": notes} if notes else {})
    return {"label": axis.attribute.label, "category": category}


def metric_dimension(subject: Subject) -> dict[str, Any]:
    """The estimate and its errors as a dimension of their own."""
    units: dict[str, Any] = {name: {"base": subject.unit, "decimals": 2} for name in METRICS}
    units["estimate"] = {"base": subject.unit, "decimals": 0 if subject.step.denominator == 1 else 6}
    units["cv"] = {"base": "share", "decimals": 4}
    index = {name: place for place, name in enumerate(METRICS)}
    return {"label": "Estimate and error", "category": {"index": index, "label": METRICS, "unit": units}}


def values(columns: Columns) -> list[Any]:
    """The metrics of every cell, cell after cell; None where one is not a number."""
    found: list[Any] = [None] * (len(METRICS) * len(columns))
    for place, name in enumerate(METRICS):
        numbers = getattr(columns, name)
        said = numbers.tolist()
        if numbers.dtype.kind == "f":
            said = [one if kept else None for one, kept in zip(said, np.isfinite(numbers).tolist(), strict=True)]
        found[place :: len(METRICS)] = said
    return found


def statuses(columns: Columns) -> dict[str, str]:
    """The grade of each estimate, and a word for why where an error is not a number."""
    many = len(METRICS)
    found = {str(many * cell): str(grade) for cell, grade in enumerate(columns.grade.tolist())}
    for place, name in enumerate(METRICS):
        numbers = getattr(columns, name)
        if numbers.dtype.kind != "f":
            continue
        for cell in np.flatnonzero(~np.isfinite(numbers)).tolist():
            found[str(many * cell + place)] = "withheld" if np.isnan(numbers[cell]) else "infinite"
    return found
