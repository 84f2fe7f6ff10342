"""Pairs: neighbouring microdata made of the plan alone, as far apart as it allows, so that no real data are needed."""

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice, product

import numpy as np
import pyarrow as pa

from sfumato.confidential.engines import Reading
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.tabulate import reading
from sfumato.errors import PlanError
from sfumato.plan import Measure, Plan
from sfumato.privacy import AddRemove, ReplaceOne, SquareRootWithin
from sfumato.schema import Attribute, Bands, Frame, Mask
from sfumato.statistics import Total

Place = dict[str, int]
"""A record by the leaf that it has of each attribute."""
OTHERS = 4
"""How many records of other units stand in the second cell, the same on both sides; the first has none."""
TRIED = 100_000
"""How many combinations of leaves are tried for one that is possible."""


def neighbours_of(plan: Plan) -> tuple[Microdata, Microdata]:
    """A pair in which one unit, with more rows than it may have, fills a cell of the first measure or leaves it."""
    return worst_pairs(plan)[0]


def worst_pairs(plan: Plan) -> list[tuple[Microdata, Microdata]]:
    """Such a pair for each measure, each once; one pair does where a record can be in all."""
    if plan.framed is not None:
        return [_reports(plan, plan.framed.frame)]
    frames: list[tuple[pa.Table, pa.Table]] = []
    for measure in plan.measures:
        pair = _frames(plan, measure)
        if not any(pair[0].equals(one) and pair[1].equals(other) for one, other in frames):
            frames.append(pair)
    return [(Microdata.open(one, plan.schema), Microdata.open(other, plan.schema)) for one, other in frames]


def _reports(plan: Plan, frame: Frame) -> tuple[Microdata, Microdata]:
    """The first unit of a frame reports one size, or the largest that looks alike with it; nobody else reports."""
    assert isinstance(plan.hidden, SquareRootWithin)  # noqa: S101 - refused in the plan
    named = {plan.hidden.id or str(plan.frame and plan.frame.id): pa.array(frame.ids)[:1].cast(pa.string())}
    sides: tuple[dict[str, float], dict[str, float]] = ({}, {})
    for measure in plan.measures:
        if isinstance(measure.of, Total):
            mu = float(getattr(measure.with_, "mu", 1))
            pair = alike(plan.hidden.of(measure.of.column), measure.of.step, mu)
            for side, size in zip(sides, pair, strict=True):
                known = side.get(measure.of.column, 0.0)
                side[measure.of.column] = max(known, float(size * measure.of.step))
    one, other = (
        Microdata.open(pa.table(named | {name: [size] for name, size in side.items()}), plan.schema) for side in sides
    )
    return one, other


def alike(beta: Fraction, step: Fraction, mu: float) -> tuple[int, int]:
    """Two sizes in steps whose roots are beta apart, or nearly, and far from 0 by the noise that mu gives roots.

    >>> alike(Fraction(1), Fraction(1), 1.0), alike(Fraction(1, 2), Fraction(1), 0.7)
    ((100, 121), (144, 156))
    """
    # Only squares of noisy roots are published, so near 0 an attacker sees less than the law says.
    root = max(10, math.ceil(8 / mu))
    while True:
        low = math.ceil((root * beta) ** 2 / step)
        high = math.floor(((root + 1) * beta) ** 2 / step)
        if high > low and math.sqrt(high * step) - math.sqrt(low * step) >= 0.97 * beta:
            return low, high
        root *= 2


def _frames(plan: Plan, measure: Measure) -> tuple[pa.Table, pa.Table]:
    """The unit's rows in the first cell against none, or against as many in the second."""
    need = reading(plan)
    free = {attribute.name: _readable(attribute, need) for attribute in need.attributes}
    first = _place(plan, [measure, *plan.measures], free, {})
    fixed = plan.hidden.fixed if isinstance(plan.hidden, ReplaceOne) else ()
    held = {name: mask & _only(first[name], mask) if name in fixed else mask for name, mask in free.items()}
    second = _place(plan, sorted(plan.measures, key=lambda one: _holds(plan, one, first)), held, first)
    rows = plan.hidden.at_most + 2 if plan.hidden.id else 1
    replaced = [] if isinstance(plan.hidden, AddRemove) else [second] * rows
    others = [second] * OTHERS  # none in the first: noise that empty cells lack is seen nowhere else
    return _table(need, others, [first] * rows), _table(need, others, replaced)


def _readable(attribute: Attribute, need: Reading) -> Mask:
    """The leaves that some value of the column is read as; one that is summed too has the value of the sum."""
    leaves = range(len(attribute.levels.leaves))
    values = [_largest(need, attribute.column)] if _summed(need, attribute.column) else []
    if values and isinstance(attribute.read, Bands):
        bands = sum(edge <= values[0] for edge in attribute.read.edges)
        return np.array([_raw(attribute, leaf) == str(float(attribute.read.edges[bands - 1])) for leaf in leaves])
    return np.array([_raw(attribute, leaf) is not None or _is_missing(attribute, leaf) for leaf in leaves])


def _only(leaf: int, mask: Mask) -> Mask:
    return np.asarray(np.arange(len(mask)) == leaf)


def _holds(plan: Plan, measure: Measure, place: Place) -> bool:
    return all(bool(mask[place[name]]) for name, mask in plan.universe(measure).masks.items())


def _place(plan: Plan, measures: Sequence[Measure], free: Mapping[str, Mask], away: Place) -> Place:
    """A record in the universes of as many of the measures as go together, and elsewhere than another one."""
    best = next(_possible(plan, free, away), None)
    if best is None:
        raise PlanError(f"The plan '{plan.name}' leaves no possible record to audit; give two frames of your own.")
    for measure in measures:
        masks = plan.universe(measure).masks
        narrowed = {name: mask & masks[name] if name in masks else mask for name, mask in free.items()}
        found = next(_possible(plan, narrowed, away), None)
        if found is not None:
            best, free = found, narrowed
    return best


def _possible(plan: Plan, free: Mapping[str, Mask], away: Place) -> Iterator[Place]:
    """The records that no rule forbids, those first that share nothing with the other one.

    Only attributes that a rule names are tried, as the leaves of the others forbid nothing, however many they are.
    """
    leaves = {
        name: sorted(np.flatnonzero(mask).tolist(), key=lambda leaf: leaf == away.get(name))
        for name, mask in free.items()
    }
    rules = [
        [(name, plan.schema.attribute(name).levels.mask(codes)) for name, codes in rule.where]
        for rule in plan.schema.impossible
    ]
    named = {name for rule in rules for name, _ in rule}
    tried = product(*(listed if name in named else listed[:1] for name, listed in leaves.items()))
    for combination in islice(tried, TRIED):
        place = dict(zip(free, combination, strict=True))
        if not any(all(mask[place[name]] for name, mask in rule) for rule in rules):
            yield place


def _raw(attribute: Attribute, leaf: int) -> str | None:
    """A value of the column that is read as a leaf, none where only a missing value is."""
    if isinstance(attribute.read, Bands):
        missing = attribute.missing.level if attribute.missing else None
        bands = [place for place, code in enumerate(attribute.levels.leaves) if code != missing]
        if leaf in bands:
            return str(float(attribute.read.edges[bands.index(leaf)]))
    return next((raw for raw, place in attribute.raw_codes.items() if place == leaf), None)


def _is_missing(attribute: Attribute, leaf: int) -> bool:
    return attribute.missing is not None and attribute.levels.leaves[leaf] == attribute.missing.level


def _summed(need: Reading, column: str) -> bool:
    return any(one.column == column for one in need.sums)


def _largest(need: Reading, column: str) -> float:
    """The end of the clip that moves a total most."""
    ends = [end for one in need.sums if one.column == column for end in (one.low, one.high)]
    return float(max(ends, key=abs))


def _table(need: Reading, others: list[Place], unit: list[Place]) -> pa.Table:
    """The records as text, the unit's rows under one name and every other one under its own."""
    rows = [*others, *unit]
    columns: dict[str, Sequence[str | None]] = {name: ["1"] * len(rows) for name in need.columns}
    for attribute in need.attributes:
        columns[attribute.column] = [_raw(attribute, row[attribute.name]) for row in rows]
    for one in need.sums:
        columns[one.column] = [str(_largest(need, one.column))] * len(rows)
    if need.id:
        columns[need.id] = [f"other {place}" for place in range(len(others))] + ["the unit"] * len(unit)
    if need.schema.key:
        columns[need.schema.key] = [f"record {place}" for place in range(len(rows))]
    return pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})
