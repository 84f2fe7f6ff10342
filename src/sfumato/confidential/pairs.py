"""Pairs: neighbouring microdata made of the plan alone, as far apart as it allows, so that no real data are needed."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import pyarrow as pa

from sfumato.confidential.engines.request import Reading
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.places import (
    Place,
    Values,
    alike,
    as_carried,
    furthest,
    holds,
    kinds_of,
    outside,
    place_in,
    raw_code,
    readable,
    scattered,
)
from sfumato.confidential.tabulate import reading
from sfumato.plan import Measure, Plan
from sfumato.privacy import Contribution, UnitRows
from sfumato.schema import Attribute, Table

MOST_ROWS = 100_000
"""How many rows one unit has at most in kinds of all tables at once."""
PairRow = tuple[str, Place, Values]
"""A record: of which unit, where it stands, and what it has."""
OTHERS = 4
"""How many records of other units stand in the second cell, the same on both sides; the first has none."""


@dataclass(frozen=True)
class WorstPair:
    """Two neighbours, the measures that are as far apart in them as in any, and what they differ by, as a clause."""

    one: Microdata
    other: Microdata
    measures: frozenset[str]
    words: str

    def __iter__(self) -> Iterator[Microdata]:
        return iter((self.one, self.other))


def worst_pairs(plan: Plan) -> list[WorstPair]:
    """Pairs in which one unit, with more rows than it may have, fills a cell of a measure or leaves it, each once.

    Where all units of a firm move at once, they do. One pair does where a record can be in all measures. Where
    the scale of noise moves too, as in smooth noise, others may lose more.
    """
    frames: list[tuple[pa.Table, pa.Table]] = []
    worst: list[set[str]] = []
    words: list[str] = []
    for measure in plan.measures:
        moving = plan.over.moving(measure, plan.universe(measure))
        for units, (way, tried) in product(moving, enumerate(_tried(plan, measure))):
            pair = _frames(plan, measure, units, tried, _values(plan, measure, way))
            same = (pair[0].equals(one) and pair[1].equals(other) for one, other in frames)
            place = next((place for place, is_same in enumerate(same) if is_same), len(frames))
            if place == len(frames):
                frames.append(pair)
                worst.append(set())
                words.append(plan.hidden.pair_words(*tried.sides))
            worst[place].add(measure.name)
    opened = [[Microdata.open(side, plan.schema.flat) for side in pair] for pair in frames]
    told = [_told_apart_by(said, names, words) for said, names in zip(words, worst, strict=True)]
    return [
        WorstPair(one, other, frozenset(names), said)
        for (one, other), names, said in zip(opened, worst, told, strict=True)
    ]


def _told_apart_by(said: str, measures: set[str], words: Sequence[str]) -> str:
    """The words of a pair, with the measures that it is for where others have the same."""
    return said if words.count(said) == 1 else f"{said} ({', '.join(sorted(measures))})"


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
            for row, value in _reached(one.of.contribution, unit.value):
                side[str(row.column)] = max(side.get(str(row.column), 0.0), float(value), key=abs)
    for side, unit in zip(values, _sides(plan, measure, way), strict=True):
        for row, value in _reached(measure.of.contribution, unit.value):
            if row.clip(side[str(row.column)]) != float(value):
                side[str(row.column)] = float(value)
    return values


def _reached(row: Contribution, value: Fraction) -> Iterator[tuple[Contribution, Fraction]]:
    """What a row has in the column that is summed, and in that of its weight."""
    if row.column is not None:
        yield row, value
    if row.weight is not None:
        yield row.weight, row.weight_at(value)


@dataclass(frozen=True)
class _Tried:
    """Both sides of a pair; rows of every kind are told apart by these attributes."""

    sides: tuple[UnitRows, UnitRows]
    told: tuple[Attribute, ...] = ()


def _tried(plan: Plan, measure: Measure) -> Iterator[_Tried]:
    """The pairs of a measure; kinds are those of all tables, which lose at once then, unless they are too many."""
    for sides in plan.over.pairs(measure):
        if not sides[0].of_each:
            yield _Tried(sides)
            continue
        every = _told_apart(plan)
        wide = plan.hidden.pair(measure.of.contribution, Table(every))
        rows = wide[0].rows * math.prod(len(cut.levels.leaves) for cut in every)
        few = wide[0].of_each and rows <= MOST_ROWS
        yield _Tried(wide, every) if few else _Tried(sides, plan.over.domain(measure).attributes)


def _told_apart(plan: Plan) -> tuple[Attribute, ...]:
    """What tables tell kinds of rows apart by, each as finely as any of them does."""
    kept = plan.hidden.keeps(plan.schema.attributes)
    cuts = [cut for one in plan.measures for cut in plan.over.domain(one).attributes if cut.name not in kept]
    return tuple({cut.name: cut for cut in sorted(cuts, key=lambda cut: len(cut.levels.leaves))}.values())


def _frames(
    plan: Plan, measure: Measure, units: Sequence[str], tried: _Tried, values: tuple[Values, Values]
) -> tuple[pa.Table, pa.Table]:
    """The rows of what moves in the first cell, against what its neighbour has there or in the second."""
    need, sides = reading(plan), tried.sides
    free = {attribute.name: readable(attribute, values[0]) for attribute in as_carried(need)}
    wanted, wanted_there = furthest(plan, measure)
    first = place_in(plan, [measure, *plan.measures], free, [], wanted)
    others = sorted(plan.measures, key=lambda one: holds(plan, one, first))
    places = scattered(plan, others, free, first, sides[0].rows) if sides[0].scattered else [first]
    left = alike(plan, free, first, kept=True)
    if sides[1].outside:
        left, others = outside(plan, measure, left), [one for one in others if one != measure]
    second = place_in(plan, others, left, places, wanted_there)
    kinds = kinds_of(plan, measure, tried.told, free, first)
    # None of the others in the first: noise that empty cells lack is seen nowhere else.
    beside = (
        second if any(side.elsewhere or side.outside for side in sides) else place_in(plan, others, free, places, [])
    )
    apart = measure.with_.rows_apart(measure.of.aggregates, plan.move(measure))
    still: list[PairRow] = [(name, beside, values[0]) for name in plan.over.standing(OTHERS)]
    if apart is not None:  # rows that are not its own would only blur them
        still = [(f"other {place}", first, {**values[0], **has}) for place, has in enumerate(apart.standing)]
    own = [
        [(unit, place) for unit in units for place in _stands(side, first, second, kinds)] * side.rows for side in sides
    ]
    if sides[0].scattered:
        own[0] = [(f"{units[0]} {number}", place) for number, place in enumerate(places)]
    moved = (apart.one, apart.other) if apart else ({}, {})
    one, other = (
        _table(need, [*still, *((name, place, {**has, **itself}) for name, place in rows)])
        for rows, has, itself in zip(own, values, moved, strict=True)
    )
    return one, other


def _stands(side: UnitRows, first: Place, second: Place, kinds: Sequence[Place]) -> Sequence[Place]:
    """Where the rows of a unit stand, as often as there are rows of each."""
    if side.of_each:
        return kinds
    return [second if side.elsewhere or side.outside else first]


def _table(need: Reading, rows: Sequence[PairRow]) -> pa.Table:
    """Records as text, each of a unit by its name, with what stands in its columns."""
    columns: dict[str, Sequence[str | None]] = {name: ["1"] * len(rows) for name in need.columns}
    for attribute in as_carried(need):
        columns[attribute.column] = [raw_code(attribute, place[attribute.name]) for _, place, _ in rows]
    for column in dict.fromkeys(column for _, _, values in rows for column in values):
        columns[column] = [str(values[column]) for _, _, values in rows]
    # Whoever else stands in rows, as those who hold jobs, is another one in each.
    columns |= {name: [f"{name} {number}" for number in range(len(rows))] for name in need.names}
    if need.id:
        columns[need.id] = [name for name, _, _ in rows]
    columns |= {name: [f"record {number}" for number in range(len(rows))] for name in need.schema.key}
    return pa.table({name: pa.array(texts, pa.string()) for name, texts in columns.items()})
