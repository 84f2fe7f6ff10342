"""Numbering: one whole number for every combination of codes."""

from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.errors import PlanError
from sfumato.suppression.equations import Integers
from sfumato.suppression.nesting import Nesting

LARGEST = 5_000_000
"""The most cells of linked tables; more are more than any program here can solve."""


class Numbering:
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
