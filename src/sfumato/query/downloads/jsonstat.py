"""JSON-stat 2.0: a table with its errors on a metric dimension, its grades and what is missing as statuses."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pydantic_core import to_json

from sfumato.query.answer import Answer, apart, time_name
from sfumato.query.axis import Axis
from sfumato.query.columns import listed
from sfumato.query.notices import cited
from sfumato.query.wording import grade_words, words

CONTENTS = "ContentsCode"


def metric_name(names: Sequence[str]) -> str:
    """The name of the metric dimension, as PxWeb calls that of contents; no variable has it."""
    return apart([CONTENTS], names)[CONTENTS]


def write(answer: Answer) -> bytes:
    return to_json(dataset(answer), inf_nan_mode="null")


def dataset(answer: Answer) -> dict[str, Any]:
    """An answer as a JSON-stat dataset; totals are exact integers where the step is whole."""
    numbers, figures = answer.columns, answer.figures
    found = {"value": _values(answer), "status": _statuses(answer)}
    found["note"] = [
        *answer.notices,
        *filter(None, [answer.note]),
        *(one.reason for one in figures.missing),
        *answer.unsaid,
        *answer.remarks,
    ]
    universe = {name: list(codes) for name, codes in figures.universe.items()}
    placed = {"stub": list(answer.placement.stub), "heading": list(answer.placement.heading)}
    extension: dict[str, Any] = {"sfumato": {"universe": universe, "withheld": list(figures.reasons())}}
    extension |= {"px": placed} if any(placed.values()) else {}
    extension["status"] = {"label": {one.code: one.reason for one in figures.missing}}
    return joined(described(answer, whole=numbers.estimate.dtype.kind != "f"), found | {"extension": extension})


def described(answer: Answer, *, whole: bool) -> dict[str, Any]:
    """The dataset without its values: every variable with its codes and their hierarchy, and what is to be known."""
    manifest = answer.manifest
    names = [one.name for one in answer.figures.product.attributes]
    metric, time = metric_name(names), answer.figures.time
    dimensions = {axis.attribute.name: _dimension(axis, answer) for axis in answer.figures.axes}
    if not time and manifest.period:
        time = time_name(names)
        dimensions[time] = one_period(manifest.period, answer.language)
    dimensions[metric] = _metric_dimension(answer, whole=whole)
    drawn = [one.attribute for one in manifest.geographies if one.attribute in dimensions]
    plain = {
        "version": "2.0",
        "class": "dataset",
        "href": answer.path,
        "label": answer.title,
        "source": manifest.title,
        "updated": manifest.created[:10],
        "note": [*answer.notices, *filter(None, [answer.note])],
        "role": {"metric": [metric]} | ({"time": [time]} if time else {}) | ({"geo": drawn} if drawn else {}),
        "id": list(dimensions),
        "size": [len(one["category"]["index"]) for one in dimensions.values()],
        "dimension": dimensions,
        "extension": _extension(answer),
    }
    return joined({name: value for name, value in plain.items() if name != "href" or value}, answer.more())


def joined(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Both, the second on top of the first, also within what both have.

    >>> joined({"a": {"b": 1}}, {"a": {"c": 2}})
    {'a': {'b': 1, 'c': 2}}
    """
    both = {name: joined(one[name], value) for name, value in other.items() if isinstance(one.get(name), dict)}
    return {**one, **other, **both}


def _extension(answer: Answer) -> dict[str, Any]:
    periods = [release.manifest.period for release in answer.figures.releases]
    subject, manifest = answer.figures.product.subject, answer.manifest
    told = words(answer.language).listed("verdict") if answer.changes else grade_words(manifest.grades, answer.language)
    statuses = told | words(answer.language).listed("status")
    return {
        "px": {"contents": answer.figures.statistic, "language": answer.language, "aggregallowed": subject.additive},
        "firstPeriod": periods[0],
        "lastPeriod": periods[-1],
        "status": {"label": statuses},
        "sfumato": {
            "release": answer.release.id,
            "citation": " ".join(map(cited, answer.figures.releases)),
            "promise": manifest.promise.loss_words,
            "note": answer.note,
        },
    }


def _dimension(axis: Axis, answer: Answer) -> dict[str, Any]:
    """A variable with the codes shown of it, which of them lie under which, and the levels of its groups as notes."""
    codes, levels = axis.codes, axis.attribute.levels
    category: dict[str, Any] = {
        "index": {code: place for place, code in enumerate(codes)},
        "label": dict(zip(codes, axis.labels, strict=True)),
    }
    children = _children(axis) if levels.depth else {}
    category |= {"child": children} if children else {}
    notes = {code: [axis.note(code)] for code in codes if axis.note(code)} if any(levels.notes) or axis.named else {}
    category |= {"note": notes} if notes else {}
    timely = axis.attribute.name == answer.figures.time
    extension = {"elimination": answer.figures.product.subject.additive and not timely}
    label = words(answer.language)("about.period") if timely else axis.attribute.label
    return {"label": label, "category": category, "extension": extension}


def one_period(period: str, language: str) -> dict[str, Any]:
    """The variable of periods where all numbers are of one."""
    category = {"index": {period: 0}, "label": {period: period}}
    return {"label": words(language)("about.period"), "category": category, "extension": {"elimination": False}}


def _children(axis: Axis) -> dict[str, list[str]]:
    shown, children = set(axis.codes), dict[str, list[str]]()
    for code in axis.codes:
        parent = axis.parent(code)
        if parent in shown:
            children.setdefault(str(parent), []).append(code)
    return children


def _metric_dimension(answer: Answer, *, whole: bool) -> dict[str, Any]:
    """The estimate and its errors as a dimension of their own."""
    unit, said = answer.figures.unit, words(answer.language).listed("metric")
    names, fine = answer.metrics, 6 if unit == "share" else 2
    units: dict[str, Any] = {name: {"base": unit, "decimals": fine} for name in names}
    units |= {"estimate": {"base": unit, "decimals": 0 if whole else 6}, "cv": {"base": "share", "decimals": 4}}
    units |= {name: {"base": "percent", "decimals": 2} for name in names if name.startswith("percent")}
    index = {name: place for place, name in enumerate(names)}
    category = {"index": index, "label": {name: said[name] for name in names}, "unit": units}
    return {"label": said["dimension"], "category": category, "extension": {"elimination": False}}


def _values(answer: Answer) -> list[Any]:
    """The metrics of every cell, cell after cell; None where one cannot be a number."""
    names = answer.metrics
    values: list[Any] = [None] * (len(names) * len(answer.columns))
    for place, name in enumerate(names):
        values[place :: len(names)] = listed(answer.metric(name), finite=True)
    return values


def _statuses(answer: Answer) -> dict[str, str]:
    """The grade or verdict of each estimate or why it is missing, and why where an error is not a number."""
    numbers, names = answer.columns, answer.metrics
    many, missing = len(names), numbers.status("code")
    judged = numbers.more["verdict"] if answer.changes else numbers.grade
    said = zip(judged.tolist(), missing, strict=True)
    statuses = {str(many * cell): code or grade for cell, (grade, code) in enumerate(said)}
    for place, name in enumerate(names[1:], start=1):
        metric = answer.metric(name)
        for cell in np.flatnonzero(~np.isfinite(metric)).tolist():
            word = "withheld" if np.isnan(metric[cell]) else "infinite"
            statuses[str(many * cell + place)] = missing[cell] or word
    return statuses
