"""Pairs: neighbouring microdata made of the plan alone, as far apart as it allows, so that no real data are needed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.confidential.engines.request import Reading
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.tabulate import reading
from sfumato.errors import PlanError
from sfumato.plan import Measure, Plan
from sfumato.privacy import Contribution, UnitRows
from sfumato.schema import Attribute, Bands, Mask

Place = dict[str, int]
"""A record by the leaf that it has of each attribute."""
Values = dict[str, float]
"""What stands in columns."""
OTHERS = 4
"""How many records of other units stand in the second cell, the same on both sides; the first has none."""
TRIED = 100_000
"""How many combinations of leaves are tried for one that is possible."""


@dataclass(frozen=True)
class WorstPair:
    """Two neighbours, and the measures that are as far apart in them as in any."""

    one: Microdata
    other: Microdata
    measures: frozenset[str]

    def __iter__(self) -> Iterator[Microdata]:
        return iter((self.one, self.other))


def worst_pairs(plan: Plan) -> list[WorstPair]:
    """Pairs in which one unit, with more rows than it may have, fills a cell of a measure or leaves it, each once.

    Where all units of a firm move at once, they do. One pair does where a record can be in all measures.
    """
    frames: list[tuple[pa.Table, pa.Table]] = []
    worst: list[set[str]] = []
    for measure in plan.measures:
        moving, ways = plan.over.moving(measure, plan.universe(measure)), range(len(plan.over.pairs(measure)))
        for units, way in product(moving, ways):
            pair = _frames(plan, measure, units, way)
            same = (pair[0].equals(one) and pair[1].equals(other) for one, other in frames)
            place = next((place for place, is_same in enumerate(same) if is_same), len(frames))
            if place == len(frames):
                frames.append(pair)
                worst.append(set())
            worst[place].add(measure.name)
    opened = [[Microdata.open(side, plan.schema.flat) for side in pair] for pair in frames]
    return [WorstPair(one, other, frozenset(names)) for (one, other), names in zip(opened, worst, strict=True)]


def moved_words(plan: Plan) -> str:
    """What the two sides of the pairs differ by, where that is more than one unit."""
    if plan.hidden.together is None:
        return ""
    unit = plan.hidden.unit
    moved = [units for one in plan.measures for units in plan.over.moving(one, plan.universe(one))]
    sizes = sorted({len(units) for units in moved}, reverse=True)
    many = " or ".join(f"{size:,}" for size in sizes)
    return (
        f"Whole firms were moved: on the two sides all {unit}s of one firm differ at once, {many} of them, of the firm "
        "with most and of the one that is most crowded in a group."
    )


def _sides(plan: Plan, measure: Measure, way: int) -> tuple[UnitRows, UnitRows]:
    """The rows of a unit in the pair of a measure; where it has fewer pairs, in its first."""
    pairs = plan.over.pairs(measure)
    return pairs[way if way < len(pairs) else 0]


def _values(plan: Plan, measure: Measure, way: int) -> tuple[Values, Values]:
    """In each column the farthest value that any measure's pair has, on either side, or what this measure's own has.

    Where the farthest is clipped to its own, one pair does for several measures.
    """
    values: tuple[Values, Values] = ({}, {})
    for one in plan.measures:
        for side, unit in zip(values, _sides(plan, one, way), strict=True):
            if (column := one.of.contribution.column) is not None:
                side[column] = max(side.get(column, 0.0), float(unit.value), key=abs)
    row = measure.of.contribution
    for side, unit in zip(values, _sides(plan, measure, way), strict=True):
        if row.column is not None and _clipped(row, side[row.column]) != float(unit.value):
            side[row.column] = float(unit.value)
    return values


def _clipped(row: Contribution, value: float) -> float:
    """What counts of a value; all of it where there is no clip."""
    if row.low is None or row.high is None:
        return value
    low, high = (float(row.reaching(end)) for end in row.bounds)
    return min(max(value, low), high)


def _frames(plan: Plan, measure: Measure, units: Sequence[str], way: int) -> tuple[pa.Table, pa.Table]:
    """The rows of what moves in the first cell, against what its neighbour has there or in the second."""
    need, values = reading(plan), _values(plan, measure, way)
    free = {attribute.name: _readable(attribute, values[0]) for attribute in _whole(need)}
    first = _place(plan, [measure, *plan.measures], free, {}, _dearest(plan, measure))
    kept = plan.hidden.keeps(plan.schema.attributes)
    held = {name: mask & (np.arange(len(mask)) == first[name]) if name in kept else mask for name, mask in free.items()}
    others = sorted(plan.measures, key=lambda one: _holds(plan, one, first))
    second = _place(plan, others, held, first, [])
    # None of the others in the first: noise that empty cells lack is seen nowhere else.
    sides = _sides(plan, measure, way)
    kinds = _kinds(plan, measure, free, first) if any(side.of_each for side in sides) else []
    beside = second if any(side.elsewhere for side in sides) else _place(plan, others, free, first, [])
    still = [(name, beside) for name in plan.over.standing(OTHERS)]
    own = [
        [(unit, place) for unit in units for place in _stands(side, first, second, kinds)] * side.rows for side in sides
    ]
    told = [[(name, place, values[0]) for name, place in still] for _ in sides]
    for side, rows, has in zip(told, own, values, strict=True):
        side += [(name, place, has) for name, place in rows]
    return _table(need, told[0]), _table(need, told[1])


def _stands(side: UnitRows, first: Place, second: Place, kinds: Sequence[Place]) -> Sequence[Place]:
    """Where the rows of a unit stand, as often as there are rows of each."""
    if side.of_each:
        return kinds
    return [second if side.elsewhere else first]


def _kinds(plan: Plan, measure: Measure, free: Mapping[str, Mask], first: Place) -> list[Place]:
    """The first place with every level that a measure tells apart of what units do not keep, as far as they go."""
    masks, kept = plan.universe(measure).masks, plan.hidden.keeps(plan.schema.attributes)
    leaves: dict[str, list[int]] = {}
    for cut in plan.over.domain(measure).attributes:
        if cut.name not in kept:
            inside = np.flatnonzero(free[cut.name] & masks.get(cut.name, True))
            above = plan.schema.attribute(cut.name).levels.above(cut.levels)[inside]
            leaves[cut.name] = [int(leaf) for leaf in inside[np.unique(above, return_index=True)[1]]]
    tried = (first | dict(zip(leaves, some, strict=True)) for some in islice(product(*leaves.values()), TRIED))
    rules = _rules(plan)
    return [place for place in tried if _allowed(rules, place)]


def _whole(need: Reading) -> list[Attribute]:
    """The attributes as data carry them, and not again cut off at the depths of tables."""
    return [attribute for attribute in need.attributes if attribute.depth is None]


def _readable(attribute: Attribute, values: Values) -> Mask:
    """The leaves that some value of the column is read as; one that is summed too has the value of the sum."""
    leaves = range(len(attribute.levels.leaves))
    if attribute.column in values and isinstance(attribute.read, Bands):
        bands = sum(edge <= values[attribute.column] for edge in attribute.read.edges)
        return np.array([_raw(attribute, leaf) == str(float(attribute.read.edges[bands - 1])) for leaf in leaves])
    missing = attribute.missing and attribute.missing.level
    codes = attribute.levels.leaves
    return np.array([_raw(attribute, leaf) is not None or codes[leaf] == missing for leaf in leaves])


def _holds(plan: Plan, measure: Measure, place: Place) -> bool:
    return all(mask[place[name]] for name, mask in plan.universe(measure).masks.items() if name in place)


def _dearest(plan: Plan, measure: Measure) -> list[dict[str, Mask]]:
    """The leaves that a record that costs most has, an attribute after the other."""
    found, cut = [], plan.over.domain(measure)
    for name, leaf in measure.with_.dearest(plan.move(measure)).items():
        found.append({name: plan.schema.attribute(name).levels.above(cut.attribute(name).levels) == leaf})
    return found


def _place(
    plan: Plan,
    measures: Sequence[Measure],
    free: Mapping[str, Mask],
    away: Place,
    wanted: Sequence[Mapping[str, Mask]],
) -> Place:
    """A record in the universes of as many of the measures as go together, and elsewhere than another one.

    Of what else is wanted it has as much as is possible.
    """
    best = next(_possible(plan, free, away), None)
    if best is None:
        raise PlanError(f"The plan '{plan.name}' leaves no possible record to audit; give two frames of your own.")
    for masks in (*(plan.universe(measure).masks for measure in measures), *wanted):
        narrowed = {name: mask & masks[name] if name in masks else mask for name, mask in free.items()}
        found = next(_possible(plan, narrowed, away), None)
        if found is not None:
            best, free = found, narrowed
    return best


def _possible(plan: Plan, free: Mapping[str, Mask], away: Place) -> Iterator[Place]:
    """The records that no rule forbids, those first that share nothing with the other one.

    Only attributes that a rule names are tried, as the leaves of the others forbid nothing, however many they are.
    """
    leaves = {name: _apart(plan, name, np.flatnonzero(mask), away.get(name)) for name, mask in free.items()}
    rules = _rules(plan)
    named = {name for rule in rules for name, _ in rule}
    tried = product(*(listed if name in named else listed[:1] for name, listed in leaves.items()))
    for combination in islice(tried, TRIED):
        place = dict(zip(free, combination, strict=True))
        if _allowed(rules, place):
            yield place


def _rules(plan: Plan) -> list[list[tuple[str, Mask]]]:
    """What no record can be, by the leaves of each attribute that a rule names."""
    return [
        [(name, plan.schema.attribute(name).levels.mask(codes)) for name, codes in rule.where]
        for rule in plan.schema.impossible
    ]


def _allowed(rules: Sequence[Sequence[tuple[str, Mask]]], place: Place) -> bool:
    return not any(all(name in place and mask[place[name]] for name, mask in rule) for rule in rules)


def _apart(plan: Plan, name: str, leaves: NDArray[np.intp], away: int | None) -> list[int]:
    """Leaves, those last that are in the cell of another one in most tables, each of which is cut off at a depth."""
    if away is not None:
        levels = plan.schema.attribute(name).levels
        ups = [levels.above(one.levels) for one in reading(plan).attributes if one.name == name]
        leaves = leaves[np.argsort(sum((up[leaves] == up[away]).astype(int) for up in ups), kind="stable")]
    return [int(leaf) for leaf in leaves]


def _raw(attribute: Attribute, leaf: int) -> str | None:
    """A value of the column that is read as a leaf, none where only a missing value is."""
    if isinstance(attribute.read, Bands):
        missing = attribute.missing.level if attribute.missing else None
        bands = [place for place, code in enumerate(attribute.levels.leaves) if code != missing]
        if leaf in bands:
            return str(float(attribute.read.edges[bands.index(leaf)]))
    return next((raw for raw, place in attribute.raw_codes.items() if place == leaf), None)


def _table(need: Reading, rows: Sequence[tuple[str, Place, Values]]) -> pa.Table:
    """Records as text, each of a unit by its name, with what stands in its columns."""
    columns: dict[str, Sequence[str | None]] = {name: ["1"] * len(rows) for name in need.columns}
    for attribute in _whole(need):
        columns[attribute.column] = [_raw(attribute, place[attribute.name]) for _, place, _ in rows]
    for column in dict.fromkeys(column for _, _, values in rows for column in values):
        columns[column] = [str(values[column]) for _, _, values in rows]
    # Whoever else stands in rows, as those who hold jobs, is another one in each.
    columns |= {name: [f"{name} {number}" for number in range(len(rows))] for name in need.names}
    if need.id:
        columns[need.id] = [name for name, _, _ in rows]
    if need.schema.key:
        columns[need.schema.key] = [f"record {number}" for number in range(len(rows))]
    return pa.table({name: pa.array(texts, pa.string()) for name, texts in columns.items()})
