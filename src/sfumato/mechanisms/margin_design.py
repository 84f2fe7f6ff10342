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

from sfumato.mechanisms.noisiest_cells import SLACK, CellKinds, cell_kinds, wide
from sfumato.release.noisy import Floats
from sfumato.schema import Component, Family
from sfumato.schema.trees import Tree

MOST_PATHS, MOST_SUBSETS = 256, 20
"""How many combinations of paths are tried one by one, and of how many attributes all subsets are."""
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
        return _total([self._share(one, gains) / variance for one, variance in listed])

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

    def exchange_cost(self, kept: frozenset[str]) -> Fraction | None:
        """The square of mu that it costs to put one record for another that shares what is kept; None if not known.

        With K for the scalar product of what two records move, it is 2 K(c, c) − 2 K(c, d) at most. Where the family
        has all tables of up to so many attributes, K is a polynomial that is linear in what each attribute gives, so it
        is least where each gives its most, as of two records that share it, or its least.
        """
        trees, names = self.family.trees, self.family.names
        free = [tree.depth > 0 and name not in kept for name, tree in zip(names, trees, strict=True)]
        weights = self._attribute_weights()
        if self.family.spec.also or weights is None or not all(map(self._alike, range(len(trees)))):
            return self._exchanged(free)
        if sum(free) > MOST_SUBSETS:
            return None
        shared = [sum(self._worst_paths(axis)[0], Fraction(0)) / weight for axis, weight in enumerate(weights)]
        parted = [self._parting(tree) / weight for tree, weight in zip(trees, weights, strict=True)]
        least = _least_symmetric(shared, parted, free, self.family.spec.up_to)
        return 2 * (self.cost - Fraction(least) / self.variances[0] + SLACK * self.cost)

    def _exchanged(self, free: list[bool]) -> Fraction | None:
        """The same for any family and variances, by all that attributes may give; None where that is too much."""
        trees = self.family.trees
        rows = [self._given(tree, may_part) for tree, may_part in zip(trees, free, strict=True)]
        if max(prod(tree.depth + 1 for tree in trees), prod(map(len, rows))) > 2**MOST_SUBSETS:
            return None
        products = np.zeros([tree.depth + 1 for tree in trees])
        for one, variance in zip(self.family.components, self.variances, strict=True):
            products[one] = 1 / float(variance)
        for given in rows:  # the axis that stands first goes last
            products = np.tensordot(products, given, axes=([0], [1]))
        return 2 * (self.cost - Fraction(float(products.min())) + SLACK * self.cost)

    def _given(self, tree: Tree, may_part: bool) -> Floats:
        """What each level of an attribute gives to the product of two records that share a leaf or part somewhere."""
        shared = {(1.0, *(float(self.gain(siblings)) for siblings in path)) for path in tree.paths}
        parted = {
            (1.0, *(float(self.gain(one)) for one in path[:level]), float(self.loss(path[level])), *(0.0,) * rest)
            for path in tree.paths
            for level, rest in zip(range(len(path)), reversed(range(len(path))), strict=True)
            if path[level] > 1
        }
        return np.array(sorted(shared | parted if may_part else shared))

    def _attribute_weights(self) -> list[Fraction] | None:
        """What each attribute multiplies the variances of components by; none where it is not so."""
        by_name = dict(zip(self.family.components, self.variances, strict=True))
        whole = self.family.components[0]
        single = [
            (*whole[:axis], 1, *whole[axis + 1 :]) if tree.depth else whole
            for axis, tree in enumerate(self.family.trees)
        ]
        found = [by_name[one] / by_name[whole] for one in single]
        for one, variance in by_name.items():
            if prod((w for w, level in zip(found, one, strict=True) if level), start=by_name[whole]) != variance:
                return None
        return found

    def _parting(self, tree: Tree) -> Fraction:
        """The least that an attribute gives to the product of two records that do not share a leaf."""
        options = [
            sum((self.gain(siblings) for siblings in path[:level]), Fraction(0)) + self.loss(path[level])
            for path in tree.paths
            for level in range(len(path))
            if path[level] > 1
        ]
        return min(options, default=Fraction(0))


def _total(terms: list[Fraction]) -> Fraction:
    """The sum, halves first: denominators that share nothing grow long, and are then long in few additions alone."""
    half = len(terms) // 2
    return _total(terms[:half]) + _total(terms[half:]) if half else sum(terms, Fraction(0))


def _combined(paths: list[list[Gains]]) -> list[tuple[Gains, ...]]:
    """All combinations of paths; where they are too many, one a little dearer than any, which no leaf need have."""
    if prod(map(len, paths)) > MOST_PATHS:
        paths = [[tuple(max(column) for column in zip(*some, strict=True))] for some in paths]
    return list(product(*paths))


def _above(one: Gains, other: Gains) -> bool:
    return all(first >= second for first, second in zip(one, other, strict=True))


def _least_symmetric(shared: list[Fraction], parted: list[Fraction], free: list[bool], up_to: int) -> float:
    """The least of the sums of all products of up to so many numbers, one an attribute, each of one of two choices."""
    sums = np.zeros((up_to + 1, 1))
    sums[0] = 1.0
    for both, apart, may_part in zip(shared, parted, free, strict=True):
        choices = [float(both), float(apart)] if may_part else [float(both)]
        grown = [np.vstack([sums[:1], sums[1:] + one * sums[:-1]]) for one in choices]
        sums = np.hstack(grown)
    return float(sums.sum(axis=0).min())
