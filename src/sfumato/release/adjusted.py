"""Adjusted: the error of rows that least squares moved to noisy controls, for any total, from public numbers alone.

With y the rows as measured, t the controls and A what they sum, the rows are y + K(t − A y), where
K = W A'(A W A' + U)⁻¹, and W and U are the variances that rows and controls are expected to have at fitted sizes. A
total q then has variance r'W r + l'V l with l = (A W A' + U)⁻¹ A W q, r = q − A'l and V the variances of the controls
as they were drawn: those of clipped totals are known, those of squared ones are U.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.errors import ReleaseError
from sfumato.release.adjusted_boxes import Extra, along
from sfumato.release.boxes import Nested
from sfumato.release.margins import iterated
from sfumato.release.noisy import Integers
from sfumato.release.products import Floats
from sfumato.release.records import Errors, Records, Rows, Sizes, Squared, Trend, Varying
from sfumato.schema import Grouping
from sfumato.schema.frame import Places, crossed

DENSE = 5_000
"""The most controls, besides the finest, whose joint matrix is held dense."""
Depths = tuple[tuple[str, int | None], ...]


@dataclass(frozen=True, eq=False)
class ControlSet:
    """Totals by some attributes, each at a depth of its hierarchy: the product that holds them, and their noise."""

    product: str
    by: Depths
    trend: Trend
    variances: Floats | None = field(default=None, repr=False)
    """The variances as drawn, where they are known."""

    def expected(self, grouping: Grouping, sizes: Sizes, roots: Sizes) -> Floats:
        """The variance of each total at the sizes that its parts have, and the largest roots among them."""
        sums = np.bincount(grouping.of, sizes, grouping.size).astype(np.float64)
        return self.trend.at(sums, grouping.largest(roots).astype(np.float64))

    def to_dict(self) -> dict[str, Any]:
        return {"product": self.product, "by": [list(one) for one in self.by]}


def control_set(control: Records, by: Depths, step: Fraction) -> ControlSet:
    """A measure of groups as controls of rows that have another step."""
    spread, unit = control.spread, float(control.subject.step / step)
    if isinstance(spread, Varying):
        return ControlSet(control.subject.name, by, spread.trend.in_steps(unit), spread.variances * unit**2)
    if isinstance(spread, Squared):
        return ControlSet(control.subject.name, by, spread.trend.in_steps(unit))
    raise ReleaseError(f"'{control.subject.name}' is no measure: its values have no noise of their own.")


@dataclass(frozen=True, eq=False)
class Joined:
    """Control sets over the rows of a frame, brought together on the coarsest cells that tell all of them apart.

    Where one set is those cells themselves it stands on a diagonal and is eliminated; only the others meet in a dense
    matrix, which is D' = D v / (D + v) seen through them, plus their own noise.
    """

    place: Places
    """The joint cell of each thing that was joined."""
    size: int
    ups: tuple[Integers, ...]
    noise: tuple[Floats, ...]

    @classmethod
    def of(cls, groupings: Sequence[Grouping], noise: Sequence[Floats]) -> "Joined":
        """Join sets of controls, each given by the group of every row."""
        place, size = np.zeros(len(groupings[0].of), dtype=np.int32), 1
        for one in sorted(groupings, key=lambda one: -one.size):
            place, size = crossed(place, size, one.of, one.size)
        ups = []
        for one in groupings:
            up = np.zeros(size, dtype=np.int64)
            up[place] = one.of
            ups.append(up)
        return cls(place, size, tuple(ups), tuple(noise))

    def sums(self, column: Floats) -> Floats:
        """From what was joined to the joint cells."""
        return np.asarray(np.bincount(self.place, column, self.size), dtype=np.float64)

    @cached_property
    def finest(self) -> int | None:
        """The set that is the joint cells themselves, if one is."""
        whole = [place for place, one in enumerate(self.noise) if len(one) == self.size]
        return whole[0] if whole else None

    @cached_property
    def rest(self) -> tuple[int, ...]:
        return tuple(place for place in range(len(self.ups)) if place != self.finest)

    @cached_property
    def starts(self) -> Integers:
        return np.cumsum([0, *(len(self.noise[place]) for place in self.rest)])

    def fold(self, cells: Floats) -> Floats:
        """From joint cells to the controls besides the finest, stacked."""
        if not self.rest:
            return np.zeros(0)
        parts = [np.bincount(self.ups[place], cells, len(self.noise[place])) for place in self.rest]
        return np.concatenate(parts)

    def unfold(self, controls: Floats) -> Floats:
        """From the controls besides the finest to joint cells: the sum of those a cell is in."""
        found = np.zeros(self.size)
        for start, place in zip(self.starts, self.rest, strict=False):
            found += controls[start : start + len(self.noise[place])][self.ups[place]]
        return found

    def finest_noise(self) -> Floats:
        """The variance of the finest set, by joint cell; infinite where there is no such set."""
        if self.finest is None:
            return np.full(self.size, np.inf)
        return self.noise[self.finest][self.ups[self.finest]]

    def gram(self, cells: Floats) -> Floats:
        """The controls besides the finest against each other, weighed by joint cells."""
        size = int(self.starts[-1])
        gram = np.zeros((size, size))
        for row, one in zip(self.starts, self.rest, strict=False):
            for column, other in zip(self.starts, self.rest, strict=False):
                pairs = self.ups[one] * len(self.noise[other]) + self.ups[other]
                shape = (len(self.noise[one]), len(self.noise[other]))
                block = np.bincount(pairs, cells, shape[0] * shape[1]).reshape(shape)
                gram[row : row + shape[0], column : column + shape[1]] = block
        return gram

    @property
    def fits(self) -> bool:
        """Whether that matrix is small enough to be held."""
        return int(self.starts[-1]) <= DENSE

    def times(self, cells: Floats, columns: Floats) -> Floats:
        """That matrix times some columns; where it is too large to be held, down to the cells and up again."""
        if self.fits:
            return self.gram(cells) @ columns
        return np.stack([self.fold(cells * self.unfold(column)) for column in columns.T], axis=1)


@dataclass(frozen=True, eq=False)
class System:
    """The equations (A W A' + V_c) l = b of joined controls, inverted once, or iterated where they are too many."""

    joined: Joined
    weight: Floats
    """W summed over each joint cell."""

    @cached_property
    def _share(self) -> Floats:
        """D / (D + v): how far a finest total pulls its cell; 0 where it is not measured."""
        noise = self.joined.finest_noise()
        return np.divide(self.weight, self.weight + noise, out=np.zeros_like(self.weight), where=np.isfinite(noise))

    @cached_property
    def solve(self) -> Callable[[Floats], Floats]:
        """The controls besides the finest that meet a right side, or several, one a column."""
        joined, rest, cells = self.joined, self.joined.rest, self.weight * (1 - self._share)
        noise = np.concatenate([joined.noise[place] for place in rest]) if rest else np.zeros(0)
        if joined.fits:
            # One inverse and then a product a question; with a factor every question would cost a triangular solve.
            inverse = np.asarray(np.linalg.inv(joined.gram(cells) + np.diag(noise)), dtype=np.float64)
            return lambda right: inverse @ right
        scale = 1 / np.sqrt(joined.fold(cells) + noise)
        steps = iterated(lambda x: scale * (joined.fold(cells * joined.unfold(scale * x)) + noise * scale * x))
        return lambda right: (scale * steps(scale * right.T)).T

    def pull(self, finest: Floats, rest: Floats) -> tuple[Floats, Floats, Floats]:
        """The solution for a right side: on the finest set by joint cell, on the rest, and both seen from the cells."""
        noise = self.joined.finest_noise()
        other = self.solve(rest - self.joined.fold(self._share * finest))
        seen = self.joined.unfold(other)
        own = np.divide(
            finest - self.weight * seen, self.weight + noise, out=np.zeros_like(seen), where=np.isfinite(noise)
        )
        return own, other, own + seen


@dataclass(frozen=True, eq=False)
class Adjusted:
    """The spread of adjusted rows: the noise they were measured with, the sizes it is taken at, and the controls."""

    base: str
    measured: Squared
    sizes: Sizes = field(repr=False)
    """Fitted and not below 0, in steps."""
    controls: tuple[ControlSet, ...]

    def over(self, cells: Grouping, values: Integers) -> Errors:  # noqa: ARG002 - fitted sizes
        sizes = np.bincount(cells.of, self.sizes, cells.size).astype(np.float64)
        counts = np.bincount(cells.of, minlength=cells.size)
        roots = cells.largest(np.sqrt(self.sizes)).astype(np.float64)
        weight = self.measured.trend.base * counts + self.measured.trend.each * sizes
        groupings = [cells.groups.grouped(one.by) for one in self.controls]
        pairs = list(zip(self.controls, groupings, strict=True))
        expected = [one.expected(grouping, sizes, roots) for one, grouping in pairs]
        drawn = [fit if one.variances is None else one.variances for (one, _), fit in zip(pairs, expected, strict=True)]
        joined = Joined.of(groupings, expected)
        return _Answers(System(joined, joined.sums(weight)), weight, tuple(drawn))

    def to_dict(self) -> dict[str, Any]:
        listed = [one.to_dict() for one in self.controls]
        return {"kind": "adjusted", "base": self.base, "variance": self.measured.variance, "controls": listed}


@dataclass(frozen=True, eq=False)
class _Answers:
    """Covariances of totals over sets of cells, with everything that does not depend on the question at hand."""

    system: System
    weight: Floats
    drawn: tuple[Floats, ...]

    def __call__(self, one: Rows, other: Rows) -> float:
        first = self._sides(one)
        second = first if other is one else self._sides(other)
        joined = self.system.joined
        shared = float(self.weight[one & other].sum())
        shared -= float(second[2] @ joined.sums(self.weight * one) + first[2] @ joined.sums(self.weight * other))
        shared += float((first[2] * second[2]) @ self.system.weight)
        found = shared + float((first[0] * self._finest) @ second[0]) + float((first[1] * self._rest) @ second[1])
        return max(found, 0.0) if other is one else found

    def along(self, nested: Nested) -> Floats:
        return along(nested, self.weight, self._extra)

    @cached_property
    def _extra(self) -> Extra:
        return Extra(self.system, self._finest, self._rest)

    @cached_property
    def _finest(self) -> Floats:
        place = self.system.joined.finest
        return np.zeros(1) if place is None else self.drawn[place][self.system.joined.ups[place]]

    @cached_property
    def _rest(self) -> Floats:
        rest = self.system.joined.rest
        return np.concatenate([self.drawn[place] for place in rest]) if rest else np.zeros(0)

    def _sides(self, rows: Rows) -> tuple[Floats, Floats, Floats]:
        joined = self.system.joined
        asked = joined.sums(self.weight * rows)
        return self.system.pull(asked, joined.fold(asked))
