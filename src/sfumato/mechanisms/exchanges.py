"""Exchanges: how far a unit goes whose rows leave one cell for another, over all components, at the worst of cells.

Rows that add v steps in the cell c on one side and w in the cell d on the other move the contrasts by v φ(c) − w φ(d).
Scaled by the noise, the square of that is Σ (v² ∏ a + w² ∏ b − 2vw ∏ k) / σ² over the components, each product over the
attributes that a component tells apart: a and b are what a record costs by its level, (1 − 1/m) / u, where the part of
c, or of d, has m siblings; k is the same where both are in one part, −1 / (m u) where they part, and 0 below that.

With the other attributes held, this is linear in what one gives: Σ (v² α a + w² β b − 2vw κ k) over its levels, with
α, β and κ sums of products of the others, and X − 2Y ≥ 0 for X = v²α + w²β and Y = vwκ, the square of how far these go
by themselves. On a shared level it is (X − 2Y)(1 − 1/m) / u; where they part, X − (X − 2Y) / m or, in an even design,
(X (m − 1) + 2Y) / (m + 1), which rises by 2 (X − Y) / (m + 1)² ≥ 0; below, v²α a and w²β b apart. None falls where m
rises, so the pairs of leaves with most siblings are enough (`parted_leaves`). All combinations of them are tried, those
of attributes that can be put for each other once; where they are too many, every product is taken at its least, which
is more than any pair costs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod

import numpy as np

from sfumato.mechanisms.margin_design import MarginDesign, total
from sfumato.mechanisms.noisiest_cells import SLACK
from sfumato.mechanisms.pair_search import Gifts, PairSearch
from sfumato.mechanisms.parted_leaves import LeafPair, other_leaf, same_leaf
from sfumato.release.noisy import Floats, Integers
from sfumato.schema import Component
from sfumato.schema.trees import Tree

MOST_PAIRS = 2**20
"""How many combinations of pairs of leaves are tried."""
Number = int | Fraction
Levels = tuple[Fraction, ...]
"""What an attribute gives to a product at each level, from the whole on, which gives 1."""


@dataclass(frozen=True, eq=False)
class Given:
    """What an attribute gives, by each pair of leaves that may be furthest apart."""

    pairs: tuple[LeafPair, ...]
    one: tuple[Levels, ...]
    other: tuple[Levels, ...]
    both: tuple[Levels, ...]

    @classmethod
    def of(cls, design: MarginDesign, tree: Tree, free: bool) -> "Given":
        pairs = (*same_leaf(tree), *(other_leaf(tree) if free else ()))
        whole = (Fraction(1),)
        return cls(
            pairs,
            tuple((*whole, *map(design.gain, pair.one)) for pair in pairs),
            tuple((*whole, *map(design.gain, pair.other)) for pair in pairs),
            tuple((*whole, *_in_both(design, pair)) for pair in pairs),
        )

    @property
    def parts(self) -> int:
        """How many of the pairs are of two leaves; they stand last."""
        return sum(pair.leaves[0] != pair.leaves[1] for pair in self.pairs)

    @cached_property
    def numbers(self) -> Gifts:
        """A row for each pair, a column for each level."""
        one, other, both = (np.array(part, dtype=np.float64) for part in (self.one, self.other, self.both))
        return one, other, both


def _in_both(design: MarginDesign, pair: LeafPair) -> Iterator[Fraction]:
    yield from map(design.gain, pair.one[: pair.shared])
    if pair.shared < len(pair.one):
        yield design.loss(pair.one[pair.shared])
        yield from (Fraction(0),) * (len(pair.one) - pair.shared - 1)


@dataclass(frozen=True, eq=False)
class Partings:
    """The exchanges of records that share what is kept, of which one is the dearest whatever the variances."""

    design: MarginDesign
    kept: frozenset[str]

    @cached_property
    def given(self) -> tuple[Given, ...]:
        family = self.design.family
        named = zip(family.names, family.trees, strict=True)
        return tuple(Given.of(self.design, tree, name not in self.kept) for name, tree in named)

    @cached_property
    def levels(self) -> Integers:
        """The components, a row each, by the level of each attribute."""
        listed = self.design.family.components
        return np.array(listed, dtype=np.intp).reshape(len(listed), len(self.given))

    def gives_as(self, one: int, other: int) -> bool:
        """Whether two attributes give the same."""
        first, second = self.given[one], self.given[other]
        return (first.one, first.other, first.both) == (second.one, second.other, second.both)

    def moves(self, component: Component) -> bool:
        """Whether an exchange shows in a component: not where it tells apart what all records keep, or nothing."""
        return any(level and one.parts for level, one in zip(component, self.given, strict=True))

    def dearest(self, left: Number, come: Number, variances: Sequence[Fraction] | Floats) -> "Exchange":
        """The exchange that costs most at some variances."""
        search = PairSearch.of(
            [one.numbers for one in self.given], self.levels, 1 / np.array(variances, dtype=np.float64)
        )
        pairs = None if search.combinations > MOST_PAIRS else tuple(search.best(float(left), float(come)))
        return Exchange(self, left, come, pairs)

    def singly(self, left: Number, come: Number) -> Iterator["Exchange"]:
        """Exchanges of records that part in one attribute alone."""
        for axis, given in enumerate(self.given):
            for place in range(len(given.pairs) - given.parts, len(given.pairs)):
                yield Exchange(self, left, come, (*(0,) * axis, place, *(0,) * (len(self.given) - axis - 1)))


@dataclass(frozen=True, eq=False)
class Exchange:
    """Rows that leave a cell, `left` steps in all, and those that come to another, `come` steps, by their leaves.

    Without pairs of leaves it is of no two records in particular: none are further apart.
    """

    of: Partings
    left: Number
    come: Number
    pairs: tuple[int, ...] | None

    @property
    def records(self) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """The leaves that are left and those that are come to; none where no two records need cost as much."""
        if self.pairs is None:
            return None
        leaves = [given.pairs[at].leaves for given, at in zip(self.of.given, self.pairs, strict=True)]
        return tuple(one for one, _ in leaves), tuple(other for _, other in leaves)

    def cost(self, variances: Sequence[Fraction]) -> Fraction:
        """The square of mu that it costs."""
        return total([share / one for share, one in zip(self._shares(), variances, strict=True)])

    def _shares(self) -> Iterator[Fraction]:
        """What it costs by each component of variance 1."""
        one, other, both = zip(*map(self._given, range(len(self.of.given))), strict=True)
        for component in self.of.design.family.components:
            a, b = _product(component, one), _product(component, other)
            k = _product(component, both) if self.pairs is not None else _least_product(component, self.of.given)
            yield self.left**2 * a + self.come**2 * b - 2 * self.left * self.come * k

    def _given(self, axis: int) -> tuple[Levels, Levels, Levels]:
        given = self.of.given[axis]
        if self.pairs is not None:
            return given.one[self.pairs[axis]], given.other[self.pairs[axis]], given.both[self.pairs[axis]]
        most = tuple(map(max, zip(*given.one, strict=True)))
        return most, most, most

    @property
    def numbers(self) -> Floats:
        """The same in floating point."""
        if self.pairs is None:
            return np.array([float(one) for one in self._shares()])
        found = np.ones((3, len(self.of.levels)))
        for levels, given, at in zip(self.of.levels.T, self.of.given, self.pairs, strict=True):
            found *= [part[at, levels] for part in given.numbers]
        left, come = float(self.left), float(self.come)
        return np.asarray(np.array([left**2, come**2, -2 * left * come]) @ found)


def _product(component: Component, given: Sequence[Levels]) -> Fraction:
    return prod((one[level] for one, level in zip(given, component, strict=True) if level), start=Fraction(1))


def _least_product(component: Component, given: Sequence[Given]) -> Fraction:
    """The least that two records can have in a component, where each attribute gives its most or its least."""
    least = most = Fraction(1)
    for one, level in zip(given, component, strict=True):
        if level:
            ends = [pick(both[level] for both in one.both) for pick in (min, max)]
            corners = [first * second for first in (least, most) for second in ends]
            least, most = min(corners), max(corners)
    return least


def exchange_cost(design: MarginDesign, kept: frozenset[str], left: Number = 1, come: Number = 1) -> Fraction:
    """The square of mu that it costs to put rows that add `come` steps for others of `left` that share what is kept.

    It is that of two records, found in floating point among others, whose errors are much less than what is added.
    """
    found = Partings(design, kept).dearest(left, come, design.variances).cost(design.variances)
    return found + SLACK * (left**2 + come**2) * design.cost
