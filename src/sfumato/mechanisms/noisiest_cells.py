"""Noisiest cells: the largest variance of a cell of each table of a family, without going through its cells.

Of the variance of a component that tells an attribute apart at level l, a cell of a table at level w has a share: of
its own level u (1 − 1/m), and 1/m² of that for each level below down to w, where m are the siblings, on each level, of
the part that the cell lies in. The variance of a cell is Σ σ² ∏ shares over the components: a sum of products, with a
factor for each attribute. So are what rounding laws adds, 1/12 of every coordinate, and what rounding tables adds, 1/12
for each combination of ends but that of the end of all. Cells whose parts have the same siblings and ends are of one
kind.

Such a sum is linear in the factors of each attribute. In an even design u (1 − 1/m) = 1 − 1/m², so all factors are
linear in 1/m² of each level: kinds that differ in the siblings of one level lie on a line, and the noisiest cell is of
a kind at one of its ends. All combinations of such kinds are tried. Where they are too many, each term of the first
attributes is taken at its largest, which is more than any cell has, and is said to be a bound.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from math import prod

import numpy as np

from sfumato.release.noisy import Floats
from sfumato.schema import Component, Family
from sfumato.schema.trees import Tree

MOST_TERMS = 2**18
"""How many numbers are worked out for one table, at the most: the terms of every combination of kinds."""
SLACK = Fraction(1, 2**40)
"""What is added, as a part, to a cost or a bound that was found in floating point."""
Path = tuple[int, ...]
"""How many siblings, itself among them, a part has on each level from the first to its own."""


def below(table: Component) -> Iterator[Component]:
    """The components of a table: every choice of a level down to its own."""
    return product(*(range(level + 1) for level in table))


def wide(siblings: int, *, even: bool) -> int:
    """U m² of a coordinate with so many siblings, itself among them: what its variance is multiplied by."""
    return siblings * (siblings + 1) if even else siblings**2


@dataclass(frozen=True)
class PartKind:
    """Parts of one level with the same siblings: what they have of each level's variance, and of roundings."""

    shares: tuple[Fraction, ...]
    """Of the variance of a component, by the level at which it tells the attribute apart."""
    drawn: float
    """Of what rounding laws to integers adds to each coordinate."""
    ends: int
    """How many ends are rounded: one of the part that stands first, two of others."""
    last: int
    """Whether the end of all is among them, which is not rounded where it is that of every attribute."""


def part_kinds(tree: Tree, level: int, *, even: bool) -> tuple[PartKind, ...]:
    """The kinds of parts of a level of which cells may be the noisiest."""
    parts = _placed(tree, level)
    found = _extreme(parts) if even else parts
    # The contrast of an only child is 0, and what is drawn for it stands in no table.
    told = (rung.siblings[rung.siblings > 1] for rung in tree.rungs[1 : level + 1])
    least = [1, *(wide(int(siblings.min()) if siblings.size else 1, even=even) for siblings in told)]
    kinds = []
    for path, (ends, last) in sorted(found.items()):
        shares = tuple(_share(path, low, even=even) for low in range(level + 1))
        drawn = sum(one / width for one, width in zip(shares, least, strict=True))
        kinds.append(PartKind(shares, float(drawn), ends, last))
    return tuple(kinds)


def _placed(tree: Tree, level: int) -> dict[Path, tuple[int, int]]:
    """The paths of the parts of a level, each with the ends by which rounding adds most.

    With E and L for the ends, and the end of all, of the other attributes, where L ≤ E: 2 E of a part that stands
    neither first nor last, 2 E − L of the last, and E of the first.
    """
    rung, found = tree.rungs[level], dict[Path, tuple[int, int]]()
    leaves = rung.parts.one[rung.run]
    counts = np.array([above.siblings[above.parts.of[leaves]] for above in tree.rungs[1 : level + 1]], dtype=np.intp)
    for place, path in enumerate(map(tuple, counts.reshape(level, len(leaves)).T.tolist())):
        ends = 1 if place == 0 else 2, int(place == len(leaves) - 1)
        found[path] = max(found.get(path, ends), ends, key=lambda one: (one[0], -one[1]))
    return found


def _extreme(parts: Mapping[Path, tuple[int, int]]) -> dict[Path, tuple[int, int]]:
    """The paths that lie between no others: the outer ones of those that differ on one level and have the same ends."""
    kept = set(parts.items())
    for level in range(len(next(iter(parts)))):
        lines: dict[object, list[tuple[Path, tuple[int, int]]]] = {}
        for path, ends in kept:
            lines.setdefault((path[:level], path[level + 1 :], ends), []).append((path, ends))
        kept = {pick(line) for line in lines.values() for pick in (min, max)}
    return dict(kept)


def _share(path: Path, low: int, *, even: bool) -> Fraction:
    spread = Fraction(1, prod(path[low:]) ** 2)
    return spread * wide(path[low - 1], even=even) * (path[low - 1] - 1) / path[low - 1] ** 3 if low else spread


@dataclass(frozen=True, eq=False)
class CellKinds:
    """The kinds of cells of the tables of a family."""

    family: Family
    even: bool

    @cached_property
    def _axes(self) -> list[list[tuple[PartKind, ...]]]:
        trees = self.family.trees
        return [[part_kinds(tree, level, even=self.even) for level in range(tree.depth + 1)] for tree in trees]

    def told(self, table: Component) -> list[tuple[PartKind, ...]]:
        """For each attribute that a table tells apart the kinds of its parts."""
        return [axis[level] for axis, level in zip(self._axes, table, strict=True) if level]

    def shares(self, table: Component) -> Floats:
        """What cells have of each component of a table, a row for each kind of them; a bound where these are many."""
        axes = [_matrix(kinds) for kinds in self.told(table)]
        if prod(one.size for one in axes) > MOST_TERMS:
            axes = [one.max(axis=0, keepdims=True) for one in axes]
        found: Floats = np.ones((1, 1))
        for one in axes:
            found = np.asarray(np.kron(found, one), dtype=np.float64)
        return found

    def noisiest(self, variances: Mapping[Component, Fraction]) -> dict[Component, Fraction]:
        """The variance of the noisiest cell of every table, by those of its components."""
        noise = CellNoise(self, {one: float(variance) for one, variance in variances.items()})
        return {table: self._noisiest(table, variances, noise) for table in self.family.components}

    def _noisiest(self, table: Component, variances: Mapping[Component, Fraction], noise: "CellNoise") -> Fraction:
        told = self.told(table)
        found = noise.largest(table) if any(len(kinds) > 1 for kinds in told) else NoisiestCell(0.0, (0,) * len(told))
        if found.kinds is None:
            return Fraction(found.variance) * (1 + SLACK)
        chosen = (kinds[at].shares for kinds, at in zip(told, found.kinds, strict=True))
        parts = (prod(some, start=Fraction(1)) for some in product(*chosen))
        return sum((variances[low] * part for low, part in zip(below(table), parts, strict=True)), Fraction(0))


@lru_cache(maxsize=64)
def cell_kinds(family: Family, even: bool) -> CellKinds:
    """The kinds of cells of a family, found once."""
    return CellKinds(family, even)


@dataclass(frozen=True)
class NoisiestCell:
    """The largest of a sum over kinds of cells, and of which kinds; a bound where it is of none in particular."""

    variance: float
    kinds: tuple[int, ...] | None


@dataclass(frozen=True, eq=False)
class CellNoise:
    """What noise cells have: the variance of each component, and that of each rounding of a law and of a table."""

    cells: CellKinds
    variances: Mapping[Component, float]
    drawn: float = 0.0
    rounding: float = 0.0

    def largest(self, table: Component) -> NoisiestCell:
        """The variance of the noisiest cell of a table."""
        told = self.cells.told(table)
        if self._one is not None and all(len(kinds) == 1 for kinds in told):
            return NoisiestCell(self._one + self._rounded([kinds[0] for kinds in told]), (0,) * len(told))
        rounded = [self.drawn, self.rounding, -self.rounding]
        others = [np.array([(one.drawn, one.ends, one.last) for one in kinds], dtype=np.float64) for kinds in told]
        if self._one is not None:
            weights, shares = np.array([self._one]), [np.ones((len(kinds), 1)) for kinds in told]
        else:
            weights = np.array([self.variances[low] for low in below(table)])
            levels = np.indices([len(kinds[0].shares) for kinds in told]).reshape(len(told), len(weights))
            shares = [_matrix(kinds)[:, at] for kinds, at in zip(told, levels, strict=True)]
        factors = [np.hstack(both) for both in zip(shares, others, strict=True)]
        return _largest(np.concatenate([weights, rounded]), factors)

    def _rounded(self, kinds: Sequence[PartKind]) -> float:
        """What roundings add to a cell of these parts."""
        drawn, ends, last = (prod(getattr(one, name) for one in kinds) for name in ("drawn", "ends", "last"))
        return float(self.drawn * drawn + self.rounding * (ends - last))

    @cached_property
    def _one(self) -> float | None:
        """The variance of all components where it is one, in an even design, of which each cell has the whole."""
        found = set(self.variances.values())
        return found.pop() if self.cells.even and len(found) == 1 else None


def _matrix(kinds: Sequence[PartKind]) -> Floats:
    """The shares of some kinds, a row each."""
    return np.array([one.shares for one in kinds], dtype=np.float64)


def _largest(weights: Floats, factors: Sequence[Floats]) -> NoisiestCell:
    """The largest sum of weights times products, of a row of each factor, over all choices of rows."""
    terms, exact = weights[None, :], True
    for rows in factors:
        if len(terms) * rows.size > MOST_TERMS:
            terms, exact = terms.max(axis=0, keepdims=True), False
        terms = (terms[:, None, :] * rows[None, :, :]).reshape(-1, len(weights))
    sums = terms.sum(axis=1)
    place = np.unravel_index(int(sums.argmax()), [len(rows) for rows in factors]) if exact else None
    return NoisiestCell(float(sums.max()), None if place is None else tuple(map(int, place)))
