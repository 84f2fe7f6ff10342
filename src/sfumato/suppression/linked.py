"""Linked: the cells of linked tables and every sum between them, as one system of equations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import PlanError, nearest
from sfumato.suppression.nesting import WHOLE, Nesting

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
LARGEST = 5_000_000
"""The most cells of linked tables; more are more than any program here can solve."""


@dataclass(frozen=True, eq=False)
class Equations:
    """Sums of cells: equation i says that the cells of its entries, each with its sign, add up to 0."""

    rows: Integers
    cells: Integers
    signs: Floats
    count: int

    @property
    def parents(self) -> Integers:
        """The cell that each equation is about: the total of the others."""
        found = np.zeros(self.count, dtype=np.int64)
        totals = self.signs < 0
        found[self.rows[totals]] = self.cells[totals]
        return found

    def sums(self, values: Floats) -> Floats:
        """What the signed values of every equation add up to."""
        return np.bincount(self.rows, self.signs * values[self.cells], self.count).astype(np.float64)

    def kept(self, keep: Flags, place: Integers) -> "Equations":
        """Some of the equations, their cells renumbered."""
        entries = keep[self.rows]
        rows = np.cumsum(keep)[self.rows[entries]] - 1
        return Equations(rows, place[self.cells[entries]], self.signs[entries], int(keep.sum()))


@dataclass(frozen=True, eq=False)
class Linked:
    """Tables that share cells: a cell is what it is classified by, so one that stands in two tables is one variable.

    >>> trade, place = Nesting.under("trade", {"a": "", "b": ""}), Nesting.under("place", {"x": "", "y": ""})
    >>> both = Linked.of([[trade], [trade, place]])
    >>> both.size, both.equations.count, both.named(both.find({"trade": "a"}))
    (9, 6, {'trade': 'a'})
    """

    attributes: tuple[str, ...]
    codes: tuple[tuple[str, ...], ...]
    keys: Integers
    """Of every cell the number of its code of each attribute; 0 where it is the total over it."""
    equations: Equations
    tables: tuple[tuple[Nesting, ...], ...]
    """The classifications of each table."""

    @classmethod
    def of(cls, tables: Sequence[Sequence[Nesting]]) -> "Linked":
        """All cells of some tables, each the product of its classifications, and all sums in them."""
        nestings: dict[str, list[Nesting]] = {}
        for nesting in (one for table in tables for one in table):
            nestings.setdefault(nesting.name, []).append(nesting)
        codes = tuple(
            (WHOLE, *sorted({code for one in found for code in one.codes} - {WHOLE})) for found in nestings.values()
        )
        frame = _Numbers(tuple(nestings), codes)
        cells = np.unique(np.concatenate([frame.cells(table) for table in tables]))
        equations = _together([found for table in tables for found in frame.sums(table)], cells)
        return cls(frame.names, codes, frame.keys(cells), equations, tuple(tuple(table) for table in tables))

    @property
    def size(self) -> int:
        return len(self.keys)

    @cached_property
    def _numbers(self) -> tuple["_Numbers", Integers]:
        frame = _Numbers(self.attributes, self.codes)
        return frame, (self.keys * frame.strides).sum(axis=1)

    def places(self, columns: Mapping[str, Sequence[str]]) -> Integers:
        """The cell of each row of codes, -1 where there is none; an attribute that is left out is its whole."""
        frame, known = self._numbers
        wanted = frame.numbers(columns)
        at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        return np.where((wanted >= 0) & (known[at] == wanted), at, -1)

    def numbers(self, name: str, codes: Sequence[str]) -> Integers:
        """What codes of an attribute add to the number of a cell; `at` finds cells by their numbers."""
        place = self.attributes.index(name)
        frame, _ = self._numbers
        found = np.array([frame.place[place][code] for code in codes], dtype=np.int64)
        return np.asarray(found * frame.strides[place], dtype=np.int64)

    def at(self, numbers: Integers) -> Integers:
        """The cells that have these numbers; all of them are there."""
        return np.searchsorted(self._numbers[1], numbers)

    def find(self, where: Mapping[str, str]) -> int:
        """The cell of some codes."""
        for name in where:
            if name not in self.attributes:
                raise PlanError(f"There is no attribute '{name}' in these tables; {nearest(name, self.attributes)}")
        (place,) = self.places({name: [code] for name, code in where.items()})
        if place < 0:
            raise PlanError(f"There is no cell {_words(where)} in these tables; its codes must stand in one of them.")
        return int(place)

    def named(self, cell: int) -> dict[str, str]:
        """The codes of a cell, of the attributes that it is not the total over."""
        told = zip(self.attributes, self.codes, self.keys[cell], strict=True)
        return {name: codes[number] for name, codes, number in told if number}

    def words(self, cell: int) -> str:
        """A cell as a reader names it."""
        return _words(self.named(cell)) or "the total of all"

    def column(self, name: str) -> list[str]:
        """The code of an attribute in every cell; empty where a cell is the total over it."""
        place = self.attributes.index(name)
        return [self.codes[place][number] for number in self.keys[:, place]]

    def only(self, kept: Flags) -> "Linked":
        """The system of some cells, where the others are empty: they add nothing, and a sum without parts goes."""
        place = np.cumsum(kept) - 1
        entries = kept[self.equations.cells]
        rows, signs = self.equations.rows[entries], self.equations.signs[entries]
        some = Equations(rows, self.equations.cells[entries], signs, self.equations.count)
        totals = np.bincount(rows, signs < 0, some.count)
        parts = np.bincount(rows, signs > 0, some.count)
        if np.any((totals == 0) & (parts > 0)):
            raise PlanError("A total was left out as empty although parts of it are there; keep it, or leave them out.")
        equations = some.kept((totals > 0) & (parts > 0), place)
        return Linked(self.attributes, self.codes, self.keys[kept], equations, self.tables)

    def faults(self, values: Floats, tolerance: float = 0.0) -> Integers:
        """The equations whose values are all told and do not add up, to within a tolerance of rounding a cell."""
        told = np.bincount(self.equations.rows, np.isnan(values)[self.equations.cells], self.equations.count) == 0
        sizes = np.bincount(self.equations.rows, np.abs(values)[self.equations.cells], self.equations.count)
        members = np.bincount(self.equations.rows, minlength=self.equations.count)
        off = np.abs(self.equations.sums(values)) > tolerance * members + 1e-9 * sizes
        return np.flatnonzero(told & off)


class _Numbers:
    """One whole number for each combination of codes, the last attribute running fastest."""

    def __init__(self, names: tuple[str, ...], codes: tuple[tuple[str, ...], ...]) -> None:
        self.names, self.codes = names, codes
        sizes = [len(one) for one in codes]
        self.strides = np.array([int(np.prod(sizes[place + 1 :], dtype=object)) for place in range(len(sizes))])
        if float(np.prod(np.array(sizes, dtype=np.float64))) > 2**62:
            raise PlanError("Linked tables of so many attributes and codes cannot be numbered; leave some out.")
        self.place = [{code: place for place, code in enumerate(one)} for one in codes]

    def keys(self, numbers: Integers) -> Integers:
        sizes = np.array([len(one) for one in self.codes])
        return np.asarray(numbers[:, None] // self.strides % sizes, dtype=np.int64)

    def numbers(self, columns: Mapping[str, Sequence[str]]) -> Integers:
        """The number of each row of codes; -1 where a code is unknown."""
        total = np.zeros(len(next(iter(columns.values()), [""])), dtype=np.int64)
        unknown = np.zeros(len(total), dtype=bool)
        for name, column in columns.items():
            place = self.names.index(name)
            found = np.array([self.place[place].get(code, -1) for code in column], dtype=np.int64)
            unknown |= found < 0
            total += found * self.strides[place]
        return np.where(unknown, -1, total)

    def _axis(self, nesting: Nesting) -> Integers:
        place = self.names.index(nesting.name)
        found = np.array([self.place[place][code] for code in nesting.codes], dtype=np.int64)
        return np.asarray(found * self.strides[place], dtype=np.int64)

    def cells(self, table: Sequence[Nesting]) -> Integers:
        sizes = [len(nesting.codes) for nesting in table]
        if float(np.prod(np.array(sizes, dtype=np.float64))) > LARGEST:
            asked = " × ".join(f"{one.name} ({size:,})" for one, size in zip(table, sizes, strict=True))
            raise PlanError(f"A table of {asked} has more than {LARGEST:,} cells; leave an attribute or level out.")
        return _sum_of([self._axis(nesting) for nesting in table])

    def sums(self, table: Sequence[Nesting]) -> list[tuple[Integers, Integers]]:
        """For each sum of each classification, its totals and its parts, in every combination of the others."""
        found = []
        for nesting in table:
            place = self.names.index(nesting.name)
            rest = _sum_of([self._axis(other) for other in table if other is not nesting])
            for parent, parts in nesting.sums:
                number = [self.place[place][code] * self.strides[place] for code in (parent, *parts)]
                found.append((rest + number[0], rest[:, None] + np.array(number[1:])))
        return found


def _sum_of(axes: list[Integers]) -> Integers:
    found = np.zeros(1, dtype=np.int64)
    for axis in axes:
        found = (found[:, None] + axis).ravel()
    return found


def _together(sums: list[tuple[Integers, Integers]], cells: Integers) -> Equations:
    """All sums over the places of cells, each told once."""
    rows, places, signs, count = [], [], [], 0
    for totals, parts in sums:
        number = count + np.arange(len(totals))
        rows += [number, np.repeat(number, parts.shape[1])]
        places += [np.searchsorted(cells, totals), np.searchsorted(cells, parts.ravel())]
        signs += [-np.ones(len(totals)), np.ones(parts.size)]
        count += len(totals)
    none = np.zeros(0, dtype=np.int64)
    every = Equations(
        np.concatenate([none, *rows]), np.concatenate([none, *places]), np.concatenate([none, *signs]), count
    )
    order = np.lexsort((every.cells, every.rows))
    every = Equations(every.rows[order], every.cells[order], every.signs[order].astype(np.float64), count)
    return every.kept(_first_of_each(every, len(cells)), np.arange(len(cells)))


def _first_of_each(equations: Equations, size: int) -> Flags:
    """Which equations are told for the first time; they are compared by two sums of fixed random numbers."""
    marks = np.random.Generator(np.random.PCG64(17)).integers(1, 2**62, size=(2, size), dtype=np.int64)
    prints = np.zeros((2, equations.count), dtype=np.int64)
    for place in range(2):
        np.add.at(prints[place], equations.rows, marks[place][equations.cells] * equations.signs.astype(np.int64))
    _, first = np.unique(prints, axis=1, return_index=True)
    keep = np.zeros(equations.count, dtype=bool)
    keep[first] = True
    return keep


def _words(where: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {code}" for name, code in where.items())
