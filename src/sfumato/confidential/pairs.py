"""Pairs: neighbouring microdata made of the plan alone, as far apart as it allows, so that no real data are needed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product

import numpy as np
import pyarrow as pa

from sfumato.confidential.engines.request import Reading
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.tabulate import reading
from sfumato.errors import PlanError
from sfumato.plan import Measure, Plan
from sfumato.schema import Attribute, Bands, Mask

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
    frames: list[tuple[pa.Table, pa.Table]] = []
    for measure in plan.measures:
        pair = _frames(plan, measure)
        if not any(pair[0].equals(one) and pair[1].equals(other) for one, other in frames):
            frames.append(pair)
    return [(Microdata.open(one, plan.schema.flat), Microdata.open(other, plan.schema.flat)) for one, other in frames]


@dataclass(frozen=True)
class UnitSide:
    """One unit on one side of a pair: how many rows it has, what stands in their columns, and where they stand."""

    rows: int
    values: Mapping[str, float]
    elsewhere: bool


def _sides(plan: Plan, measure: Measure) -> tuple[UnitSide, UnitSide]:
    """The unit that neighbours differ in, its rows by one measure and in each column the farthest value of any."""
    values: tuple[dict[str, float], dict[str, float]] = ({}, {})
    for each in plan.measures:
        column, pair = each.of.contribution.column, plan.hidden.pair(each.of.contribution, plan.domain(each))
        for side, unit in zip(values, pair, strict=True):
            if column is not None:
                side[column] = max(side.get(column, 0.0), float(unit.value), key=abs)
    one, other = plan.hidden.pair(measure.of.contribution, plan.domain(measure))
    return UnitSide(one.rows, values[0], one.elsewhere), UnitSide(other.rows, values[1], other.elsewhere)


def _frames(plan: Plan, measure: Measure) -> tuple[pa.Table, pa.Table]:
    """The unit's rows in the first cell, against what its neighbour has there or in the second."""
    need, sides = reading(plan), _sides(plan, measure)
    free = {attribute.name: _readable(attribute, sides[0]) for attribute in need.attributes}
    first = _place(plan, [measure, *plan.measures], free, {})
    kept = plan.hidden.keeps(plan.schema.attributes)
    held = {name: mask & _only(first[name], mask) if name in kept else mask for name, mask in free.items()}
    second = _place(plan, sorted(plan.measures, key=lambda one: _holds(plan, one, first)), held, first)
    unit, *others = plan.over.units(plan.universe(measure), OTHERS)
    # None of the others in the first: noise that empty cells lack is seen nowhere else.
    still = dict.fromkeys(others, second)
    one, other = (_table(need, still, side, (unit, second if side.elsewhere else first)) for side in sides)
    return one, other


def _readable(attribute: Attribute, side: UnitSide) -> Mask:
    """The leaves that some value of the column is read as; one that is summed too has the value of the sum."""
    leaves = range(len(attribute.levels.leaves))
    if attribute.column in side.values and isinstance(attribute.read, Bands):
        bands = sum(edge <= side.values[attribute.column] for edge in attribute.read.edges)
        return np.array([_raw(attribute, leaf) == str(float(attribute.read.edges[bands - 1])) for leaf in leaves])
    return np.array([_raw(attribute, leaf) is not None or _is_missing(attribute, leaf) for leaf in leaves])


def _only(leaf: int, mask: Mask) -> Mask:
    return np.asarray(np.arange(len(mask)) == leaf)


def _holds(plan: Plan, measure: Measure, place: Place) -> bool:
    return all(mask[place[name]] for name, mask in plan.universe(measure).masks.items() if name in place)


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


def _table(need: Reading, others: Mapping[str, Place], side: UnitSide, unit: tuple[str, Place]) -> pa.Table:
    """The records as text, the unit's rows under one name and every other one under its own."""
    named = [*others.items(), *[unit] * side.rows]
    columns: dict[str, Sequence[str | None]] = {name: ["1"] * len(named) for name in need.columns}
    for attribute in need.attributes:
        columns[attribute.column] = [_raw(attribute, place[attribute.name]) for _, place in named]
    for column, value in side.values.items():
        columns[column] = [str(value)] * len(named)
    if need.id:
        columns[need.id] = [name for name, _ in named]
    if need.schema.key:
        columns[need.schema.key] = [f"record {number}" for number in range(len(named))]
    return pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})
