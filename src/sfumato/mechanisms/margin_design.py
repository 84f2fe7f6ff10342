"""MarginDesign: how much noise every component of a family of tables gets, and what that costs.

A component is a choice of one level for each attribute. Of the table at these levels its contrasts are measured: along
each attribute that is told apart, m times a child less the sum over the m children of its parent, which are integers.
Every coordinate, the redundant ones too, has noise of its own of variance σ² ∏ u m², where u is 1 + 1/m in an even
design and else 1. Along one attribute a record moves the contrasts by m e − 1, whose squared length is m² (1 − 1/m), so
a record costs, over all components, the sum of σ⁻² ∏ (1 − 1/m) / u on the path of its leaves: the square of mu.

In an even design σ² is V in all components, and every cell of every table has the variance V: one level adds
(1 − 1/m)(1 + 1/m) V to the V / m² that it has of the level above. Where cells of w ways are to have V ωʷ, as in a
design that fades by ω, σ² is V ∏ s with s = (ω − 1/n²) / (1 − 1/n).
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod

import numpy as np

from sfumato.mechanisms.noisiest_cells import CellKinds, cell_kinds, wide
from sfumato.release.noisy import Floats
from sfumato.schema import Component, Family
from sfumato.schema.trees import Tree

MOST_PATHS = 256
"""How many combinations of paths are tried one by one."""
Gains = tuple[Fraction, ...]
"""What each level of a path adds to a cost."""


@dataclass(frozen=True, eq=False)
class MarginDesign:
    """The variance σ² of every component of a family, in the order of its components."""

    family: Family
    variances: tuple[Fraction, ...]
    even: bool = True

    @classmethod
    def flat(cls, family: Family) -> "MarginDesign":
        """The even design with V = 1."""
        return cls(family, (Fraction(1),) * len(family.components))

    @classmethod
    def faded(cls, family: Family, by: Fraction) -> "MarginDesign":
        """The design in which cells of w ways have the variance byʷ; attributes have one level below the whole."""
        sizes = [Fraction(tree.rungs[-1].size) for tree in family.trees]
        spread = [(by - 1 / n**2) / (1 - 1 / n) if n > 1 else Fraction(1) for n in sizes]
        told = ([s for s, level in zip(spread, one, strict=True) if level] for one in family.components)
        return cls(family, tuple(prod(one, start=Fraction(1)) for one in told), even=False)

    def times(self, factor: Fraction) -> "MarginDesign":
        """The design with all variances so many times as large."""
        return replace(self, variances=tuple(one * factor for one in self.variances))

    def wide(self, siblings: int) -> int:
        """U m² of a coordinate with so many siblings, itself among them: what its variance is multiplied by."""
        return wide(siblings, even=self.even)

    def gain(self, siblings: int) -> Fraction:
        """What a level adds to the cost of a record on whose path it has so many siblings: (1 − 1/m) / u."""
        return Fraction(siblings - 1, siblings + 1) if self.even else 1 - Fraction(1, siblings)

    def loss(self, siblings: int) -> Fraction:
        """What a level adds for two records that part there: −1 / (m u)."""
        return Fraction(-1, siblings + 1) if self.even else Fraction(-1, siblings)

    @cached_property
    def cost(self) -> Fraction:
        """The square of mu that one record costs, at the worst of the leaves that it may have."""
        return max(map(self._cost_of, _combined([self._worst_paths(axis) for axis in range(len(self.family.trees))])))

    def record_costs(self) -> Floats:
        """What records cost by each component of variance 1, a row for each that may cost most at some variances."""
        dear = _combined([self._outer_paths(axis) for axis in range(len(self.family.trees))])
        return np.array([[float(self._share(one, paths)) for one in self.family.components] for paths in dear])

    @cached_property
    def dearest(self) -> tuple[int, ...]:
        """A leaf of every attribute such that no record costs more; where paths are many, one of the dearest."""
        chosen = [self._worst_paths(axis) for axis in range(len(self.family.trees))]
        if prod(map(len, chosen)) > MOST_PATHS:
            chosen = [[max(paths, key=sum)] for paths in chosen]
        worst = max(product(*chosen), key=self._cost_of)
        return tuple(self._leaf(tree, gains) for tree, gains in zip(self.family.trees, worst, strict=True))

    def _leaf(self, tree: Tree, gains: Gains) -> int:
        """The first leaf on whose path levels add so much."""
        siblings = zip(*(rung.siblings[rung.parts.of].tolist() for rung in tree.rungs[1:]), strict=True)
        return next((at for at, path in enumerate(siblings) if tuple(map(self.gain, path)) == gains), 0)

    def _cost_of(self, gains: tuple[Gains, ...]) -> Fraction:
        listed = zip(self.family.components, self.variances, strict=True)
        return total([self._share(one, gains) / variance for one, variance in listed])

    @staticmethod
    def _share(component: Component, gains: tuple[Gains, ...]) -> Fraction:
        told = (axis[level - 1] for axis, level in zip(gains, component, strict=True) if level)
        return prod(told, start=Fraction(1))

    def _worst_paths(self, axis: int) -> list[Gains]:
        """The paths of an attribute of which one costs most, whatever the others are."""
        paths = self._outer_paths(axis)
        return [max(paths, key=sum)] if self._alike(axis) else paths

    def _outer_paths(self, axis: int) -> list[Gains]:
        """The paths of an attribute of which one costs most, whatever the others and the variances are."""
        paths = {tuple(self.gain(siblings) for siblings in path) for path in self.family.trees[axis].paths}
        return [one for one in paths if not any(one != other and _above(other, one) for other in paths)]

    def _alike(self, axis: int) -> bool:
        """Whether the levels of an attribute stand in the same components, at the same variances."""
        at: dict[int, dict[Component, Fraction]] = {}
        for one, variance in zip(self.family.components, self.variances, strict=True):
            at.setdefault(one[axis], {})[(*one[:axis], *one[axis + 1 :])] = variance
        told = [others for level, others in at.items() if level]
        return all(one == told[0] for one in told)

    @property
    def cells(self) -> CellKinds:
        """The kinds of cells that its tables have."""
        return cell_kinds(self.family, self.even)

    @cached_property
    def cell_variances(self) -> dict[Component, Fraction]:
        """The variance of the noisiest cell of every table; a little more where cells are of too many kinds."""
        if self.even and len(set(self.variances)) == 1:
            return dict.fromkeys(self.family.components, self.variances[0])
        return self.cells.noisiest(dict(zip(self.family.components, self.variances, strict=True)))


def total(terms: list[Fraction]) -> Fraction:
    """The sum, halves first: denominators that share nothing grow long, and are then long in few additions alone."""
    half = len(terms) // 2
    return total(terms[:half]) + total(terms[half:]) if half else sum(terms, Fraction(0))


def _combined(paths: list[list[Gains]]) -> list[tuple[Gains, ...]]:
    """All combinations of paths; where they are too many, one a little dearer than any, which no leaf need have."""
    if prod(map(len, paths)) > MOST_PATHS:
        paths = [[tuple(max(column) for column in zip(*some, strict=True))] for some in paths]
    return list(product(*paths))


def _above(one: Gains, other: Gains) -> bool:
    return all(first >= second for first, second in zip(one, other, strict=True))
