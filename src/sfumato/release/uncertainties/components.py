"""Components: the error of a family of tables, of which the contrasts of every component have noise of their own.

Cov(f, g) = Σ σ² ∏ ⟨f, g⟩ over the components, with a factor for each attribute: at level 0 the product of the means of
f and g over the tree; at a level below, over the parents j there, u (Σ f g over the children − m f g of the parent),
where what f is at a part is the mean over its children, and u is 1 + 1/m in an even design, else 1. Tables of whole
numbers are rounded at the ends of runs of leaves: each rounding adds 1/12. The whole is not rounded where it was
measured in whole steps, nor are tables that are known exactly.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement, product
from math import prod
from typing import Any, ClassVar

import numpy as np

from sfumato.errors import ReleaseError
from sfumato.release.noisy import Floats, Integers
from sfumato.release.uncertainties.inherited import RoundedAxis, inherited_covariance
from sfumato.release.uncertainties.uncertainty import Errors, StatedIn, Uncertainty, amount
from sfumato.release.written import LARGEST_NUMBER
from sfumato.schema import Box, Component, Domain, Family, Grid
from sfumato.schema.trees import Tree

ROUNDING = 1 / 12
"""The variance of what rounding to whole steps leaves."""
LARGEST = 8_000_000
"""The most numbers of groups that are laid out over leaves at once: 64 MB."""


@dataclass(frozen=True)
class Components(Uncertainty):
    """The variance of every component, in the order of the family's, in squared steps, and that of each rounding."""

    kind: ClassVar[str] = "components"
    of_families: ClassVar[bool] = True
    variances: tuple[float, ...]
    even_design: bool = True
    """Whether u is 1 + 1/m."""
    rounding: float = ROUNDING
    rounded_total: bool = False
    """Whether the total was no whole number of steps before it was rounded."""
    inherited: tuple[float, ...] = ()
    """Of tables that were moved to those of another release, the share of its rounding in every component."""
    inherited_rounding: float = 0.0

    def over(self, domain: Domain, values: Integers) -> Errors:  # noqa: ARG002 - the same at every value
        assert isinstance(domain, Family)  # noqa: S101 - `refuse_unfit` asked
        return ComponentErrors(domain, dict(zip(domain.components, self.variances, strict=True)), self)

    def in_steps(self, unit: float) -> "Components":
        variances = tuple(one * unit**2 for one in self.variances)
        rounded = {name: getattr(self, name) * unit**2 for name in ("rounding", "inherited_rounding")}
        return replace(self, variances=variances, **rounded)

    def to_dict(self) -> dict[str, Any]:
        said = {"kind": self.kind, "variances": list(self.variances), "even": self.even_design}
        total = {"rounded_total": True} if self.rounded_total else {}
        other = {"inherited": list(self.inherited), "inherited_rounding": self.inherited_rounding}
        more = total | (other if self.inherited else {})
        return said | ({"rounding": self.rounding} if self.rounding != ROUNDING else {}) | more

    @classmethod
    def read(cls, written: Mapping[str, Any], source: StatedIn) -> "Components":  # noqa: ARG003 - all is in the manifest
        variances, even, total = written["variances"], written["even"], written.get("rounded_total", False)
        shares = written.get("inherited", [])
        if not all(isinstance(one, list) for one in (variances, shares)) or not all(
            isinstance(one, bool) for one in (even, total)
        ):
            raise ReleaseError("The manifest states the noise of components as none can be; it was edited.")
        rounding, other = (
            amount(written.get(name, usual), LARGEST_NUMBER)
            for name, usual in (("rounding", ROUNDING), ("inherited_rounding", 0.0))
        )
        parts = tuple(amount(one) for one in variances), tuple(amount(one, 1.0) for one in shares)
        return cls(parts[0], even, rounding, total, parts[1], other)

    def refuse_unfit(self, domain: Domain, values: Integers) -> None:
        """It is the error of a family of as many components."""
        counts = {len(self.variances), *([len(self.inherited)] if self.inherited else [])}
        if not isinstance(domain, Family) or counts != {len(domain.components)}:
            raise ReleaseError("The manifest states the noise of other components than its tables have.")
        super().refuse_unfit(domain, values)

    def least(self, family: Family) -> float:
        """The least variance that the first cell of a table has before it is rounded, of all that are not exact."""
        parts = [_shares(tree, self.even_design) for tree in family.trees]
        known, found = dict(zip(family.components, self.variances, strict=True)), [float("inf")]
        for table in (one for one in family.components if known[one]):
            below = product(*(range(level + 1) for level in table))
            shares = ((known[low], zip(parts, low, table, strict=True)) for low in below)
            found.append(sum(variance * prod(axis[low, high] for axis, low, high in one) for variance, one in shares))
        return min(found)


@dataclass(frozen=True, eq=False)
class ComponentErrors(Errors):
    """The joint error of the totals of a family."""

    at_once: ClassVar[bool] = True
    family: Family
    known: Mapping[Component, float]
    stated: Components

    def covariance(self, one: Box, other: Box) -> float:
        return float(self.covariances([one], [other])[0, 0])

    def covariances(self, ones: list[Box], others: list[Box]) -> Floats:
        told = {*(name for box in ones for name in box.masks)} & {*(name for box in others for name in box.masks)}
        sides = {name: (self._masks(ones, name), self._masks(others, name)) for name in self.family.names}
        axes = [
            _Axis(self._tree(name), first[:, None, :], second[None, :, :], name in told, self.stated.even_design)
            for name, (first, second) in sides.items()
        ]
        return self._summed(axes, (len(ones), len(others)))

    def with_whole(self, grid: Grid, kept: tuple[str, ...]) -> Floats:
        if (slices := grid.slices(LARGEST)) is not None:
            axis, parts = slices
            return np.concatenate([self.with_whole(part, kept) for part in parts], axis=axis)
        axes, place, asked = [], 0, [name for name, _ in grid.axes]
        groups = {name: one.dense for name, one in grid.axes}
        for attribute in self.family.attributes:
            name, inside = attribute.name, grid.within.mask(attribute).astype(np.float64)
            first = groups[name] * inside if name in groups else inside[None, :]
            second = first if name in kept else np.broadcast_to(inside, first.shape)
            place = asked.index(name) if name in groups else 0
            shape = [-1 if at == place and name in groups else 1 for at in range(len(asked))]
            told = name in groups or name in grid.within.masks
            axes.append(
                _Axis(
                    self._tree(name),
                    first.reshape(*shape, first.shape[-1]),
                    second.reshape(*shape, first.shape[-1]),
                    told,
                    self.stated.even_design,
                )
            )
        return self._summed(axes, grid.shape)

    def _tree(self, name: str) -> Tree:
        return self.family.trees[self.family.names.index(name)]

    def _masks(self, boxes: list[Box], name: str) -> Floats:
        attribute = self.family.attribute(name)
        return np.stack([box.mask(attribute) for box in boxes]).astype(np.float64)

    def _summed(self, axes: list["_Axis"], shape: tuple[int, ...]) -> Floats:
        found = np.zeros(shape)
        for one in product(*(range(axis.levels) for axis in axes)):
            if one in self.known:
                found = found + self.known[one] * prod(
                    axis.factors[level] for axis, level in zip(axes, one, strict=True)
                )
        points = np.asarray(prod(axis.points for axis in axes))
        for one in self._unrounded:
            if all(level < axis.levels for axis, level in zip(axes, one, strict=True)):
                points = points - prod(axis.new_points[level] for axis, level in zip(axes, one, strict=True))
        found = found + self.stated.rounding * points
        if self._shares:
            other = [RoundedAxis(axis.tree, axis.one, axis.other, finest) for axis, finest in zip(axes, self._finest, strict=True)]  # fmt: skip  # noqa: E501
            found = found + self.stated.inherited_rounding * inherited_covariance(other, self._shares)
        return np.asarray(found, dtype=np.float64)

    @cached_property
    def _shares(self) -> dict[Component, float]:
        """What components have of the rounding of another release, of those that have some."""
        listed = zip(self.family.components, self.stated.inherited, strict=False)
        return {one: share for one, share in listed if share}

    @cached_property
    def _finest(self) -> list[int]:
        """The finest level of each attribute that the tables of the other release told apart."""
        return [max(column) for column in zip(*self._shares, strict=True)]

    @cached_property
    def _unrounded(self) -> list[Component]:
        """The tables that are whole numbers of steps as they are: what is known exactly, and a total in whole steps."""
        exact = {one for one, variance in self.known.items() if not variance}
        whole = [self.family.components[0]] if not self.stated.rounded_total else []
        known = (one for one in exact if all(low in exact for low in product(*(range(level + 1) for level in one))))
        return list(dict.fromkeys([*whole, *known]))


@dataclass(frozen=True, eq=False)
class _Axis:
    """Two sets of masks over the leaves of one attribute, the leaves last, laid out to be broadcast."""

    tree: Tree
    one: Floats
    other: Floats
    told: bool
    even: bool

    @property
    def levels(self) -> int:
        """How many levels have a factor: where one of both is the whole, only that has."""
        return self.tree.depth + 1 if self.told else 1

    @cached_property
    def factors(self) -> list[Floats]:
        """The factor of every level."""
        sides = [self._averaged(one) for one in (self.one, self.other)]
        found = [sides[0][0][..., 0] * sides[1][0][..., 0]]
        for level, rung in enumerate(self.tree.rungs[1 : self.levels], 1):
            children = rung.summed(sides[0][level] * sides[1][level], -1 % self.one.ndim)
            parents = sides[0][level - 1] * sides[1][level - 1] * rung.children
            wide = 1 + 1 / rung.children if self.even else np.ones(len(rung.children))
            found.append(((children - parents) * wide).sum(axis=-1))
        return found

    def _averaged(self, masks: Floats) -> list[Floats]:
        flat = self.tree.averaged(np.ascontiguousarray(masks).reshape(-1, masks.shape[-1]))
        return [part.reshape(*masks.shape[:-1], -1) for part in flat]

    @property
    def _ordered(self) -> tuple[Floats, Floats]:
        order = self.tree.rungs[0].order
        return self.one[..., order], self.other[..., order]

    @cached_property
    def last(self) -> Floats:
        """Whether both hold the last leaf in the order of runs."""
        one, other = self._ordered
        return np.asarray(one[..., -1] * other[..., -1])

    @cached_property
    def points(self) -> Floats:
        """How many roundings both have: at every leaf after which they both begin or end, and at the last."""
        return np.asarray(self._both.sum(axis=-1) + self.last)

    @cached_property
    def _both(self) -> Floats:
        """After each leaf but the last, whether both begin or end there."""
        one, other = self._ordered
        return np.asarray(np.diff(one, axis=-1) * np.diff(other, axis=-1))

    @cached_property
    def new_points(self) -> list[Floats]:
        """The same by the level at which an end is new, the whole first."""
        ends = self.tree.new_ends[1 : self.levels]
        return [self.last, *(np.asarray(self._both[..., new - 1].sum(axis=-1)) for new in ends)]


def _shares(tree: Tree, even: bool) -> dict[tuple[int, int], float]:
    """For each level and each finer one what the first cell there has of the variance of a component of the former."""
    path = [int(rung.siblings[rung.parts.of[0]]) for rung in tree.rungs[1:]]
    own = [1.0, *((1 + 1 / m if even else 1.0) * (1 - 1 / m) for m in path)]
    pairs = combinations_with_replacement(range(tree.depth + 1), 2)
    return {(low, high): own[low] / prod(path[low:high]) ** 2 for low, high in pairs}


EXAMPLE = Components((2.5, 1.5, 1.5, 1.5))
