"""The contract of a relation: no two neighbours move further than it says, by every small data set that there is.

Who is a neighbour of whom is written here once more for every relation, by hand and from the words of its promise, and
so is what a statistic makes of rows. A relation, a statistic or a move that nobody wrote this for fails by name.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from itertools import combinations, combinations_with_replacement, product
from math import floor, log1p
from typing import Any

from sfumato import statistics
from sfumato.errors import PromiseError
from sfumato.plugins import found
from sfumato.privacy import (
    AddRemove,
    AlongCurve,
    Bounded,
    LossBySize,
    Move,
    Neighbours,
    Relative,
    ReplaceOne,
    Root,
    SizeWithin,
    SquareRootWithin,
)
from sfumato.schema import Attribute, Clipped, Domain, Frame, Levels, Table
from sfumato.statistics import Count, Excess, Statistic, Total

Row = tuple[str, int, int]
"""The unit that a row is of, the cell that it stands in, and its value."""
Data = tuple[Row, ...]
Numbers = tuple[int, ...]
"""What a statistic gives for each cell, in steps."""


def counted(statistic: Statistic, value: int) -> int:
    return 1


def clipped(statistic: Statistic, value: int) -> int:
    """A value held within the clip, then rounded half up to steps."""
    low, high = statistic.clip
    return floor(min(max(value, low), high) / statistic.step + Fraction(1, 2))


def in_excess(statistic: Statistic, value: int) -> int:
    """What a clip took, up to a farther bound: both rounded half up to steps."""
    low, high = statistic.clip
    far = floor(min(max(value, low), statistic.up_to) / statistic.step + Fraction(1, 2))
    return far - floor(min(max(value, low), high) / statistic.step + Fraction(1, 2))


def to_one_side(statistic: Statistic, value: int) -> int:
    """Of a quantile: whether a row is above or below the middle of the clip, as any value between has it."""
    return 1 if value > sum(statistic.clip) / 2 else -1


def weight_of(statistic: Statistic, value: tuple[int, int]) -> int:
    """The weight of a row, held within its bounds and rounded half up to steps of 5."""
    return floor(Fraction(min(max(value[1], 0), 40), 5) + Fraction(1, 2))


def weighted_value(statistic: Statistic, value: tuple[int, int]) -> int:
    return clipped(statistic.as_written, value[0]) * weight_of(statistic, value)


def weighted_excess(statistic: Statistic, value: tuple[int, int]) -> int:
    return in_excess(statistic.as_written, value[0]) * weight_of(statistic, value)


WEIGHT = Clipped("w", Fraction(0), Fraction(40), Fraction(5))
WEIGHTED = {
    "weighted count": Count(weighted=True).with_weight(WEIGHT),
    "weighted total": Total("wage", clip=(0, 50_000), step=10, weighted=True).with_weight(WEIGHT),
    "weighted loss": Total("loss", clip=(-20, 30), step=10, weighted=True).with_weight(WEIGHT),
    "weighted excess": Excess("wage", (0, 50_000), 200_000, 10, weighted=True).with_weight(WEIGHT),
}
"""Statistics that count rows by their weights; of these a row is tried with pairs of a value and a weight."""


def tried() -> dict[str, Statistic]:
    """All statistics that the contract tries, by what they are called here."""
    return found(statistics) | WEIGHTED


ADDS: dict[str, tuple[Callable[[Statistic, Any], int], tuple[Any, ...]]] = {
    "count": (counted, (1,)),
    "total": (clipped, (-20, 14, 50_000, 60_000)),
    "excess": (in_excess, (-20, 50_000, 50_006, 300_000)),
    "quantile": (to_one_side, (-20, 60_000)),
    "fitted": (counted, (1,)),
    "mean": (counted, (1,)),
    "weighted count": (weight_of, ((1, -3), (1, 17), (1, 90))),
    "weighted total": (weighted_value, tuple(product((-20, 14, 60_000), (-3, 7, 90)))),
    "weighted loss": (weighted_value, tuple(product((-20, 30, 99), (-3, 7, 90)))),
    "weighted excess": (weighted_excess, tuple(product((-20, 50_006, 300_000), (-3, 7, 90)))),
}
"""What a row adds to each statistic, in steps, and the values that rows are tried with, some beyond its bounds."""


@dataclass(frozen=True)
class World(ABC):
    """Small data sets for one instance of a relation, and who is a neighbour of whom among them."""

    hidden: Neighbours
    cells: int = 2

    @abstractmethod
    def data_sets(self, values: tuple[int, ...]) -> Iterable[Data]: ...

    @abstractmethod
    def neighbours_of(self, data: Data, values: tuple[int, ...]) -> Iterable[Data]:
        """By the words of the promise, and nothing of the relation but its fields."""

    @property
    def domain(self) -> Domain:
        return Table((Attribute("cell", Levels.of(range(self.cells))),))

    def kept(self, data: Data) -> Data:
        """The rows that count, chosen by what they say and not by their order."""
        return data

    def values(self, values: tuple[int, ...]) -> tuple[int, ...]:
        return values


class Rows(World):
    """Two units, one of them with up to one row more than may count; which rows count is drawn by what they say."""

    @cached_property
    def _most(self) -> int:
        return self.hidden.at_most + 1 if self.hidden.id else 1

    def units(self, name: str, values: tuple[int, ...], fewest: int = 0) -> list[Data]:
        kinds = [(name, cell, value) for cell in range(self.cells) for value in values]
        return [unit for rows in range(fewest, self._most + 1) for unit in combinations_with_replacement(kinds, rows)]

    def data_sets(self, values: tuple[int, ...]) -> Iterator[Data]:
        beside = [(), (("b", 0, values[-1]),)]
        for unit, others in product(self.units("a", values), beside):
            yield (*unit, *others)

    def kept(self, data: Data) -> Data:
        if self.hidden.id is None:
            return data
        ordered = sorted(data, key=lambda row: hashlib.sha256(repr(row).encode()).digest())
        of_unit = {unit: [row for row in ordered if row[0] == unit] for unit in {row[0] for row in data}}
        return tuple(row for rows in of_unit.values() for row in rows[: self.hidden.at_most])


class ThereOrNot(Rows):
    """Add-remove: one unit is there with all its rows, or not at all."""

    def neighbours_of(self, data: Data, values: tuple[int, ...]) -> Iterator[Data]:
        for unit in {row[0] for row in data}:
            yield tuple(row for row in data if row[0] != unit)


class OtherValues(Rows):
    """Replace-one: one unit has other rows, as many or not, in other cells unless these are fixed."""

    def neighbours_of(self, data: Data, values: tuple[int, ...]) -> Iterator[Data]:
        mine, others = [row for row in data if row[0] == "a"], [row for row in data if row[0] != "a"]
        for unit in self.units("a", values, fewest=1) if mine else ():
            if "cell" not in self.hidden.fixed or {row[1] for row in unit} <= {row[1] for row in mine}:
                yield (*unit, *others)


class Listed(World):
    """Units of a public register, each in a cell that everybody knows, with one report or none."""

    UNITS = (("a", 0), ("b", 0), ("c", 1))

    @property
    def domain(self) -> Domain:
        return Frame("unit", (), {}, [name for name, _ in self.UNITS])

    def data_sets(self, values: tuple[int, ...]) -> Iterator[Data]:
        for reported in product((None, *values), repeat=len(self.UNITS)):
            yield self.reports(reported)

    def reports(self, reported: Iterable[int | None]) -> Data:
        pairs = zip(self.UNITS, reported, strict=True)
        return tuple((name, cell, value) for (name, cell), value in pairs if value is not None)


class ReportedOrNot(Listed):
    """Add-remove over a register: one unit reports, or does not."""

    def neighbours_of(self, data: Data, values: tuple[int, ...]) -> Iterator[Data]:
        for row in data:
            yield tuple(other for other in data if other != row)


class OtherReport(Listed):
    """Replace-one over a register: one unit reports something else, or nothing."""

    def neighbours_of(self, data: Data, values: tuple[int, ...]) -> Iterator[Data]:
        reported = {name: value for name, _, value in data}
        for unit, _ in self.UNITS:
            for value in (None, *values):
                yield self.reports((reported | {unit: value}).get(name) for name, _ in self.UNITS)


class Reports(World):
    """Square-root-within: every unit of a register reports once; one, or all of a firm, report a value near it."""

    UNITS = (("a", 0, "firm"), ("b", 0, "firm"), ("c", 1, "other"))

    @property
    def domain(self) -> Domain:
        return Frame("unit", (), {}, [name for name, _, _ in self.UNITS])

    def values(self, values: tuple[int, ...]) -> tuple[int, ...]:
        return (0, 10, 90, 100, 110, 390, 400, 900)

    def data_sets(self, values: tuple[int, ...]) -> Iterator[Data]:
        for reported in product(values, repeat=len(self.UNITS)):
            pairs = zip(self.UNITS, reported, strict=True)
            yield tuple((name, cell, value) for (name, cell, _), value in pairs)

    def neighbours_of(self, data: Data, values: tuple[int, ...]) -> Iterator[Data]:
        (beta,) = self.hidden.beta.values()
        alone = [{name} for name, _, _ in self.UNITS]
        firms = [{name for name, _, firm in self.UNITS if firm == one} for one in ("firm", "other")]
        for moved in firms if self.hidden.firm else alone:
            near = [
                [value for value in values if roots_within(row[2], value, beta)] if row[0] in moved else [row[2]]
                for row in data
            ]
            for reported in product(*near):
                pairs = zip(data, reported, strict=True)
                yield tuple((row[0], row[1], value) for row, value in pairs)


def grown(size: int, alpha: Fraction) -> int:
    """The most that a number may grow to: alpha of itself more, in whole numbers, or one more."""
    return max(floor((1 + alpha) * size), size + 1)


class Establishments(World):
    """Size-within: an establishment with jobs in cells that are kinds of workers, beside one that stays as it is.

    The smaller of two neighbours has the same bound on what all its jobs grow by, and, in weak ones, those of every set
    of kinds. Symmetric: any that grows to another is its neighbour, and the other way round.
    """

    @property
    def sizes(self) -> tuple[int, ...]:
        return (0, 1, 2, 5, 9, 10, 20, 21) if self.cells == 2 else (0, 2, 4)

    @property
    def domain(self) -> Domain:
        whose = "worker" if self.hidden.weak else self.hidden.unit
        return Table((Attribute("cell", Levels.of(range(self.cells)), of=whose),))

    def data_sets(self, values: tuple[int, ...]) -> Iterator[Data]:
        for sizes in product(self.sizes, repeat=self.cells if self.hidden.weak else 1):
            for beside in (0, 3, 40):
                yield self.jobs("a", sizes) + self.jobs("b", (beside,))

    @staticmethod
    def jobs(unit: str, sizes: Iterable[int]) -> Data:
        return tuple((unit, cell, 1) for cell, size in enumerate(sizes) for _ in range(size))

    def neighbours_of(self, data: Data, values: tuple[int, ...]) -> Iterator[Data]:
        kinds = range(self.cells if self.hidden.weak else 1)
        sizes = [sum(row[:2] == ("a", cell) for row in data) for cell in kinds]
        others = tuple(row for row in data if row[0] != "a")
        for larger in product(*(range(size, grown(size, self.hidden.alpha) + 1) for size in sizes)):
            some = (chosen for count in range(1, len(sizes) + 1) for chosen in combinations(kinds, count))
            if all(sum(larger[i] for i in one) <= grown(sum(sizes[i] for i in one), self.hidden.alpha) for one in some):
                yield self.jobs("a", larger) + others


class Workers(Establishments):
    """Size-within, with workers of up to two jobs each, in two establishments: one of them there with all, or not."""

    def neighbours_of(self, data: Data, values: tuple[int, ...]) -> Iterator[Data]:
        yield from super().neighbours_of(data, values)
        for held in product(((), *((unit, cell, 1) for unit in "ab" for cell in range(self.cells))), repeat=2):
            yield data + tuple(job for job in held if job)


class StatedLoss(Establishments):
    """Loss-by-size: an establishment with other jobs, all of its kinds and sets of them within a step of the curve."""

    def neighbours_of(self, data: Data, values: tuple[int, ...]) -> Iterator[Data]:
        kinds = range(self.cells if self.hidden.weak else 1)
        sizes = [sum(row[:2] == ("a", cell) for row in data) for cell in kinds]
        others = tuple(row for row in data if row[0] != "a")
        for larger in product(self.sizes, repeat=len(sizes)):
            some = (chosen for count in range(1, len(sizes) + 1) for chosen in combinations(kinds, count))
            totals = [(sum(sizes[i] for i in one), sum(larger[i] for i in one)) for one in some]
            if all(abs(self.height(a) - self.height(b)) <= 1 for a, b in totals):
                yield self.jobs("a", larger) + others

    def height(self, size: int) -> float:
        bend = float(self.hidden.bend)
        return log1p(size / bend) / log1p(self.hidden.at / bend)


class SizesReported(Listed):
    """Size-within over a register: one unit reports alpha more, or 1."""

    def values(self, values: tuple[int, ...]) -> tuple[int, ...]:
        return (0, 10, 100, 110, 120, 121, 130, 1_000, 1_100)

    def neighbours_of(self, data: Data, values: tuple[int, ...]) -> Iterator[Data]:
        reported = {name: value for name, _, value in data}
        for unit, value in reported.items():
            for other in values:
                if value <= other <= max((1 + self.hidden.alpha) * value, value + 1):
                    yield self.reports((reported | {unit: other}).get(name) for name, _ in self.UNITS)


WORLDS: dict[str, list[World]] = {
    "add-remove": [
        ThereOrNot(AddRemove("job")),
        ThereOrNot(AddRemove("firm", "id", 2)),
        ThereOrNot(AddRemove("firm", "id", 1), cells=3),
        ReportedOrNot(AddRemove("firm", "id")),
    ],
    "loss-by-size": [
        StatedLoss(LossBySize("shop", 10, 20, "id")),
        StatedLoss(LossBySize("shop", "0.5", 2, "id")),
        StatedLoss(LossBySize("shop", 10, 20, "id", weak=("cell",))),
        StatedLoss(LossBySize("shop", "0.5", 2, "id", weak=("cell",)), cells=3),
    ],
    "replace-one": [
        OtherValues(ReplaceOne("job"), cells=3),
        OtherValues(ReplaceOne("firm", "id", 2)),
        OtherReport(ReplaceOne("firm", "id")),
        OtherValues(ReplaceOne("job", fixed=("cell",))),
    ],
    "size-within": [
        Establishments(SizeWithin("shop", "0.1", "id")),
        Establishments(SizeWithin("shop", "0.25", "id")),
        Establishments(SizeWithin("shop", "0.1", "id", weak=("cell",))),
        Establishments(SizeWithin("shop", "0.5", "id", weak=("cell",)), cells=3),
        Workers(SizeWithin("shop", "0.1", "id", worker="person", at_most=2)),
        Workers(SizeWithin("shop", "0.1", "id", weak=("cell",), worker="person", at_most=2)),
        SizesReported(SizeWithin("shop", "0.1", reports=("wage",))),
    ],
    "square-root-within": [
        Reports(SquareRootWithin("shop", {"wage": "10"})),
        Reports(SquareRootWithin("shop", {"wage": "10"}, firm="firm", at_most=2)),
    ],
}
"""The small worlds of each relation, by its kind."""


def roots_within(one: Fraction | int, other: Fraction | int, beta: Fraction) -> bool:
    """Whether |√a − √b| ≤ beta, exactly: a + b − beta² ≤ 2 √(a b).

    >>> roots_within(100, 121, Fraction(1)), roots_within(100, 122, Fraction(1))
    (True, False)
    """
    rest = one + other - beta**2
    return rest <= 0 or rest**2 <= 4 * one * other


def beyond_steps(move: Bounded, one: Numbers, other: Numbers, step: Fraction) -> dict[str, object]:
    """How far apart two data sets are, by each bound of the move."""
    gaps = [abs(a - b) for a, b in zip(one, other, strict=True)]
    return {
        "cells": sum(gap > 0 for gap in gaps),
        "l1": sum(gaps),
        "l2_squared": sum(gap**2 for gap in gaps),
        "largest": max(gaps),
    }


def beyond_roots(move: Root, one: Numbers, other: Numbers, step: Fraction) -> dict[str, object]:
    """The sum over all totals of (√a − √b)², by sixty digits of which forty are kept: whole numbers are whole."""
    with localcontext() as context:
        context.prec = 60
        roots = [[Decimal(int(a * step)).sqrt() for a in numbers] for numbers in (one, other)]
        apart = sum((a - b) ** 2 for a, b in zip(*roots, strict=True))
        return {"l2_squared": Fraction(apart.quantize(Decimal(10) ** -40))}


def beyond_growth(move: Relative, one: Numbers, other: Numbers, step: Fraction) -> dict[str, object]:
    """How many steps all cells take, and one cell, each from the smaller of two numbers to the larger."""
    pairs = [sorted((a * step, b * step)) for a, b in zip(one, other, strict=True)]
    taken = [growths(low, high, move.alpha) for low, high in pairs]
    return {"cells": sum(taken), "together": max(taken)}


def beyond_curve(move: AlongCurve, one: Numbers, other: Numbers, step: Fraction) -> dict[str, object]:
    """How far all cells go along the curve, from its own formula; whole numbers of steps are whole."""
    bend = float(move.curve.bend)
    heights = [[log1p(a / bend) / log1p(move.curve.at / bend) for a in numbers] for numbers in (one, other)]
    return {"cells": round(sum(abs(a - b) for a, b in zip(*heights, strict=True)), 12)}


def growths(low: Fraction, high: Fraction, alpha: Fraction) -> int:
    """The least number of times that a number grows by alpha of itself, or by 1, to reach another.

    >>> growths(Fraction(10), Fraction(20), Fraction(1, 10))      # 10, 11, 12 ... 20: ten of the counterexample
    10
    """
    steps = 0
    while low < high:
        low, steps = Fraction(grown(floor(low), alpha)), steps + 1
    return steps


DISTANCES: dict[type[Move], Callable[..., dict[str, object]]] = {
    AlongCurve: beyond_curve,
    Bounded: beyond_steps,
    Relative: beyond_growth,
    Root: beyond_roots,
}
"""How each kind of move is measured between two data sets."""


def numbers(world: World, statistic: Statistic, data: Data) -> Numbers:
    adds, _ = ADDS[name_of(statistic)]
    cells = [0] * world.cells
    for _, cell, value in world.kept(data):
        cells[cell] += adds(statistic, value)
    return tuple(cells)


def farthest(world: World, statistic: Statistic, move: Move) -> dict[str, object]:
    """The most that any two neighbours are apart, by each bound of the move."""
    _, rows = ADDS[name_of(statistic)]
    values, apart, known = world.values(rows), set(), {}
    for data in world.data_sets(values):
        for each in (data, *(others := list(world.neighbours_of(data, values)))):
            if each not in known:
                known[each] = numbers(world, statistic, each)
        apart |= {(known[data], known[other]) for other in others}
    most: dict[str, object] = {}
    for one, other in apart:
        for name, reached in DISTANCES[type(move)](move, one, other, statistic.step).items():
            most[name] = max(most.get(name, reached), reached)
    return most


def name_of(statistic: Statistic) -> str:
    """What a statistic is called here."""
    return next((name for name, one in WEIGHTED.items() if one is statistic), statistic.name)


def move_of(world: World, statistic: Statistic) -> Move | None:
    """The move that a relation claims, if it claims any for this statistic.

    Of what is no sum the ranks of rows move, by whole places; no mechanism hides them where rows move otherwise.
    """
    try:
        move = world.hidden.move(statistic.contribution, world.domain)
    except PromiseError:
        return None
    return move if statistic.additive or isinstance(move, Bounded) else None


def complaints(world: World) -> list[str]:
    """What a relation says that its neighbours do not keep, and what it says they reach and they do not."""
    said: list[str] = []
    priced = 0
    for name, statistic in tried().items():
        move = move_of(world, statistic)
        if move is None or (name in WEIGHTED and world.domain.register):  # plans over a frame have no weights
            continue
        priced += 1
        whose = f"{world.hidden.kind}, {name}"
        for bound, reached in farthest(world, statistic, move).items():
            claimed = getattr(move, bound)
            if reached > claimed:
                said.append(f"{whose}: {bound} is said to be {claimed} at most; some neighbours are {reached} apart")
            elif bound in world.hidden.attained and reached < claimed:
                said.append(f"{whose}: {bound} is said to reach {claimed}; no neighbours are more than {reached} apart")
    return said if priced else [f"{world.hidden.kind}: no statistic has a move, so that nothing was tried"]
