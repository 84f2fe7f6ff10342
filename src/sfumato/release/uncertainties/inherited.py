"""Inherited: the rounding of the tables of another release in tables that were moved to them.

Its tables were rounded at the ends of runs of leaves, once for all of them, and what each component has of them has a
part of every rounding. Where component A was moved by a share a to what those tables say of it, a box f has Σ a ρ(P f)
of their roundings ρ: P f is what f is at the levels of A less what it is one level above, on the parts of the finest
levels that they tell apart. Roundings at two ends share nothing, so the covariance of two boxes is Σ a b ∏ R(P f, Q g)
over pairs of components, with R the sum over ends of the products of what both step there, and at the last.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from sfumato.release.noisy import Floats
from sfumato.schema.trees import Tree


@dataclass(frozen=True, eq=False)
class RoundedAxis:
    """What two sets of masks over the leaves of one attribute are on the parts of a level, the leaves last."""

    tree: Tree
    one: Floats
    other: Floats
    finest: int
    """The level of the parts that were rounded."""

    def pair(self, low: int, other: int) -> Floats:
        """R of what one is at a level and the other at another, each less what it is above."""
        first, second = self._ones[low], self._others[other]
        steps = (np.diff(first, axis=-1) * np.diff(second, axis=-1)).sum(axis=-1)
        return np.asarray(steps + first[..., -1] * second[..., -1])

    @cached_property
    def _ones(self) -> list[Floats]:
        return list(self._differences(self.one))

    @cached_property
    def _others(self) -> list[Floats]:
        return list(self._differences(self.other))

    def last(self, level: int, *, other: bool) -> Floats:
        """What a mask is at the last part."""
        return np.asarray((self._others if other else self._ones)[level][..., -1])

    def _differences(self, masks: Floats) -> Iterator[Floats]:
        """For each level what masks are there less what they are above, on the parts of the finest, in their order."""
        flat = np.ascontiguousarray(masks).reshape(-1, masks.shape[-1])
        parts = self.tree.rungs[self.finest].parts.one[self.tree.rungs[self.finest].run]  # a leaf of each part
        above = np.zeros((len(flat), len(parts)))
        for level, averaged in enumerate(self.tree.averaged(flat)[: self.finest + 1]):
            here = averaged[:, self.tree.parts[level].of[parts]]
            yield (here - above).reshape(*masks.shape[:-1], -1)
            above = here


def inherited_covariance(axes: list[RoundedAxis], shares: Mapping[tuple[int, ...], float]) -> Floats:
    """What two sets of boxes share of roundings of variance 1, of which components have shares; the total has none."""
    found = np.zeros(())
    for one, share in shares.items():
        for other, its in shares.items():
            pairs = zip(axes, one, other, strict=True)
            found = found + share * its * prod(axis.pair(low, high) for axis, low, high in pairs)
    first, second = (_last(axes, shares, other=side) for side in (False, True))
    return np.asarray(found - first * second, dtype=np.float64)


def _last(axes: list[RoundedAxis], shares: Mapping[tuple[int, ...], float], *, other: bool) -> Floats:
    """What boxes have of the rounding at the last end of all attributes, which is that of the total."""
    told = (
        share * prod(axis.last(level, other=other) for axis, level in zip(axes, one, strict=True))
        for one, share in shares.items()
    )
    return np.asarray(sum(told, np.zeros(())), dtype=np.float64)
